// Element-wise kernels from one function of an element: plain loops that the compiler vectorises.
//
// Every element is computed by the same expression whatever its place, so a slice gives the same
// bits as the whole.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "ir/op.h"
#include "runtime/vector_math/vector_math.h"

namespace mtf {

// Elements that a kernel of several passes keeps between them, on its stack.
inline constexpr std::size_t kPiece = 256;

// Calls `f(T{})` for a type that holds numbers; requires: not bool or u8.
template <typename F>
void with_number(DType dtype, F&& f) {
  with_type(dtype, [&f](auto zero) {
    if constexpr (!std::is_same_v<decltype(zero), std::uint8_t>) {
      f(zero);
    }
  });
}

// requires: a float type.
template <typename F>
void with_float(DType dtype, F&& f) {
  if (dtype == DType::kF32) {
    return f(float{});
  }
  f(double{});
}

// As `cast` does it, of what a file has: bools there may be any bytes, and all but 0 are true.
void cast_elements(DType from, DType to, const void* data, std::size_t n, void* out);

// Signed arithmetic that wraps instead of being undefined.
template <typename T>
[[nodiscard]] constexpr auto to_wrapping(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return value;
  }
}

template <typename F, typename T>
void unary_loop(std::span<const void* const> in, void* out, std::size_t n) {
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<decltype(F{}(T{}))*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = F{}(x[i]);
  }
}

template <typename F, typename T>
void binary_loop(std::uint32_t lone, std::span<const void* const> in, void* out, std::size_t n) {
  const auto* a = static_cast<const T*>(in[0]);
  const auto* b = static_cast<const T*>(in[1]);
  auto* y = static_cast<decltype(F{}(T{}, T{}))*>(out);
  if (lone == 0) {
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = F{}(a[i], b[i]);
    }
  } else if (lone == 1) {
    const T first = *a;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = F{}(first, b[i]);
    }
  } else if (lone == 2) {
    const T second = *b;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = F{}(a[i], second);
    }
  } else {
    std::fill_n(y, n, F{}(*a, *b));
  }
}

template <typename F>
void unary_numbers(const TileCall& call, std::span<const void* const> in, void* out,
                   std::size_t n) {
  with_number(call.dtype, [&](auto type) { unary_loop<F, decltype(type)>(in, out, n); });
}

template <typename F>
void binary_numbers(const TileCall& call, std::span<const void* const> in, void* out,
                    std::size_t n) {
  with_number(call.dtype,
              [&](auto type) { binary_loop<F, decltype(type)>(call.lone, in, out, n); });
}

template <typename F>
void binary_floats(const TileCall& call, std::span<const void* const> in, void* out,
                   std::size_t n) {
  with_float(call.dtype, [&](auto type) { binary_loop<F, decltype(type)>(call.lone, in, out, n); });
}

template <typename F>
void binary_any(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_type(call.dtype, [&](auto type) { binary_loop<F, decltype(type)>(call.lone, in, out, n); });
}

// One of the functions of runtime/vector_math/vector_math.h.
template <MathFn kFn>
void math_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    vector_math(kFn, std::span(static_cast<const T*>(in[0]), n), call.isa,
                std::span(static_cast<T*>(out), n));
  });
}

// The elements as they are.
void copy_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n);

}  // namespace mtf
