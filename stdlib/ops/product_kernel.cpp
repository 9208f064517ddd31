// Sorting the dims of a product into batch, rows, columns and inner ones, for the GEMM kernel,
// which reads and writes in place. Whole numbers, which no order changes, take a plain loop.

#include "stdlib/ops/product_kernel.h"

#include <cassert>

#include "runtime/gemm.h"
#include "stdlib/ops/strided.h"
#include "stdlib/ops/tiles.h"

namespace mtf {
namespace {

struct Strides {
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  std::vector<std::int64_t> out;
};

Gemm sorted(const KernelCall& call) {
  const Shape& a = call.in[0].shape;
  const Shape& b = call.in[1].shape;
  const Shape all = union_shape(a, b);
  const Strides strides{.a = strides_by_name(call.in[0], all),
                        .b = strides_by_name(call.in[1], all),
                        .out = strides_by_name(call.out, all)};
  Gemm product;
  product.accumulate = call.accumulate;
  for (std::size_t loop = 0; loop < call.space.loops.size(); ++loop) {
    const std::string& name = call.space.loops[loop].name;
    const std::size_t i = all.index_of(name).value();
    const bool reduced = call.space.loops[loop].role == DimRole::kReduced;
    const GemmDim dim{.extent = all[i].size,
                      .a = strides.a[i],
                      .b = strides.b[i],
                      .out = reduced ? 0 : strides.out[i],
                      .blocks = reduced ? call.blocks(loop) : 1};
    if (reduced) {
      product.inner.push_back(dim);
    } else if (a.has(name) && b.has(name)) {
      product.batch.push_back(dim);
    } else if (a.has(name)) {
      product.rows.push_back(dim);
    } else {
      product.cols.push_back(dim);
    }
  }
  return product;
}

template <typename T>
void plain_loop(std::span<const GemmDim> dims, const T* a, const T* b, T* out) {
  if (dims.empty()) {
    *out = static_cast<T>(to_wrapping(*out) + to_wrapping(*a) * to_wrapping(*b));
    return;
  }
  for (std::int64_t i = 0; i < dims[0].extent; ++i) {
    plain_loop(dims.subspan(1), a + i * dims[0].a, b + i * dims[0].b, out + i * dims[0].out);
  }
}

// Sets the elements of the result to 0.
template <typename T>
void clear(std::span<const GemmDim> dims, T* out) {
  if (dims.empty()) {
    *out = T{};
    return;
  }
  for (std::int64_t i = 0; i < dims[0].extent; ++i) {
    clear(dims.subspan(1), out + i * dims[0].out);
  }
}

template <typename T>
void multiply_whole(const Gemm& product, const KernelCall& call) {
  std::vector<GemmDim> dims = product.batch;
  dims.insert(dims.end(), product.rows.begin(), product.rows.end());
  const auto outer = static_cast<std::ptrdiff_t>(dims.size());
  dims.insert(dims.end(), product.cols.begin(), product.cols.end());
  if (!product.accumulate) {
    clear<T>(dims, elements<T>(call.out).data());
  }
  dims.insert(dims.begin() + outer, product.inner.begin(), product.inner.end());
  plain_loop<T>(dims, elements<const T>(call.in[0]).data(), elements<const T>(call.in[1]).data(),
                elements<T>(call.out).data());
}

template <typename T>
void multiply_exactly(const KernelCall& call, Cpu cpu) {
  if (call.kept == nullptr) {
    call.kept = std::make_shared<const PreparedGemm<T>>(sorted(call), cpu);
  }
  static_cast<const PreparedGemm<T>*>(call.kept.get())
      ->run(elements<const T>(call.in[0]).data(), elements<const T>(call.in[1]).data(),
            elements<T>(call.out).data());
}

}  // namespace

Shape union_shape(const Shape& a, const Shape& b) {
  Shape all = a;
  for (const Dim& dim : b.dims()) {
    all = all.has(dim.name) ? all : all.with(dim);
  }
  return all;
}

void product_kernel(const KernelCall& call) {
  assert(call.in.size() == 2);
  const Cpu cpu{.isa = local_isa(), .threads = call.host.threads()};
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      multiply_whole<T>(sorted(call), call);
    } else if (call.exact) {
      multiply_exactly<T>(call, cpu);
    } else {
      gemm_fast(sorted(call), elements<const T>(call.in[0]).data(),
                elements<const T>(call.in[1]).data(), elements<T>(call.out).data(), cpu);
    }
  });
}

}  // namespace mtf
