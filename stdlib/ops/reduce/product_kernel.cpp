// Sorting the dims of a product into batch, rows, columns and inner ones, for the GEMM kernel,
// which reads and writes in place. Whole numbers, which no order changes, take a plain loop.

#include "stdlib/ops/reduce/product_kernel.h"

#include <algorithm>
#include <cassert>

#include "runtime/kernels/strided.h"
#include "runtime/products/gemm.h"
#include "runtime/vector_math/narrow.h"
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

// How many elements of type T lie between two buffers.
template <typename T>
std::int64_t distance(const TensorView& from, const TensorView& to) {
  const auto bytes =
      reinterpret_cast<std::intptr_t>(to.data) - reinterpret_cast<std::intptr_t>(from.data);
  return bytes / static_cast<std::intptr_t>(sizeof(T));
}

// The products behind the first, each of two operands.
template <typename T>
std::vector<GemmTerm> terms_of(const KernelCall& call) {
  std::vector<GemmTerm> terms;
  for (std::size_t i = 2; i < call.in.size(); i += 2) {
    terms.push_back(
        {.a = distance<T>(call.in[0], call.in[i]), .b = distance<T>(call.in[1], call.in[i + 1])});
  }
  return terms;
}

template <typename T>
std::vector<GemmDim> loops_of(const Gemm& product, T* out) {
  std::vector<GemmDim> dims = product.batch;
  dims.insert(dims.end(), product.rows.begin(), product.rows.end());
  const auto outer = static_cast<std::ptrdiff_t>(dims.size());
  dims.insert(dims.end(), product.cols.begin(), product.cols.end());
  if (!product.accumulate) {
    clear<T>(dims, out);
  }
  dims.insert(dims.begin() + outer, product.inner.begin(), product.inner.end());
  return dims;
}

template <typename T>
void multiply_whole(const Gemm& product, const KernelCall& call) {
  const std::vector<GemmDim> dims = loops_of<T>(product, elements<T>(call.out).data());
  for (std::size_t i = 0; i < call.in.size(); i += 2) {
    plain_loop<T>(dims, elements<const T>(call.in[i]).data(),
                  elements<const T>(call.in[i + 1]).data(), elements<T>(call.out).data());
  }
}

// Good while the operands of several products lie in the same places relative to each other.
template <typename T, typename S>
struct Prepared {
  Prepared(const Gemm& gemm, Cpu cpu) : terms(gemm.terms), product(gemm, cpu) {}

  std::vector<GemmTerm> terms;
  PreparedGemm<T, S> product;
};

template <typename T, typename S>
void multiply_exactly(const KernelCall& call, Cpu cpu) {
  std::vector<GemmTerm> terms = terms_of<S>(call);
  std::shared_ptr<const void> made = call.notes == nullptr ? nullptr : call.notes->made;
  if (made == nullptr || static_cast<const Prepared<T, S>*>(made.get())->terms != terms) {
    Gemm product = sorted(call);
    product.terms = std::move(terms);
    made = std::make_shared<const Prepared<T, S>>(product, cpu);
    if (call.notes != nullptr) {
      call.notes->made = made;
    }
  }
  const auto& product = static_cast<const Prepared<T, S>*>(made.get())->product;
  const S* a = elements<const S>(call.in[0]).data();
  const S* b = elements<const S>(call.in[1]).data();
  if (call.epilogue != nullptr) {
    call.epilogue->done = product.run_to(a, b, call.epilogue->take);
  }
  if (call.epilogue == nullptr || !call.epilogue->done) {
    product.run(a, b, elements<T>(call.out).data());
  }
}

// Memory of operands that are not read where they are.
using Copies = std::vector<std::vector<std::byte>>;

