// The closed table of element types.

#include "ir/dtype.h"

#include <array>
#include <cmath>
#include <string>

namespace mtf {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  std::size_t precision = 0;  // of a float
  bool is_integer = false;
  std::optional<DType> wide = {};
};

constexpr std::array<Entry, 10> kTypes{
    {{.dtype = DType::kF32, .name = "f32", .bytes = 4, .precision = 24},
     {.dtype = DType::kF64, .name = "f64", .bytes = 8, .precision = 53},
     {.dtype = DType::kBF16, .name = "bf16", .bytes = 2, .precision = 8, .wide = DType::kF32},
     {.dtype = DType::kF16, .name = "f16", .bytes = 2, .precision = 11, .wide = DType::kF32},
     {.dtype = DType::kI32, .name = "i32", .bytes = 4, .is_integer = true},
     {.dtype = DType::kI64, .name = "i64", .bytes = 8, .is_integer = true},
     {.dtype = DType::kI16, .name = "i16", .bytes = 2, .is_integer = true, .wide = DType::kI32},
     {.dtype = DType::kI8, .name = "i8", .bytes = 1, .is_integer = true, .wide = DType::kI32},
     {.dtype = DType::kU8, .name = "u8", .bytes = 1, .is_integer = true},
     {.dtype = DType::kBool, .name = "bool", .bytes = 1}}};

// By number, so that nobody looks for one.
constexpr std::array<Entry, kTypes.size()> by_number() {
  std::array<Entry, kTypes.size()> entries = kTypes;
  for (const Entry& entry : kTypes) {
    entries[static_cast<std::size_t>(entry.dtype)] = entry;
  }
  return entries;
}

const Entry& entry_of(DType dtype) {
  static constexpr auto kByNumber = by_number();
  return kByNumber[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view to_string(DType dtype) {
  return entry_of(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const Entry& entry : kTypes) {
    if (entry.name == name) {
      return entry.dtype;
    }
  }
  return std::nullopt;
}

std::string_view dtype_names() {
  static const std::string all = [] {
    std::string names;
    for (const Entry& entry : kTypes) {
      const bool last = entry.dtype == kTypes.back().dtype;
      names += (names.empty() ? "" : last ? " and " : ", ") + std::string(entry.name);
    }
    return names;
  }();
  return all;
}

std::size_t bytes_of(DType dtype) {
  return entry_of(dtype).bytes;
}

std::size_t precision_of(DType dtype) {
  return entry_of(dtype).precision;
}

bool is_float(DType dtype) {
  return entry_of(dtype).precision > 0;
}

bool is_integer(DType dtype) {
  return entry_of(dtype).is_integer;
}

DType wide_of(DType dtype) {
  return entry_of(dtype).wide.value_or(dtype);
}

bool is_narrow(DType dtype) {
  return entry_of(dtype).wide.has_value();
}

bool holds(DType dtype, double value) {
  if (is_float(dtype)) {
    return !std::isfinite(value) || with_stored(dtype, [value](auto type) {
      return std::isfinite(static_cast<double>(static_cast<decltype(type)>(value)));
    });
  }
  const bool is_unsigned = dtype == DType::kBool || dtype == DType::kU8;
  const double half = std::ldexp(1.0, static_cast<int>(8 * bytes_of(dtype)) - 1);
  const double low = is_unsigned ? 0 : -half;
  const double high = dtype == DType::kBool ? 2 : is_unsigned ? 256 : half;  // just above
  return value == std::trunc(value) && value >= low && value < high;
}

}  // namespace mtf
