// The closed table of element types.

#include "ir/dtype.h"

#include <array>

namespace mtf {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
};

constexpr std::array<Entry, 6> kNames{{{DType::kF32, "f32"},
                                       {DType::kF64, "f64"},
                                       {DType::kI32, "i32"},
                                       {DType::kI64, "i64"},
                                       {DType::kBool, "bool"},
                                       {DType::kU8, "u8"}}};

}  // namespace

std::string_view to_string(DType dtype) {
  for (const Entry& entry : kNames) {
    if (entry.dtype == dtype) {
      return entry.name;
    }
  }
  return "?";
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const Entry& entry : kNames) {
    if (entry.name == name) {
      return entry.dtype;
    }
  }
  return std::nullopt;
}

std::size_t bytes_of(DType dtype) {
  return with_type(dtype, [](auto element) { return sizeof(element); });
}

bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64;
}

bool is_integer(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU8;
}

}  // namespace mtf
