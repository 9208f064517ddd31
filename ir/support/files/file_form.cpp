#include "ir/support/files/file_form.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace mtf {
namespace {

struct Form {
  std::string_view begin;
  std::string_view text;
};

// A pickle's second byte is its version. That of `torch.save` before its zip files is 2.
constexpr std::array kForms = {
    Form{.begin = "\x93NUMPY", .text = "is a .npy file, which `load` reads"},
    Form{.begin = "\x1F\x8B", .text = "is compressed by gzip; `gunzip` makes the file of it"},
    Form{.begin = "\x89HDF",
         .text = "is an HDF5 file; `numpy.save` writes its arrays as `load` reads them"},
    Form{.begin = "PAR1",
         .text = "is a Parquet file; `to_csv` of the Python package pandas makes "
                 "the table of it that `read_csv` reads"},
    Form{.begin = "\x80\x02",
         .text = "is a Python pickle, as `torch.save` writes; of what is in it `save_file` of the "
                 "Python package safetensors makes one that `restore` reads"},
    Form{.begin = "\x80\x04",
         .text = "is a Python pickle; `numpy.save` writes arrays as `load` "
                 "reads them"},
};

std::string_view text_in(std::span<const std::byte> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): any object may be read as chars
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint8_t byte_at(std::string_view start, std::size_t i) {
  return static_cast<std::uint8_t>(start[i]);
}

// The length of a header below 2^32, and the header.
bool is_safetensors(std::string_view start) {
  return start.size() > 8 && start.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
         start[8] == '{';
}

// Two zeros, what its numbers are, how many dims, and the size of each in four bytes: MNIST's.
std::string idx_form(std::string_view start) {
  constexpr std::uint8_t kBytes = 8;
  constexpr std::uint8_t kMostDims = 4;
  const bool is_one = start.size() > 4 && byte_at(start, 0) == 0 && byte_at(start, 1) == 0 &&
                      byte_at(start, 2) == kBytes && byte_at(start, 3) >= 1 &&
                      byte_at(start, 3) <= kMostDims;
  return is_one ? "is an IDX file, as MNIST has them; `read_bytes(PATH, dtype = u8)` reads it, its "
                  "numbers from byte " +
                      std::to_string(4 + 4 * byte_at(start, 3)) + " on"
                : "";
}

}  // namespace

std::string form_of(std::span<const std::byte> start) {
  const std::string_view text = text_in(start);
  if (is_safetensors(text)) {
    return "is a checkpoint, which `restore` reads";
  }
  for (const Form& form : kForms) {
    if (text.starts_with(form.begin)) {
      return std::string(form.text);
    }
  }
  return idx_form(text);
}

std::string no_text(std::span<const std::byte> start) {
  if (std::string form = form_of(start.first(std::min(start.size(), kFormBytes))); !form.empty()) {
    return form;
  }
  const std::string_view text = text_in(start.first(std::min(start.size(), kTextBytes)));
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return "is text in UTF-16; mtf reads and writes text in UTF-8";
  }
  const std::size_t zero = text.find('\0');
  return zero == std::string_view::npos ? "" : "is no text: byte " + std::to_string(zero) + " is 0";
}

}  // namespace mtf
