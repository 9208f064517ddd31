// The entry points, the choice of instruction set, and the functions that are one instruction.

#include "runtime/vector_math/vector_math.h"

#include <immintrin.h>

#include "runtime/vector_math/vector_math_loops.h"

namespace mtf {
namespace {

const AllVectorMath& math_of(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return kVectorMathPortable;
    case Isa::kAvx2:
      return kVectorMathAvx2;
    case Isa::kAvx512:
    case Isa::kAvx512Bf16:
      return kVectorMathAvx512;
  }
  return kVectorMathPortable;
}

// `root` as 8 floats at a time; by intrinsics, because std::sqrt is kept apart for its errno.
template <bool kReciprocal>
void roots(const float* x, std::size_t n, float* out) {
  const auto root = [](__m256 y) {
    const __m256 result = _mm256_sqrt_ps(y);
    return kReciprocal ? _mm256_div_ps(_mm256_set1_ps(1), result) : result;
  };
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, root(_mm256_loadu_ps(x + i)));
  }
  for (; i < n; ++i) {
    out[i] = _mm256_cvtss_f32(root(_mm256_set1_ps(x[i])));
  }
}

}  // namespace

void sqrt_of_floats(const float* x, std::size_t n, float* out) {
  roots<false>(x, n, out);
}

void rsqrt_of_floats(const float* x, std::size_t n, float* out) {
  roots<true>(x, n, out);
}

void reciprocal_of_floats(const float* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = 1 / x[i];
  }
}

void vector_math(MathFn fn, std::span<const float> x, Isa isa, std::span<float> out) {
  math_of(isa).floats.each[static_cast<std::size_t>(fn)](x.data(), x.size(), out.data());
}

void vector_math(MathFn fn, std::span<const double> x, Isa isa, std::span<double> out) {
  math_of(isa).doubles.each[static_cast<std::size_t>(fn)](x.data(), x.size(), out.data());
}

void vector_pow(std::span<const float> x, std::span<const float> y, Isa isa, std::span<float> out) {
  math_of(isa).floats.pow(x.data(), y.data(), x.size(), out.data());
}

void vector_pow(std::span<const double> x, std::span<const double> y, Isa isa,
                std::span<double> out) {
  math_of(isa).doubles.pow(x.data(), y.data(), x.size(), out.data());
}

void vector_atan2(std::span<const float> y, std::span<const float> x, Isa isa,
                  std::span<float> out) {
  math_of(isa).floats.atan2(y.data(), x.data(), y.size(), out.data());
}

void vector_atan2(std::span<const double> y, std::span<const double> x, Isa isa,
                  std::span<double> out) {
  math_of(isa).doubles.atan2(y.data(), x.data(), y.size(), out.data());
}

}  // namespace mtf
