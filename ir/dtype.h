// Element types of tensors.
//
// The narrow ones (bf16, f16, i8, i16) are stored and moved as such; what computes widens them
// first, to f32 or i32, and rounds its result once (ir/builder.cpp, runtime/vector_math/narrow.h).

#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mtf {

enum class DType : std::uint8_t { kF32, kF64, kI32, kI64, kBool, kU8, kBF16, kF16, kI8, kI16 };

[[nodiscard]] std::string_view to_string(DType dtype);  // "f32"
[[nodiscard]] std::optional<DType> find_dtype(std::string_view name);
[[nodiscard]] std::string_view dtype_names();         // "f32, f64, … and bool"
[[nodiscard]] std::size_t bytes_of(DType dtype);      // of one element
[[nodiscard]] std::size_t precision_of(DType dtype);  // bits of a float's significand
[[nodiscard]] bool is_float(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);  // not bool
// f32 for bf16 and f16, i32 for i8 and i16; others are as wide as they get.
[[nodiscard]] DType wide_of(DType dtype);
[[nodiscard]] bool is_narrow(DType dtype);
// Whether the dtype has that number; a float may be rounded, but stays finite.
[[nodiscard]] bool holds(DType dtype, double value);

// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit constexpr BFloat16(float x);
  explicit constexpr BFloat16(double x);
  explicit constexpr operator float() const;
  explicit constexpr operator double() const { return static_cast<float>(*this); }
};

// IEEE's binary16.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit constexpr Float16(float x);
  explicit constexpr Float16(double x);
  explicit constexpr operator float() const;
  explicit constexpr operator double() const { return static_cast<float>(*this); }
};

// The float next to `x` whose last bit is odd, or `x` if it is a float: rounded once more, to any
// format of at most 22 bits, it is what `x` itself is rounded to.
[[nodiscard]] constexpr float rounded_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const auto back = static_cast<double>(nearest);
  const bool inexact = back != x && x == x;
  const bool too_far = inexact && (x < 0 ? back < x : back > x);
  return std::bit_cast<float>((bits - (too_far ? 1U : 0U)) | (inexact ? 1U : 0U));
}

// To nearest, ties to even. A NaN stays one, quiet.
constexpr BFloat16::BFloat16(float x) {
  const auto from = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (from + 0x7FFFU + ((from >> 16U) & 1U)) >> 16U;
  bits = static_cast<std::uint16_t>(x == x ? rounded : (from >> 16U) | 0x40U);
}

constexpr BFloat16::BFloat16(double x) : BFloat16(rounded_to_odd(x)) {}

constexpr BFloat16::operator float() const {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

constexpr Float16::Float16(float x) {
  constexpr std::uint32_t kBeyond = 0x47800000U;     // 2^16
  constexpr std::uint32_t kNormal = 0x38800000U;     // 2^-14
  constexpr std::uint32_t kLastBit = 0x3F000000U;    // 0.5, whose last bit is 2^-24
  constexpr std::uint32_t kExponents = 112U << 23U;  // how much larger those of a float are
  const auto whole = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t size = whole & 0x7FFFFFFFU;
  const std::uint32_t special = size > 0x7F800000U ? 0x7E00U | (size >> 13U & 0x1FFU) : 0x7C00U;
  const float aligned = std::bit_cast<float>(size) + std::bit_cast<float>(kLastBit);
  const std::uint32_t small = std::bit_cast<std::uint32_t>(aligned) - kLastBit;
  const std::uint32_t normal = (size - kExponents + 0xFFFU + (size >> 13U & 1U)) >> 13U;
  const std::uint32_t result = size >= kBeyond ? special : size < kNormal ? small : normal;
  bits = static_cast<std::uint16_t>(result | (whole >> 16U & 0x8000U));
}

constexpr Float16::Float16(double x) : Float16(rounded_to_odd(x)) {}

constexpr Float16::operator float() const {
  const std::uint32_t size = std::uint32_t{bits} & 0x7FFFU;
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16U;
  // As a float it is 2^112 times too small, subnormals too.
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size << 13U) * 0x1p112F);
  const std::uint32_t quiet = size > 0x7C00U ? 0x400000U : 0U;
  const std::uint32_t special = (size << 13U) | 0x7F800000U | quiet;
  return std::bit_cast<float>((size >= 0x7C00U ? special : scaled) | sign);
}

// Calls `f(T{})` with the C++ type that computes (bool and u8: std::uint8_t).
// requires: not narrow.
template <typename F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      return f(double{});
    case DType::kI32:
      return f(std::int32_t{});
    case DType::kI64:
      return f(std::int64_t{});
    case DType::kBF16:
    case DType::kF16:
    case DType::kI8:
    case DType::kI16:
      assert(false);
      break;
    case DType::kBool:
    case DType::kU8:
      break;
  }
  return f(std::uint8_t{});
}

// Calls `f(T{})` with the C++ type that holds one element; those of bf16 and f16 only convert.
template <typename F>
decltype(auto) with_stored(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBF16:
      return f(BFloat16{});
    case DType::kF16:
      return f(Float16{});
    case DType::kI8:
      return f(std::int8_t{});
    case DType::kI16:
      return f(std::int16_t{});
    case DType::kF32:
    case DType::kF64:
    case DType::kI32:
    case DType::kI64:
    case DType::kBool:
    case DType::kU8:
      break;
  }
  return with_type(dtype, f);
}

}  // namespace mtf
