// Products for --fast: oneDNN's sgemm, on operands as they are or packed into matrices; what it
// does not offer (doubles) is done canonically.

#include <algorithm>
#include <dlfcn.h>
#include <dnnl.h>
#include <memory_resource>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/products/gemm.h"
#include "runtime/products/gemm_pack.h"
#include "runtime/products/gemm_plan.h"

namespace mtf {
namespace {

// A row-major matrix for sgemm, perhaps to be read transposed.
struct Matrix {
  const float* at = nullptr;
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

// rows x cols, copied into `packed` if it is no matrix in memory.
Matrix matrix_of(const float* x, const Offsets& rows, const Offsets& cols,
                 std::vector<float>& packed) {
  if (is_adjacent(cols) && is_stride(rows, cols.size)) {
    return {.at = x, .transposed = 'N', .stride = stride_of(rows, cols.size)};
  }
  if (is_adjacent(rows) && is_stride(cols, rows.size)) {
    return {.at = x, .transposed = 'T', .stride = stride_of(cols, rows.size)};
  }
  packed.resize(static_cast<std::size_t>(rows.size * cols.size));
  pack(x, cols, rows,
       {.first_lane = 0,
        .lanes = cols.size,
        .first_inner = 0,
        .inner = rows.size,
        .width = cols.size},
       packed.data());
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

void multiply(const GemmPlan& plan, const Matrix& a, const Matrix& b, float* out,
              std::int64_t stride, float beta) {
  if (dnnl_sgemm(a.transposed, b.transposed, plan.rows(), plan.cols(), plan.inner(), 1, a.at,
                 a.stride, b.at, b.stride, beta, out, stride) != dnnl_success) {
    throw std::runtime_error("oneDNN refused a product");
  }
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

}  // namespace

void gemm_fast(const Gemm& product, const float* a, const float* b, float* out, Cpu cpu) {
  constexpr std::int64_t kLanes = 16;
  const GemmPlan plan = plan_gemm(product, kLanes, std::pmr::get_default_resource());
  if (plan.inner() == 0 || plan.rows() == 0 || plan.cols() == 0) {
    return gemm(product, a, b, out, cpu);
  }
  if (plan.swapped) {
    std::swap(a, b);
  }
  use_threads(cpu.threads);
  const bool direct = is_adjacent(plan.out_col) && is_stride(plan.out_row, plan.cols());
  std::vector<float> packed_a;
  std::vector<float> packed_b;
  std::vector<float> result(direct ? 0 : static_cast<std::size_t>(plan.rows() * plan.cols()));
  for (std::int64_t n = 0; n < plan.batches(); ++n) {
    const Matrix left = matrix_of(a + plan.a_batch.at(n), plan.a_row, plan.a_inner, packed_a);
    const Matrix right = matrix_of(b + plan.b_batch.at(n), plan.b_inner, plan.b_col, packed_b);
    float* to = out + plan.out_batch.at(n);
    if (direct) {
      multiply(plan, left, right, to, stride_of(plan.out_row, plan.cols()),
               plan.accumulate ? 1.0F : 0.0F);
    } else {
      multiply(plan, left, right, result.data(), plan.cols(), 0);
      add_or_copy(plan, result, to);
    }
  }
}

void gemm_fast(const Gemm& product, const double* a, const double* b, double* out, Cpu cpu) {
  gemm(product, a, b, out, cpu);
}

}  // namespace mtf
