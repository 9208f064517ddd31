// The loops over elements, and the table of functions that one instruction set offers.

#pragma once

#include <array>
#include <cstddef>

#include "runtime/vector_math/vector_math.h"
#include "runtime/vector_math/vector_math_doubles.h"
#include "runtime/vector_math/vector_math_floats.h"

namespace mtf {

inline constexpr std::size_t kMathFns = 22;

template <typename T>
struct VectorMath {
  using Each = void (*)(const T* x, std::size_t n, T* out);
  using Pairs = void (*)(const T* x, const T* y, std::size_t n, T* out);

  std::array<Each, kMathFns> each = {};  // in the order of MathFn
  Pairs pow = nullptr;
  Pairs atan2 = nullptr;
};

struct AllVectorMath {
  VectorMath<float> floats;
  VectorMath<double> doubles;
};

extern const AllVectorMath kVectorMathAvx512;
extern const AllVectorMath kVectorMathAvx2;
extern const AllVectorMath kVectorMathPortable;

// For floats these are themselves exact enough, and twice as fast as in double.
void sqrt_of_floats(const float* x, std::size_t n, float* out);
void rsqrt_of_floats(const float* x, std::size_t n, float* out);
void reciprocal_of_floats(const float* x, std::size_t n, float* out);

// The last elements are computed in a register filled up with ones.
template <typename V, auto kFn, typename T>
void apply_each(const T* x, std::size_t n, T* out) {
  std::size_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    V::store(out + i, kFn(V::load(x + i)));
  }
  if (i < n) {
    T in[V::kLanes];
    T result[V::kLanes];
    for (std::size_t l = 0; l < V::kLanes; ++l) {
      in[l] = i + l < n ? x[i + l] : T(1);
    }
    V::store(result, kFn(V::load(in)));
    for (std::size_t l = 0; i + l < n; ++l) {
      out[i + l] = result[l];
    }
  }
}

template <typename V, auto kFn, typename T>
void apply_pairs(const T* x, const T* y, std::size_t n, T* out) {
  std::size_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    V::store(out + i, kFn(V::load(x + i), V::load(y + i)));
  }
  if (i < n) {
    T left[V::kLanes];
    T right[V::kLanes];
    T result[V::kLanes];
    for (std::size_t l = 0; l < V::kLanes; ++l) {
      left[l] = i + l < n ? x[i + l] : T(1);
      right[l] = i + l < n ? y[i + l] : T(1);
    }
    V::store(result, kFn(V::load(left), V::load(right)));
    for (std::size_t l = 0; i + l < n; ++l) {
      out[i + l] = result[l];
    }
  }
}

// Large angles are rare and done again, one by one.
template <typename V, typename M, auto kFn, double (*kOfLarge)(double), typename T>
void apply_angles(const T* x, std::size_t n, T* out) {
  constexpr std::size_t kPiece = 256;
  constexpr T kLarge = static_cast<T>(M::kLarge);
  T angles[kPiece];
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = n - begin < kPiece ? n - begin : kPiece;
    int large = 0;
    for (std::size_t i = 0; i < count; ++i) {
      angles[i] = x[begin + i];
      large |= angles[i] >= kLarge || angles[i] <= -kLarge ? 1 : 0;
    }
    apply_each<V, kFn, T>(angles, count, out + begin);
    for (std::size_t i = 0; large != 0 && i < count; ++i) {
      const T x_i = angles[i];
      const bool finite = x_i - x_i == 0;
      if (finite && (x_i >= kLarge || x_i <= -kLarge)) {
        out[begin + i] = static_cast<T>(kOfLarge(static_cast<double>(x_i)));
      }
    }
  }
}

// `W` loads and stores for M's functions: M's register type, or one that converts floats.
template <typename T, typename W, typename M>
constexpr VectorMath<T> make_vector_math() {
  return {.each = {apply_each<W, M::exp, T>,
                   apply_each<W, M::expm1, T>,
                   apply_each<W, M::log, T>,
                   apply_each<W, M::log1p, T>,
                   apply_each<W, M::sqrt, T>,
                   apply_each<W, M::rsqrt, T>,
                   apply_each<W, M::reciprocal, T>,
                   apply_angles<W, M, M::sin, sine_of_large, T>,
                   apply_angles<W, M, M::cos, cosine_of_large, T>,
                   apply_angles<W, M, M::tan, tangent_of_large, T>,
                   apply_each<W, M::asin, T>,
                   apply_each<W, M::acos, T>,
                   apply_each<W, M::atan, T>,
                   apply_each<W, M::sinh, T>,
                   apply_each<W, M::cosh, T>,
                   apply_each<W, M::tanh, T>,
                   apply_each<W, M::sigmoid, T>,
                   apply_each<W, M::gelu, T>,
                   apply_each<W, M::silu, T>,
                   apply_each<W, M::softplus, T>,
                   apply_each<W, M::erf, T>,
                   apply_each<W, M::erfc, T>},
          .pow = apply_pairs<W, M::pow, T>,
          .atan2 = apply_pairs<W, M::atan2, T>};
}

template <typename V>
constexpr AllVectorMath make_all_vector_math() {
  AllVectorMath all = {.floats = make_vector_math<float, typename V::OfFloats, FloatMath<V>>(),
                       .doubles = make_vector_math<double, V, DoubleMath<V>>()};
  all.floats.each[static_cast<std::size_t>(MathFn::kSqrt)] = sqrt_of_floats;
  all.floats.each[static_cast<std::size_t>(MathFn::kRsqrt)] = rsqrt_of_floats;
  all.floats.each[static_cast<std::size_t>(MathFn::kReciprocal)] = reciprocal_of_floats;
  return all;
}

}  // namespace mtf
