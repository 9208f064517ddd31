// Products done naively, one fma at a time, in the order that runtime/products/gemm.h promises:
// what the kernels are compared with, bit for bit.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "runtime/kernels/tree.h"
#include "runtime/products/gemm.h"
#include "runtime/products/micro/flushing.h"

namespace mtf {

struct GemmIndex {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
};

// Calls visit(GemmIndex) for all index tuples of `dims`, row-major.
template <typename Visit>
void for_each_index(std::span<const GemmDim> dims, GemmIndex base, const Visit& visit) {
  if (dims.empty()) {
    visit(base);
    return;
  }
  const GemmDim& dim = dims.front();
  for (std::int64_t i = 0; i < dim.extent; ++i) {
    for_each_index(dims.subspan(1),
                   {base.a + i * dim.a, base.b + i * dim.b, base.out + i * dim.out}, visit);
  }
}

// With kFlushes as chains of bf16 are added up: subnormals are 0, going in and coming out.
template <bool kFlushes, typename T>
T multiply_add(T x, T y, T sum) {
  const volatile T left = x;
  const volatile T right = y;
  volatile T result = sum;
  {
    const Flushing<kFlushes> flushing;
    result = std::fma(left, right, result);
  }
  return result;
}

template <typename T>
T sum_of_chains(std::span<const T> chains) {
  if (chains.size() == 1) {
    return chains.front();
  }
  const auto split = static_cast<std::size_t>(tree_split(static_cast<std::int64_t>(chains.size())));
  return sum_of_chains(chains.first(split)) + sum_of_chains(chains.subspan(split));
}

// The value of blocks [first, first + blocks[d]) of each dim from `d` on; dims before are fixed.
template <bool kFlushes, typename T>
T reference_tree(std::vector<GemmDim> inner, std::size_t d, std::int64_t blocks, const T* a,
                 const T* b, const std::vector<GemmTerm>& terms) {
  if (d == inner.size()) {
    std::vector<T> chains = {0};
    std::int64_t in_chain = 0;
    const auto add = [&](GemmIndex at) {
      if (in_chain++ == kLongestChain) {
        chains.push_back(0);
        in_chain = 1;
      }
      chains.back() = multiply_add<kFlushes>(a[at.a], b[at.b], chains.back());
    };
    for_each_index(inner, {}, add);
    for (const GemmTerm& term : terms) {
      for_each_index(inner, {.a = term.a, .b = term.b}, add);
    }
    return sum_of_chains(std::span<const T>(chains));
  }
  GemmDim& dim = inner[d];
  if (blocks == 1) {
    dim.extent /= dim.blocks;
    dim.blocks = 1;
    return reference_tree<kFlushes>(inner, d + 1, d + 1 < inner.size() ? inner[d + 1].blocks : 1, a,
                                    b, terms);
  }
  const std::int64_t split = tree_split(blocks) * (dim.extent / dim.blocks);
  std::vector<GemmDim> left = inner;
  std::vector<GemmDim> right = inner;
  left[d].extent = split;
  left[d].blocks = tree_split(blocks);
  right[d].extent = dim.extent - split;
  right[d].blocks = blocks - tree_split(blocks);
  const T low = reference_tree<kFlushes>(left, d, left[d].blocks, a, b, terms);
  return low + reference_tree<kFlushes>(right, d, right[d].blocks, a + split * dim.a,
                                        b + split * dim.b, terms);
}

template <bool kFlushes = false, typename T>
void reference_gemm(const Gemm& gemm, const T* a, const T* b, T* out) {
  std::vector<GemmDim> outer = gemm.batch;
  outer.insert(outer.end(), gemm.rows.begin(), gemm.rows.end());
  outer.insert(outer.end(), gemm.cols.begin(), gemm.cols.end());
  for_each_index(outer, {}, [&](GemmIndex at) {
    const T sum =
        reference_tree<kFlushes>(gemm.inner, 0, gemm.inner.empty() ? 1 : gemm.inner[0].blocks,
                                 a + at.a, b + at.b, gemm.terms);
    out[at.out] = gemm.accumulate ? out[at.out] + sum : sum;
  });
}

template <typename T>
std::vector<T> random_values(std::int64_t n, std::mt19937& random) {
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) {
    value = distribution(random);
  }
  return values;
}

// Equal bits, where all NaNs count as one.
template <typename T>
bool same_bits(std::span<const T> x, std::span<const T> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool both_nan = std::isnan(x[i]) && std::isnan(y[i]);
    if (!both_nan && std::memcmp(&x[i], &y[i], sizeof(T)) != 0) {
      return false;
    }
  }
  return x.size() == y.size();
}

// rows x inner times inner x cols, in row-major order.
inline Gemm matrix_product(std::int64_t rows, std::int64_t inner, std::int64_t cols,
                           std::int64_t blocks = 1) {
  return {.rows = {{.extent = rows, .a = inner, .out = cols}},
          .cols = {{.extent = cols, .b = 1, .out = 1}},
          .inner = {{.extent = inner, .a = 1, .b = cols, .blocks = blocks}}};
}

}  // namespace mtf
