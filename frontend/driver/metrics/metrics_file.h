// A file that records are appended to while a program trains, each whole or not at all.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtf {

struct MetricsRecord {
  std::string entry;  // the function that trains; may be empty
  std::int64_t step = 0;
  double time = 0;  // seconds since 1970
  std::vector<std::pair<std::string, double>> values;
};

// Of an entry and a step.
using IsStale = std::function<bool(std::string_view, std::int64_t)>;

class MetricsFile {
 public:
  // requires: `is_metrics_path`
  explicit MetricsFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  // "" or why nothing can be written there; makes the file, and the folder it is in.
  [[nodiscard]] std::string obstacle() const;
  // Removes what is stale, and a record that was not finished. "" or what went wrong.
  [[nodiscard]] std::string cut(const IsStale& is_stale);
  [[nodiscard]] std::string append(const MetricsRecord& record);

 private:
  enum class Kind : std::uint8_t { kLines, kTable, kEvents };

  [[nodiscard]] bool is_ours(std::string_view text) const;
  [[nodiscard]] std::string append_row(const MetricsRecord& record);
  [[nodiscard]] std::string add_columns(const MetricsRecord& record);

  Kind kind_;
  std::string path_;
  std::vector<std::string> columns_;  // of a table, once they are known
};

// Whether the name says what is to be written: x.jsonl, x.csv, or a folder x/ for TensorBoard.
[[nodiscard]] bool is_metrics_path(std::string_view path);

// A number that reads back as the same, of an f32 as the same f32; "nan" and "inf" where it is
// none.
[[nodiscard]] std::string metric_number(double value);
// The fields of a row; no field of ours has a comma in it.
[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view row);

}  // namespace mtf
