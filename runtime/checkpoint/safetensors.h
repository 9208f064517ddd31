// The header of a .safetensors file: eight bytes of length, then JSON that gives each tensor a
// dtype, its sizes and a place; then the data, without holes.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace mtf {

struct FileTensor {
  std::string name;
  std::string dtype;  // as the file says it: "BF16"
  std::vector<std::int64_t> sizes;
  std::int64_t begin = 0;  // in the data
  std::int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<FileTensor> tensors;                        // as they lie in the data
  std::map<std::string, std::string, std::less<>> notes;  // `__metadata__`
  std::int64_t data_begin = 0;                            // in the file
};

struct StoredType {
  DType dtype = DType::kF32;  // of what is read
  std::int64_t bytes = 0;     // of an element in the file
  bool is_unsigned = false;   // of 16 bits or more: read as a wider integer
};

// nullopt: no tensor of mtf is like that.
[[nodiscard]] std::optional<StoredType> stored_type(std::string_view word);
[[nodiscard]] std::string_view word_of(DType dtype);

inline constexpr std::int64_t kMaxHeader = 100'000'000;  // bytes, as other readers have it

// Reads the JSON of a header in front of so many bytes of data. "" or what is wrong with it.
[[nodiscard]] std::string read_header(std::string_view json, std::int64_t data_bytes,
                                      SafetensorsHeader& header);
// The bytes in front of the data, whose number is a multiple of 64.
[[nodiscard]] std::string header_bytes(const SafetensorsHeader& header);

}  // namespace mtf
