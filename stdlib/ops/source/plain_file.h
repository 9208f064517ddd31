// Files as bytes and lines. Nothing is allocated by their word but as long as they are.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

// A file that is open for reading; closed when it goes.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  PlainFile(PlainFile&&) = delete;
  PlainFile& operator=(PlainFile&&) = delete;

  [[nodiscard]] const std::string& problem() const { return problem_; }  // "" or why it is not open
  [[nodiscard]] std::int64_t size() const { return size_; }
  // False if the file ends before.
  [[nodiscard]] bool read(std::int64_t first, std::span<std::byte> out) const;

 private:
  int file_ = -1;
  std::int64_t size_ = 0;
  std::string problem_;
};

// A table of numbers: rows of equally many columns.
struct CsvTable {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> numbers;  // row by row
  std::string problem;          // "" or what is wrong, with the place in the file
};

struct CsvForm {
  bool header = false;  // the first line names the columns
  char separator = ',';
};

[[nodiscard]] CsvTable parse_csv(std::string_view text, const CsvForm& form);

// A line at the end of the file, which is made if it is not there: all of it or nothing. Returns ""
// or what went wrong.
[[nodiscard]] std::string append_line(const std::string& path, std::string_view line);

}  // namespace mtf
