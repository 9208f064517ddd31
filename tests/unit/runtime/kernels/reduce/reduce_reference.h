// Reductions element by element, in the order that runtime/kernels/reduce/reduce_kernel.h promises:
// what the kernels are compared with, bit for bit.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {

template <typename T>
T plain(ReduceKind kind, T x, T y) {
  T result = x;
  combine(kind, &x, &y, 1, &result);
  return result;
}

template <typename T>
DType dtype_of(T zero) {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(zero) == 4 ? DType::kF32 : DType::kF64;
  }
  return sizeof(zero) == 1 ? DType::kU8 : sizeof(zero) == 4 ? DType::kI32 : DType::kI64;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;

template <typename T>
DType narrow_dtype(T zero) {
  if constexpr (std::is_integral_v<T>) {
    return sizeof(zero) == 1 ? DType::kI8 : DType::kI16;
  }
  return std::is_same_v<T, BFloat16> ? DType::kBF16 : DType::kF16;
}

template <typename T>
DType stored_dtype(T zero) {
  if constexpr (kIsNarrow<T>) {
    return narrow_dtype(zero);
  } else {
    return dtype_of(zero);
  }
}

// Whether threads give the results that one gave, which lie behind each other.
template <typename T>
bool threads_agree(const ReductionPlan& plan, const void* in, const std::vector<T>& found) {
  for (const int threads : {2, 3, 5, 7}) {
    std::vector<T> again(found.size());
    mtf::reduce(plan, in, again.data(), {.threads = threads, .least_share = 1});
    if (std::memcmp(again.data(), found.data(), found.size() * sizeof(T)) != 0) {
      return false;
    }
  }
  return true;
}

template <typename T>
void reduce(const Reduction& reduction, const T* in, T* out) {
  mtf::reduce(*plan_reduction(reduction, dtype_of(T{})), in, out);
}

template <typename T>
T identity(ReduceKind kind) {
  T result{};
  reduce({.kind = kind, .kept = {}, .reduced = {{.extent = 0}}}, &result, &result);
  return result;
}

// Offsets of all index tuples of `dims`, row-major.
inline std::vector<std::int64_t> offsets_of(std::span<const ReducedDim> dims) {
  std::vector<std::int64_t> result = {0};
  for (const ReducedDim& dim : dims) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : result) {
      for (std::int64_t i = 0; i < dim.extent; ++i) {
        longer.push_back(offset + i * dim.in);
      }
    }
    result = longer;
  }
  return result;
}

// The value of a leaf's elements, or of some of its pieces.
template <typename T>
T leaf_value(ReduceKind kind, std::span<const std::int64_t> offsets, const T* x) {
  const auto count = static_cast<std::int64_t>(offsets.size());
  if (count > kLongestLeaf) {
    const std::int64_t pieces = (count + kLongestLeaf - 1) / kLongestLeaf;
    const auto split = static_cast<std::size_t>(tree_split(pieces) * kLongestLeaf);
    return plain(kind, leaf_value(kind, offsets.first(split), x),
                 leaf_value(kind, offsets.subspan(split), x));
  }
  std::vector<T> lanes(kReduceLanes, identity<T>(kind));
  std::size_t number = 0;
  for (const std::int64_t offset : offsets) {
    T& lane = lanes[number++ % kReduceLanes];
    lane = plain(kind, lane, x[offset]);
  }
  for (std::size_t half = kReduceLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      lanes[l] = plain(kind, lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// The value of blocks [first, first + n) of dim `d`, where the dims before it are fixed blocks.
template <typename T>
T tree_value(ReduceKind kind, std::vector<ReducedDim> dims, std::size_t d, std::int64_t n,
             const T* x) {
  if (d == dims.size()) {
    const std::vector<std::int64_t> offsets = offsets_of(dims);
    return leaf_value(kind, std::span<const std::int64_t>(offsets), x);
  }
  const std::int64_t length = dims[d].extent / dims[d].blocks;
  if (n > 1) {
    const std::int64_t split = tree_split(n);
    const T left = tree_value(kind, dims, d, split, x);
    return plain(kind, left, tree_value(kind, dims, d, n - split, x + split * length * dims[d].in));
  }
  dims[d] = {.extent = length, .in = dims[d].in, .blocks = 1};
  return tree_value(kind, dims, d + 1, d + 1 < dims.size() ? dims[d + 1].blocks : 1, x);
}

template <typename T>
std::vector<T> reference(const Reduction& reduction, const T* in, std::size_t size) {
  std::vector<T> out(size);
  std::vector<ReducedDim> from;
  std::vector<ReducedDim> to;
  for (const KeptDim& dim : reduction.kept) {
    from.push_back({.extent = dim.extent, .in = dim.in});
    to.push_back({.extent = dim.extent, .in = dim.out});
  }
  const auto sources = offsets_of(from);
  const auto targets = offsets_of(to);
  const std::int64_t blocks = reduction.reduced.empty() ? 1 : reduction.reduced[0].blocks;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    out[static_cast<std::size_t>(targets[i])] =
        tree_value(reduction.kind, reduction.reduced, 0, blocks, in + sources[i]);
  }
  return out;
}

template <typename T>
std::vector<T> random_values(std::size_t n, std::mt19937& random) {
  std::vector<T> values(n);
  for (T& value : values) {
    const double x = std::uniform_real_distribution<double>(-100, 100)(random);
    value = std::floating_point<T> ? static_cast<T>(x) : static_cast<T>(std::abs(x));
  }
  return values;
}

template <typename T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool both_nan = x[i] != x[i] && y[i] != y[i];
    if (!both_nan && std::memcmp(&x[i], &y[i], sizeof(T)) != 0) {
      return false;
    }
  }
  return x.size() == y.size();
}

inline std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

struct Sized {
  Reduction reduction;
  std::size_t in = 1;
  std::size_t out = 1;
};

// On one thread and on several.
template <typename T>
void require_definition(const Sized& sized, const std::vector<T>& in) {
  std::vector<T> found(sized.out);
  reduce(sized.reduction, in.data(), found.data());
  REQUIRE(threads_agree(*plan_reduction(sized.reduction, dtype_of(T{})), in.data(), found));
  REQUIRE(same_bits(found, reference(sized.reduction, in.data(), sized.out)));
}

}  // namespace mtf
