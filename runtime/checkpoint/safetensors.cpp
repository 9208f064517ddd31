// No number of a header is believed: sizes and places have to agree with each other and the file.

#include "runtime/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <set>

#include "ir/support/diag.h"
#include "ir/support/number.h"
#include "runtime/checkpoint/json_reader.h"
#include "runtime/vector_math/unsigned.h"

namespace mtf {
namespace {

constexpr std::size_t kMaxFileRank = 64;

struct WordType {
  std::string_view word;
  std::int64_t bytes;
  std::optional<DType> dtype;
  bool is_unsigned = false;
};
constexpr std::array<WordType, 17> kWordTypes{{{"F32", 4, DType::kF32},
                                               {"F64", 8, DType::kF64},
                                               {"BF16", 2, DType::kBF16},
                                               {"F16", 2, DType::kF16},
                                               {"I32", 4, DType::kI32},
                                               {"I64", 8, DType::kI64},
                                               {"I16", 2, DType::kI16},
                                               {"I8", 1, DType::kI8},
                                               {"U8", 1, DType::kU8},
                                               {"BOOL", 1, DType::kBool},
                                               {"U16", 2, widened_unsigned(2), true},
                                               {"U32", 4, widened_unsigned(4), true},
                                               {"U64", 8, widened_unsigned(8), true},
                                               {"F8_E4M3", 1, std::nullopt},
                                               {"F8_E5M2", 1, std::nullopt},
                                               {"F8_E8M0", 1, std::nullopt},
                                               {"C64", 8, std::nullopt}}};

const WordType* type_of_word(std::string_view word) {
  const auto* found = std::ranges::find(kWordTypes, word, &WordType::word);
  return found == kWordTypes.end() ? nullptr : found;
}

bool read_list(JsonReader& reader, std::size_t most, std::vector<std::int64_t>& numbers) {
  return reader.array([&] {
    const std::optional<std::int64_t> number = reader.whole();
    if (!number || numbers.size() == most) {
      return false;
    }
    numbers.push_back(*number);
    return true;
  });
}

bool read_tensor(JsonReader& reader, FileTensor& tensor) {
  std::vector<std::int64_t> place;
  bool has_sizes = false;
  const bool read = reader.object([&](const std::string& key) {
    if (key == "dtype") {
      const std::optional<std::string> word = reader.string();
      tensor.dtype = word.value_or("");
      return word.has_value();
    }
    if (key == "shape") {
      has_sizes = true;
      return tensor.sizes.empty() && read_list(reader, kMaxFileRank, tensor.sizes);
    }
    return key == "data_offsets" ? read_list(reader, 2, place) : reader.skip();
  });
  if (!read || !has_sizes || tensor.dtype.empty() || place.size() != 2) {
    return false;
  }
  tensor.begin = place[0];
  tensor.end = place[1];
  return true;
}

// Of all elements; nullopt beyond what can be counted.
std::optional<std::int64_t> bytes_of_tensor(const FileTensor& tensor, std::int64_t width) {
  std::int64_t bytes = width;
  for (const std::int64_t size : tensor.sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::string problem_of_place(const FileTensor& tensor, std::int64_t begin,
                             std::int64_t data_bytes) {
  const std::string name = in_backticks(tensor.name);
  if (tensor.end < tensor.begin || tensor.end > data_bytes) {
    return "is torn: " + name + " ends at byte " + std::to_string(tensor.end) + " of the " +
           std::to_string(data_bytes) + " bytes of data";
  }
  if (tensor.begin != begin) {
    return "has a header that cannot be right: " + name + " begins at byte " +
           std::to_string(tensor.begin) + ", and what is before it ends at byte " +
           std::to_string(begin);
  }
  const WordType* type = type_of_word(tensor.dtype);
  if (type != nullptr && bytes_of_tensor(tensor, type->bytes) != tensor.end - tensor.begin) {
    return "has a header that cannot be right: " + name + " has " +
           plural(tensor.end - tensor.begin, "byte") + ", not those of its shape";
  }
  return "";
}

std::string problem_of_places(const SafetensorsHeader& header, std::int64_t data_bytes) {
  std::int64_t begin = 0;
  for (const FileTensor& tensor : header.tensors) {
    std::string problem = problem_of_place(tensor, begin, data_bytes);
    if (!problem.empty()) {
      return problem;
    }
    begin = tensor.end;
  }
  const std::int64_t rest = data_bytes - begin;
  return rest == 0 ? ""
                   : "has " + plural(rest, "byte") + " behind its last tensor that " +
                         (rest == 1 ? "is" : "are") + " of none";
}

std::string repeated_name(const SafetensorsHeader& header) {
  std::set<std::string_view> seen;
  for (const FileTensor& tensor : header.tensors) {
    if (!seen.insert(tensor.name).second) {
      return tensor.name;
    }
  }
  return "";
}

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ",") + std::to_string(number);
  }
  return "[" + text + "]";
}

}  // namespace

std::optional<StoredType> stored_type(std::string_view word) {
  const WordType* type = type_of_word(word);
  if (type == nullptr || !type->dtype) {
    return std::nullopt;
  }
  return StoredType{.dtype = *type->dtype, .bytes = type->bytes, .is_unsigned = type->is_unsigned};
}

std::string_view word_of(DType dtype) {
  return std::ranges::find(kWordTypes, dtype, &WordType::dtype)->word;  // the signed one is first
}

std::string read_header(std::string_view json, std::int64_t data_bytes, SafetensorsHeader& header) {
  JsonReader reader(json);
  const auto read_note = [&](const std::string& key) {
    std::optional<std::string> text = reader.string();
    header.notes.insert_or_assign(key, text.value_or(""));
    return text.has_value();
  };
  const bool read = reader.object([&](const std::string& key) {
    if (key == "__metadata__") {
      return reader.object(read_note);
    }
    FileTensor tensor{.name = key, .dtype = {}, .sizes = {}};
    const bool is_tensor = read_tensor(reader, tensor);
    header.tensors.push_back(std::move(tensor));
    return is_tensor;
  });
  if (!read || !reader.at_end()) {
    return "has a header that cannot be read, at byte " +
           std::to_string(json.size() - reader.left()) + " of it";
  }
  std::ranges::stable_sort(header.tensors, [](const FileTensor& a, const FileTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  if (const std::string name = repeated_name(header); !name.empty()) {
    return "names " + in_backticks(name) + " twice";
  }
  return problem_of_places(header, data_bytes);
}

std::string header_bytes(const SafetensorsHeader& header) {
  constexpr std::size_t kLength = 8;
  constexpr std::size_t kAlign = 64;
  std::string json = "{";
  if (!header.notes.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, text] : header.notes) {
      json += (json.back() == '{' ? "" : ",") + json_string(key) + ":" + json_string(text);
    }
    json += "}";
  }
  for (const FileTensor& tensor : header.tensors) {
    json += (json.size() == 1 ? "" : ",") + json_string(tensor.name) +
            ":{\"dtype\":" + json_string(tensor.dtype) +
            ",\"shape\":" + numbers_text(tensor.sizes) +
            ",\"data_offsets\":" + numbers_text({tensor.begin, tensor.end}) + "}";
  }
  json += "}";
  json += std::string((kAlign - (kLength + json.size()) % kAlign) % kAlign, ' ');
  std::string bytes;
  for (std::size_t i = 0; i < kLength; ++i) {
    bytes += static_cast<char>((json.size() >> (8 * i)) & 0xFFU);
  }
  return bytes + json;
}

}  // namespace mtf
