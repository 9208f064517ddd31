// Element-wise functions over contiguous elements. An element's bits depend on its value alone: not
// on its place, the length, or the instruction set.
//
// Within 2 ulp of the true value; 4 for tan, sinh, tanh, gelu, softplus and erfc.

#pragma once

#include <cstdint>
#include <span>

#include "runtime/kernels/cpu.h"

namespace mtf {

enum class MathFn : std::uint8_t {
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kSigmoid,
  kGelu,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kSilu,
  kSoftplus,
  kErf,
  kErfc,
};

// `out` has as many elements as `x`, and may be `x` itself.
void vector_math(MathFn fn, std::span<const float> x, Isa isa, std::span<float> out);
void vector_math(MathFn fn, std::span<const double> x, Isa isa, std::span<double> out);

// x to the power of y with C's limits (pow(-2, 3) = -8, pow(x, 0) = 1 even for NaN).
void vector_pow(std::span<const float> x, std::span<const float> y, Isa isa, std::span<float> out);
void vector_pow(std::span<const double> x, std::span<const double> y, Isa isa,
                std::span<double> out);

// The angle of the point (x, y), with C's limits.
void vector_atan2(std::span<const float> y, std::span<const float> x, Isa isa,
                  std::span<float> out);
void vector_atan2(std::span<const double> y, std::span<const double> x, Isa isa,
                  std::span<double> out);

}  // namespace mtf
