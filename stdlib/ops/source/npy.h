// Files of NumPy's .npy format: one array each. Written row-major and little-endian; read in
// Fortran order and big-endian, too.
//
// A file is never trusted: its header is read in bounds, and nothing is allocated by its word.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/shape.h"

namespace mtf {

struct NpyInfo {
  DType dtype = DType::kF32;      // of what is read
  std::int64_t stored_bytes = 0;  // of an element in the file
  bool is_unsigned = false;       // of 16 bits or more: read as a wider integer
  bool is_big_endian = false;
  std::vector<std::int64_t> sizes;
  bool in_fortran_order = false;  // the first dim is the one whose elements are neighbours
  std::int64_t data_begin = 0;    // where the elements start in the file
  std::string problem;            // "" or why the file cannot be read, as a message
  bool missing = false;           // there is no file of that name
};

// An open file, closed when it goes.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path);
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;
  NpyFile(NpyFile&&) = delete;
  NpyFile& operator=(NpyFile&&) = delete;

  [[nodiscard]] const NpyInfo& info() const { return info_; }
  // Reads elements [first, first + out.size() / element size). "" or what went wrong, as a message:
  // the file ends before, or has a number that the dtype has not.
  [[nodiscard]] std::string read(std::int64_t first, std::span<std::byte> out) const;

 private:
  // Elements as the file has them, but little-endian; false: it ends before.
  [[nodiscard]] bool read_stored(std::int64_t first, std::span<std::byte> out) const;

  int file_ = -1;
  NpyInfo info_;
};

[[nodiscard]] std::string to_string(const std::vector<std::int64_t>& sizes);  // "[60000, 28]"

// Writes to a temporary name beside it and renames, so that a crash leaves the old file, and so
// does this where that is none of NumPy's. Returns "" or what went wrong.
[[nodiscard]] std::string write_npy(const std::string& path, const TensorType& type,
                                    std::span<const std::byte> data);
// The same of numbers in a row that come piece by piece: `produce` hands each piece on.
using PutElements = std::function<void(std::span<const std::byte>)>;
[[nodiscard]] std::string write_npy_row(const std::string& path, DType dtype,
                                        const std::function<void(const PutElements&)>& produce);

}  // namespace mtf
