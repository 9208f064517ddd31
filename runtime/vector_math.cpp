// Interim: one scalar call per element, so an element's bits depend on its value alone.

#include "runtime/vector_math.h"

#include <cmath>
#include <cstddef>

namespace mtf {
namespace {

template <typename T>
T gelu(T x) {
  const T inner = static_cast<T>(0.7978845608028654) *
                  (x + static_cast<T>(0.044715) * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
T value(MathFn fn, T x) {
  switch (fn) {
    case MathFn::kExp:
      return std::exp(x);
    case MathFn::kExpm1:
      return std::expm1(x);
    case MathFn::kLog:
      return std::log(x);
    case MathFn::kLog1p:
      return std::log1p(x);
    case MathFn::kSqrt:
      return std::sqrt(x);
    case MathFn::kRsqrt:
      return 1 / std::sqrt(x);
    case MathFn::kReciprocal:
      return 1 / x;
    case MathFn::kSin:
      return std::sin(x);
    case MathFn::kCos:
      return std::cos(x);
    case MathFn::kTanh:
      return std::tanh(x);
    case MathFn::kSigmoid:
      return sigmoid(x);
    case MathFn::kGelu:
      return gelu(x);
    case MathFn::kSilu:
      return x * sigmoid(x);
    case MathFn::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case MathFn::kErf:
      break;
  }
  return std::erf(x);
}

template <typename T>
void apply(MathFn fn, std::span<const T> x, std::span<T> out) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = value(fn, x[i]);
  }
}

template <typename T>
void power(std::span<const T> x, std::span<const T> y, std::span<T> out) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = std::pow(x[i], y[i]);
  }
}

}  // namespace

void vector_math(MathFn fn, std::span<const float> x, Isa /*isa*/, std::span<float> out) {
  apply(fn, x, out);
}

void vector_math(MathFn fn, std::span<const double> x, Isa /*isa*/, std::span<double> out) {
  apply(fn, x, out);
}

void vector_pow(std::span<const float> x, std::span<const float> y, Isa /*isa*/,
                std::span<float> out) {
  power(x, y, out);
}

void vector_pow(std::span<const double> x, std::span<const double> y, Isa /*isa*/,
                std::span<double> out) {
  power(x, y, out);
}

}  // namespace mtf
