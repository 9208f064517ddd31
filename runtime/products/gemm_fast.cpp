// Products for --fast: oneDNN's sgemm and matmul, on operands as they are or packed into matrices;
// what it does not offer (doubles), has no fast instructions for (bf16), or adds up in chains that
// lose small terms (many inner indices), is done canonically.

#include <algorithm>
#include <dlfcn.h>
#include <dnnl.hpp>
#include <memory_resource>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/products/gemm.h"
#include "runtime/products/gemm_plan.h"
#include "runtime/products/pack/gemm_pack.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostInner = 16 * kLongestChain;

// A row-major matrix, perhaps to be read transposed.
template <typename T>
struct Matrix {
  const T* at = nullptr;
  char transposed = 'N';
  std::int64_t stride = 1;
};

// oneDNN demands strides of at least the length of a row.
bool is_stride(const Offsets& side, std::int64_t length) {
  return side.even && (side.size < 2 || side.step >= std::max<std::int64_t>(1, length));
}

bool is_adjacent(const Offsets& side) {
  return side.size < 2 || (side.even && side.step == 1);
}

std::int64_t stride_of(const Offsets& side, std::int64_t length) {
  return side.size < 2 ? std::max<std::int64_t>(1, length) : side.step;
}

void copy_matrix(const float* x, const Offsets& rows, const Offsets& cols, float* to) {
  pack(x, cols, rows,
       {.first_lane = 0,
        .lanes = cols.size,
        .first_inner = 0,
        .inner = rows.size,
        .width = cols.size},
       to);
}

void copy_matrix(const BFloat16* x, const Offsets& rows, const Offsets& cols, BFloat16* to) {
  for (std::int64_t i = 0; i < rows.size; ++i) {
    for (std::int64_t j = 0; j < cols.size; ++j) {
      *to++ = x[rows.at(i) + cols.at(j)];
    }
  }
}

// rows x cols, copied into `packed` if it is no matrix in memory.
template <typename T>
Matrix<T> matrix_of(const T* x, const Offsets& rows, const Offsets& cols, std::vector<T>& packed) {
  if (is_adjacent(cols) && is_stride(rows, cols.size)) {
    return {.at = x, .transposed = 'N', .stride = stride_of(rows, cols.size)};
  }
  if (is_adjacent(rows) && is_stride(cols, rows.size)) {
    return {.at = x, .transposed = 'T', .stride = stride_of(cols, rows.size)};
  }
  packed.resize(static_cast<std::size_t>(rows.size * cols.size));
  copy_matrix(x, rows, cols, packed.data());
  return {.at = packed.data(), .transposed = 'N', .stride = cols.size};
}

// oneDNN takes its threads from OpenMP, which is only there because oneDNN links it.
void use_threads(int threads) {
  using SetThreads = void (*)(int);
  static const auto set_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_threads != nullptr) {
    set_threads(threads);
  }
}

void multiply(const GemmPlan& plan, const Matrix<float>& a, const Matrix<float>& b, float* out,
              std::int64_t stride, bool adds) {
  if (dnnl_sgemm(a.transposed, b.transposed, plan.rows(), plan.cols(), plan.inner(), 1, a.at,
                 a.stride, b.at, b.stride, adds ? 1.0F : 0.0F, out, stride) != dnnl_success) {
    throw std::runtime_error("oneDNN refused a product");
  }
}

dnnl::memory::desc described(const Matrix<BFloat16>& x, std::int64_t rows, std::int64_t cols) {
  const bool normal = x.transposed == 'N';
  return {{rows, cols},
          dnnl::memory::data_type::bf16,
          normal ? dnnl::memory::dims{x.stride, 1} : dnnl::memory::dims{1, x.stride}};
}

// oneDNN keeps the code that it has made for a shape.
void multiply(const GemmPlan& plan, const Matrix<BFloat16>& a, const Matrix<BFloat16>& b,
              float* out, std::int64_t stride, bool adds) {
  using dnnl::memory;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::desc left = described(a, plan.rows(), plan.inner());
  const memory::desc right = described(b, plan.inner(), plan.cols());
  const memory::desc to({plan.rows(), plan.cols()}, memory::data_type::f32, {stride, 1});
  dnnl::primitive_attr attributes;
  if (adds) {
    dnnl::post_ops after;
    after.append_sum(1.0F);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul product({{left, right, to}, attributes, engine});
  // It takes pointers to what it only reads.
  product.execute(stream, {{DNNL_ARG_SRC, memory(left, engine, const_cast<BFloat16*>(a.at))},
                           {DNNL_ARG_WEIGHTS, memory(right, engine, const_cast<BFloat16*>(b.at))},
                           {DNNL_ARG_DST, memory(to, engine, out)}});
  stream.wait();
}

void add_or_copy(const GemmPlan& plan, const std::vector<float>& product, float* out) {
  for (std::int64_t i = 0; i < plan.rows(); ++i) {
    const float* from = product.data() + i * plan.cols();
    float* row = out + plan.out_row.at(i);
    for (std::int64_t j = 0; j < plan.cols(); ++j) {
      float& to = row[plan.out_col.at(j)];
      to = plan.accumulate ? to + from[j] : from[j];
    }
  }
}

template <typename T>
void multiply_fast(const Gemm& product, const T* a, const T* b, float* out, Cpu cpu) {
  constexpr std::int64_t kLanes = 16;
  const GemmPlan plan = plan_gemm(product, kLanes, std::pmr::get_default_resource());
  const bool is_long = plan.inner() > kMostInner;
  if (plan.inner() == 0 || plan.rows() == 0 || plan.cols() == 0 || is_long) {
    return gemm(product, a, b, out, cpu);
  }
  if (plan.swapped) {
    std::swap(a, b);
  }
  use_threads(cpu.threads);
  const bool direct = is_adjacent(plan.out_col) && is_stride(plan.out_row, plan.cols());
  std::vector<T> packed_a;
  std::vector<T> packed_b;
  std::vector<float> result(direct ? 0 : static_cast<std::size_t>(plan.rows() * plan.cols()));
  for (std::int64_t n = 0; n < plan.batches(); ++n) {
    const Matrix<T> left = matrix_of(a + plan.a_batch.at(n), plan.a_row, plan.a_inner, packed_a);
    const Matrix<T> right = matrix_of(b + plan.b_batch.at(n), plan.b_inner, plan.b_col, packed_b);
    float* to = out + plan.out_batch.at(n);
    if (direct) {
      multiply(plan, left, right, to, stride_of(plan.out_row, plan.cols()), plan.accumulate);
    } else {
      multiply(plan, left, right, result.data(), plan.cols(), false);
      add_or_copy(plan, result, to);
    }
  }
}

}  // namespace

void gemm_fast(const Gemm& product, const float* a, const float* b, float* out, Cpu cpu) {
  multiply_fast(product, a, b, out, cpu);
}

void gemm_fast(const Gemm& product, const BFloat16* a, const BFloat16* b, float* out, Cpu cpu) {
  // oneDNN uses AVX512_BF16 wherever it is, also where it is slow, and has nothing for less.
  const bool is_faster = cpu.isa == Isa::kAvx512Bf16 ||
                         dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
  is_faster ? multiply_fast(product, a, b, out, cpu) : gemm(product, a, b, out, cpu);
}

void gemm_fast(const Gemm& product, const double* a, const double* b, double* out, Cpu cpu) {
  gemm(product, a, b, out, cpu);
}

}  // namespace mtf
