// Element types of tensors.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mtf {

enum class DType : std::uint8_t { kF32, kF64, kI32, kI64, kBool, kU8 };

[[nodiscard]] std::string_view to_string(DType dtype);  // "f32"
[[nodiscard]] std::optional<DType> find_dtype(std::string_view name);
[[nodiscard]] std::size_t bytes_of(DType dtype);  // of one element
[[nodiscard]] bool is_float(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);  // not bool

// Calls `f(T{})` with the C++ type that holds one element (bool and u8: std::uint8_t).
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
    case DType::kBool:
    case DType::kU8:
      break;
  }
  return f(std::uint8_t{});
}

}  // namespace mtf
