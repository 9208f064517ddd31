// Reading, in one pass: files of long runs have some million lines.

#include "frontend/driver/metrics/curves.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "frontend/driver/metrics/metrics_file.h"
#include "frontend/report/json_parts.h"
#include "frontend/report/quantity.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

bool is_rate(std::string_view name) {
  return name == "seconds" || name == "share_of_peak" || name.ends_with("_per_second");
}

class CurveReader {
 public:
  void add(const std::string& entry, std::string_view name, std::int64_t step, double value) {
    if (!std::isfinite(value)) {
      ++infinite_;
      return;
    }
    entries_.insert(entry);
    const auto [place, is_new] =
        places_.try_emplace({entry, std::string(name)}, static_cast<std::size_t>(curves_.size()));
    if (is_new) {
      curves_.push_back({.name = std::string(name), .points = {}, .is_rate = is_rate(name)});
      of_entry_.push_back(entry);
    }
    curves_[place->second].points.emplace_back(step, value);
  }

  // Of a file without curves.
  [[nodiscard]] std::string found(std::int64_t lines, bool is_table, bool is_cut) const {
    if (infinite_ > 0) {
      return "the numbers of its " + count_text(lines, "line") + " are all infinite or NaN";
    }
    if (lines == 0) {
      return is_cut ? "its first line is not finished" : "the file is empty";
    }
    if (is_table) {
      return lines == 1 ? "there is no row below the header"
                        : "none of its " + count_text(lines - 1, "row") +
                              " has a whole number for `step` and other numbers beside it";
    }
    return "none of its " + count_text(lines, "line") +
           " is a JSON object with a whole number for `step` and other numbers beside it";
  }

  std::vector<Curve2d> take() {
    for (std::size_t i = 0; entries_.size() > 1 && i < curves_.size(); ++i) {
      curves_[i].name = (of_entry_[i].empty() ? "" : of_entry_[i] + "/") + curves_[i].name;
    }
    return std::move(curves_);
  }

 private:
  std::vector<Curve2d> curves_;
  std::vector<std::string> of_entry_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  std::set<std::string> entries_;
  std::int64_t infinite_ = 0;  // numbers
};

void read_json_line(std::string_view line, CurveReader& reader) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) {
    return;
  }
  const auto entry = json.find("entry");
  const std::string of =
      entry != json.end() && entry->is_string() ? entry->get<std::string>() : std::string();
  for (const auto& [name, value] : json.items()) {
    if (name != "step" && name != "time" && (value.is_number() || value.is_null())) {
      reader.add(of, name, json["step"].get<std::int64_t>(),
                 value.is_null() ? std::nan("") : value.get<double>());
    }
  }
}

template <typename Number>
std::optional<Number> number_of_field(std::string_view field) {
  Number number{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc{} && end == field.data() + field.size() ? std::optional(number)
                                                                    : std::nullopt;
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
  const std::optional<std::int64_t> step = number_of_field<std::int64_t>(fields[head.step]);
  const std::string entry(head.entry < fields.size() ? fields[head.entry] : "");
  for (std::size_t i = 0; step && i < fields.size(); ++i) {
    const bool is_value = i != head.step && i != head.entry && head.columns[i] != "time";
    const std::optional<double> value = number_of_field<double>(fields[i]);
    if (is_value && value) {
      reader.add(entry, head.columns[i], *step, *value);
    }
  }
}

// Of halves: between the least double and the greatest there are more than a double can say.
double share_of_span(double low, double x, double high) {
  return high > low ? (x / 2 - low / 2) / (high / 2 - low / 2) : 0;
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
  if (std::filesystem::is_directory(path, error)) {
    return {.curves = {},
            .problem =
                "is a folder, which TensorBoard draws; `--metrics x.jsonl` beside it writes a "
                "file to watch",
            .found = {}};
  }
  const PlainFile file(path);
  if (!file.problem().empty()) {
    return {.curves = {}, .problem = file.problem(), .found = {}};
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read(0, std::as_writable_bytes(std::span(text)))) {
    return {.curves = {}, .problem = "ended while it was read", .found = {}};
  }
  CurveReader reader;
  TableHead head;
  const bool is_table = path.ends_with(".csv");
  std::string_view rest = text;
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
  return {.curves = reader.take(),
          .problem = {},
          .found = reader.found(lines, is_table, !rest.empty())};
}

}  // namespace mtf
