// Reading, in one pass: files of long runs have some million lines.

#include "frontend/driver/metrics/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "frontend/driver/metrics/curve_reader.h"
#include "frontend/driver/metrics/metrics_file.h"
#include "frontend/report/json_parts.h"
#include "frontend/report/quantity.h"
#include "ir/support/file.h"
#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

// Of a file without curves.
std::string found_in_text(const CurveReader& reader, std::int64_t lines, bool is_table,
                          bool is_cut) {
  if (reader.has_infinite()) {
    return "the numbers of its " + count_text(lines, "line") + " are all infinite or NaN";
  }
  if (lines == 0) {
    return is_cut ? "its first line is not finished" : "the file is empty";
  }
  if (is_table && lines == 1) {
    return "there is no row below the header";
  }
  const std::int64_t records = is_table ? lines - 1 : lines;
  const std::string_view noun = is_table ? "row" : "line";
  const std::string numbers = "a whole number for `step` and other numbers beside it";
  return (records == 1 ? "its only " + std::string(noun)
                       : "none of its " + count_text(records, noun)) +
         (is_table ? (records == 1 ? " has not " : " has ")
                   : (records == 1 ? " is no JSON object with " : " is a JSON object with ")) +
         numbers;
}

// With null for NaN and infinities that stand in it as Python writes them, and JSON does not.
std::string without_infinite(std::string_view line) {
  static constexpr std::array<std::string_view, 3> kWords = {"NaN", "-Infinity", "Infinity"};
  std::string text;
  bool quoted = false;
  while (!line.empty()) {
    const auto* const word = std::ranges::find_if(
        kWords, [&](std::string_view one) { return !quoted && line.starts_with(one); });
    const std::size_t escaped = quoted && line.starts_with('\\') ? 1 : 0;
    const std::size_t taken =
        word != kWords.end() ? word->size() : std::min(line.size(), 1 + escaped);
    quoted = quoted != (escaped == 0 && line.starts_with('"'));
    text += word != kWords.end() ? "null" : line.substr(0, taken);
    line.remove_prefix(taken);
  }
  return text;
}

void read_json_line(std::string_view line, CurveReader& reader) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    json = Json::parse(without_infinite(line), nullptr, /*allow_exceptions=*/false);
  }
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) {
    return;
  }
  const auto entry = json.find("entry");
  const std::string of =
      entry != json.end() && entry->is_string() ? entry->get<std::string>() : std::string();
  for (const auto& [name, value] : json.items()) {
    if (name != "step" && name != "time" && (value.is_number() || value.is_null())) {
      reader.add({.entry = of}, name, json["step"].get<std::int64_t>(),
                 value.is_null() ? std::nan("") : value.get<double>());
    }
  }
}

struct TableHead {
  std::vector<std::string> columns;
  std::size_t step = 0;
  std::size_t entry = 0;  // there may be none
};

TableHead table_head(std::string_view line) {
  TableHead head;
  for (const std::string_view field : fields_of(line)) {
    head.columns.emplace_back(field);
  }
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(head.columns, name) - head.columns.begin());
  };
  head.step = place("step");
  head.entry = place("entry");
  return head;
}

void read_row(const TableHead& head, std::string_view line, CurveReader& reader) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() != head.columns.size()) {
    return;
  }
  const std::optional<std::int64_t> step = parse_number<std::int64_t>(fields[head.step]);
  const std::string entry(head.entry < fields.size() ? fields[head.entry] : "");
  for (std::size_t i = 0; step && i < fields.size(); ++i) {
    const bool is_value = i != head.step && i != head.entry && head.columns[i] != "time";
    const std::optional<double> value = parse_number<double>(fields[i]);
    if (is_value && value) {
      reader.add({.entry = entry}, head.columns[i], *step, *value);
    }
  }
}

// Of halves: between the least double and the greatest there are more than a double can say.
double share_of_span(double low, double x, double high) {
  return high > low ? (x / 2 - low / 2) / (high / 2 - low / 2) : 0;
}

Curves curves_of_text(std::string_view rest, bool is_table) {
  CurveReader reader;
  TableHead head;
  std::int64_t lines = 0;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    ++lines;
    if (!is_table) {
      read_json_line(line, reader);
    } else if (head.columns.empty()) {
      head = table_head(line);
      if (head.step == head.columns.size()) {
        return {.curves = {}, .problem = "has no column `step`", .found = {}};
      }
    } else {
      read_row(head, line, reader);
    }
  }
  const std::string found = found_in_text(reader, lines, is_table, !rest.empty());
  return {.curves = reader.take(), .problem = {}, .found = found};
}

}  // namespace

double CurveBounds::across(std::int64_t step) const {
  return share_of_span(left, static_cast<double>(step), right);
}

double CurveBounds::up(double value) const {
  return share_of_span(bottom, value, top);
}

CurveBounds bounds_of(const Curve2d& curve) {
  const auto [first, last] = std::ranges::minmax_element(curve.points);
  const auto by_value = [](const auto& point) { return point.second; };
  const auto [least, most] = std::ranges::minmax_element(curve.points, {}, by_value);
  return {.left = static_cast<double>(first->first),
          .right = static_cast<double>(last->first),
          .bottom = least->second,
          .top = most->second};
}

Curves read_curves(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error) || is_event_file(path)) {
    return event_curves(path);
  }
  std::string text;
  std::string problem = read_whole(path, text);
  return problem.empty() ? curves_of_text(text, path.ends_with(".csv"))
                         : Curves{.curves = {}, .problem = std::move(problem), .found = {}};
}

std::optional<MetricsStamp> metrics_stamp(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files{path};
  if (std::filesystem::is_directory(path, error)) {
    files.clear();
    for (const EventRun& run : event_runs(path)) {
      files.insert(files.end(), run.files.begin(), run.files.end());
    }
  }
  MetricsStamp stamp;
  for (const std::string& file : files) {
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    const auto written = error ? stamp.written : std::filesystem::last_write_time(file, error);
    if (error) {
      return std::nullopt;
    }
    stamp = {.bytes = stamp.bytes + bytes, .written = std::max(stamp.written, written)};
  }
  return stamp;
}

}  // namespace mtf