// The view's elements in `copies`, dense in the order of `shape`, which has its dims.
TensorView dense(const TensorView& view, const Shape& shape, Copies& copies) {
  TensorView result = view;
  const std::vector<std::int64_t> from = strides_by_name(view, shape);
  result.shape = shape;
  result.strides = strides_of(shape);
  std::vector<StridedDim> dims;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    dims.push_back({.extent = shape[d].size, .from = from[d], .to = result.strides[d]});
  }
  const std::size_t element = bytes_of(view.dtype);
  copies.emplace_back(static_cast<std::size_t>(shape.volume()) * element);
  copy_strided(std::move(dims), element, view.data, copies.back().data());
  result.data = copies.back().data();
  return result;
}

// Products widen bf16 by themselves.
bool must_widen(const TensorView& view) {
  return is_narrow(view.dtype) && view.dtype != DType::kBF16;
}

// Narrow operands widened, which is exact.
std::vector<TensorView> widened(std::span<const TensorView> in, Copies& copies) {
  std::vector<TensorView> views(in.begin(), in.end());
  for (TensorView& view : views) {
    if (!must_widen(view)) {
      continue;
    }
    const bool is_dense = view.strides.empty() || view.strides == strides_of(view.shape);
    view = is_dense ? view : dense(view, Shape(view.shape), copies);
    view.data = const_cast<void*>(widened_elements(view, copies.emplace_back()));
    view.dtype = wide_of(view.dtype);
  }
  return views;
}

// Several products are read with the strides of the first. Where they differ, as those of pieces
// that are streamed, the operands are made dense: in `copies`, which the views go on to use.
void make_strides_equal(std::vector<TensorView>& views, Copies& copies) {
  for (std::size_t side = 0; side < 2; ++side) {
    const Shape shape = views[side].shape;
    const std::vector<std::int64_t> first = strides_by_name(views[side], shape);
    bool equal = true;
    for (std::size_t i = side; i < views.size(); i += 2) {
      equal = equal && strides_by_name(views[i], shape) == first;
    }
    for (std::size_t i = side; i < views.size() && !equal; i += 2) {
      views[i] = dense(views[i], shape, copies);
    }
  }
}

}  // namespace

Shape union_shape(const Shape& a, const Shape& b) {
  Shape all = a;
  for (const Dim& dim : b.dims()) {
    all = all.has(dim.name) ? all : all.with(dim);
  }
  return all;
}

namespace {

// Sums in T of what is stored as S.
template <typename T, typename S>
void multiply_floats(const KernelCall& call, Cpu cpu) {
  if (call.exact) {
    return multiply_exactly<T, S>(call, cpu);
  }
  Gemm product = sorted(call);
  product.terms = terms_of<S>(call);
  gemm_fast(product, elements<const S>(call.in[0]).data(), elements<const S>(call.in[1]).data(),
            elements<T>(call.out).data(), cpu);
}

void multiply(const KernelCall& call) {
  const Cpu cpu = call.host.cpu();
  if (call.in[0].dtype == DType::kBF16) {
    return multiply_floats<float, BFloat16>(call, cpu);
  }
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      multiply_whole<T>(sorted(call), call);
    } else {
      multiply_floats<T, T>(call, cpu);
    }
  });
}

}  // namespace

void product_of_ints(const Gemm& product, DType dtype, const void* a, const void* b, void* out) {
  with_number(dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      T* const to = static_cast<T*>(out);
      plain_loop<T>(loops_of<T>(product, to), static_cast<const T*>(a), static_cast<const T*>(b),
                    to);
    }
  });
}

void product_kernel(const KernelCall& call) {
  assert(call.in.size() >= 2 && call.in.size() % 2 == 0);
  if (call.in.size() == 2 && std::ranges::none_of(call.in, must_widen)) {
    return multiply(call);
  }
  Copies copies;
  std::vector<TensorView> views = widened(call.in, copies);
  if (views.size() > 2) {
    make_strides_equal(views, copies);
  }
  KernelCall same = call;
  same.in = views;
  multiply(same);
}

}  // namespace mtf
