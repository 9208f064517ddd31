#include "frontend/driver/metrics/metrics_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>

#include "frontend/driver/metrics/event_file.h"
#include "frontend/report/json_parts.h"
#include "ir/support/file.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

constexpr std::string_view kStepColumn = "step";
constexpr std::string_view kEntryColumn = "entry";
constexpr std::string_view kTimeColumn = "time";

// A record as it lies in a file; without a step it stays whatever is cut.
struct MetricsChunk {
  std::string_view bytes;
  std::string entry;
  std::optional<std::int64_t> step;
};

std::string_view take_whole_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n') + 1);
  text.remove_prefix(line.empty() ? text.size() : line.size());  // one without an end is left out
  return line;
}

std::vector<MetricsChunk> line_chunks(std::string_view text) {
  std::vector<MetricsChunk> chunks;
  while (!text.empty()) {
    const std::string_view line = take_whole_line(text);
    if (line.empty()) {
      continue;
    }
    MetricsChunk& chunk = chunks.emplace_back(MetricsChunk{.bytes = line, .entry = {}, .step = {}});
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains(kStepColumn) && json[kStepColumn].is_number_integer()) {
      chunk.step = json[kStepColumn].get<std::int64_t>();
      const auto entry = json.find(kEntryColumn);
      chunk.entry = entry != json.end() && entry->is_string() ? entry->get<std::string>() : "";
    }
  }
  return chunks;
}

std::vector<MetricsChunk> table_chunks(std::string_view text) {
  std::vector<MetricsChunk> chunks;
  const std::string_view head = take_whole_line(text);
  if (head.empty()) {
    return chunks;
  }
  chunks.push_back({.bytes = head, .entry = {}, .step = {}});
  const std::vector<std::string_view> columns = fields_of(head);
  const auto field = [&](const std::vector<std::string_view>& fields, std::string_view name) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
    return column < fields.size() ? fields[column] : std::string_view();
  };
  while (!text.empty()) {
    const std::string_view row = take_whole_line(text);
    if (row.empty()) {
      continue;
    }
    const std::vector<std::string_view> fields = fields_of(row);
    MetricsChunk& chunk = chunks.emplace_back(
        MetricsChunk{.bytes = row, .entry = std::string(field(fields, kEntryColumn)), .step = {}});
    chunk.step = parse_number<std::int64_t>(field(fields, kStepColumn));
  }
  return chunks;
}

std::vector<MetricsChunk> event_chunks(std::string_view bytes) {
  std::vector<MetricsChunk> chunks;
  while (std::optional<ReadEvent> event = first_event(bytes)) {
    bytes.remove_prefix(event->bytes.size());
    chunks.push_back(
        {.bytes = event->bytes, .entry = std::move(event->entry), .step = event->step});
  }
  return chunks;
}

double real_time(double time) {
  constexpr double kMillisecond = 1e3;
  return std::round(time * kMillisecond) / kMillisecond;
}

// JSON has no word for what is no number.
std::string json_number(double value) {
  return std::isfinite(value) ? metric_number(value) : "null";
}

std::string metrics_line(const MetricsRecord& record) {
  std::string line = R"({"step":)" + std::to_string(record.step);
  if (!record.entry.empty()) {
    line += R"(,"entry":")" + record.entry + '"';
  }
  for (const auto& [name, value] : record.values) {
    line += ",\"" + name + "\":" + json_number(value);
  }
  return line + R"(,"time":)" + fixed(real_time(record.time), 3) + "}";
}

std::string metric_in(const MetricsRecord& record, std::string_view column) {
  if (column == kStepColumn) {
    return std::to_string(record.step);
  }
  if (column == kEntryColumn) {
    return record.entry;
  }
  if (column == kTimeColumn) {
    return fixed(real_time(record.time), 3);
  }
  const auto found =
      std::ranges::find(record.values, column, &std::pair<std::string, double>::first);
  return found == record.values.end() ? "" : metric_number(found->second);
}

std::string joined_fields(std::span<const std::string> fields) {
  std::string row;
  for (const std::string& field : fields) {
    row += (&field == fields.data() ? "" : ",") + field;
  }
  return row;
}

}  // namespace

std::string metric_number(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value) {
    return shortest(value);
  }
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), narrow);
  return {text.data(), end};
}

std::vector<std::string_view> fields_of(std::string_view row) {
  for (const char end : {'\n', '\r'}) {  // other programs end a row with both
    row.remove_suffix(row.ends_with(end) ? 1 : 0);
  }
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at <= row.size();) {
    const std::size_t end = std::min(row.find(',', at), row.size());
    fields.push_back(row.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

bool is_metrics_path(std::string_view path) {
  return path.ends_with(".jsonl") || path.ends_with(".csv") || path.ends_with('/');
}

MetricsFile::MetricsFile(std::string path)
    : kind_(path.ends_with('/')        ? Kind::kEvents
            : path.ends_with(".jsonl") ? Kind::kLines
                                       : Kind::kTable),
      path_(std::move(path)) {
  path_ += kind_ == Kind::kEvents ? kEventFile : "";
}

std::string MetricsFile::obstacle() const {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, error);
  }
  if (error) {
    return error.message();
  }
  std::string problem = append_bytes(path_, "");
  return problem.empty() && !is_ours(text_of(path_).value_or("")) ? "it is no file of metrics"
                                                                  : problem;
}

// Whether it may have been written here, as far as its beginning shows.
bool MetricsFile::is_ours(std::string_view text) const {
  if (text.empty()) {
    return true;
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  return kind_ == Kind::kLines   ? line.starts_with(R"({"step":)")
         : kind_ == Kind::kTable ? line.starts_with("step,entry,time")
                                 : first_event(text).has_value();
}

std::string MetricsFile::cut(const IsStale& is_stale) {
  const std::optional<std::string> text = text_of(path_);
  if (!text) {
    return "";  // nothing is there
  }
  const std::vector<MetricsChunk> chunks = kind_ == Kind::kLines   ? line_chunks(*text)
                                           : kind_ == Kind::kTable ? table_chunks(*text)
                                                                   : event_chunks(*text);
  std::string kept;
  for (const MetricsChunk& chunk : chunks) {
    const bool goes = chunk.step && is_stale(chunk.entry, *chunk.step);
    kept += goes ? "" : chunk.bytes;
  }
  return kept.size() == text->size() ? "" : replace_file(path_, kept);
}

std::string MetricsFile::append(const MetricsRecord& record) {
  if (kind_ == Kind::kLines) {
    return append_line(path_, metrics_line(record));
  }
  if (kind_ == Kind::kTable) {
    return append_row(record);
  }
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path_, ignored);
  const bool is_empty = size == 0 || size == static_cast<std::uintmax_t>(-1);
  return append_bytes(path_, (is_empty ? event_file_begin(record.time) : "") + event_of(record));
}

std::string MetricsFile::append_row(const MetricsRecord& record) {
  const bool is_new = std::ranges::any_of(record.values, [&](const auto& value) {
    return std::ranges::find(columns_, value.first) == columns_.end();
  });
  if (is_new) {
    std::string problem = add_columns(record);
    if (!problem.empty()) {
      return problem;
    }
  }
  std::vector<std::string> fields;
  for (const std::string& column : columns_) {
    fields.push_back(metric_in(record, column));
  }
  return append_line(path_, joined_fields(fields));
}

// What the file has gets empty fields in them.
std::string MetricsFile::add_columns(const MetricsRecord& record) {
  std::string text = text_of(path_).value_or("");
  std::string_view rest = text;
  std::vector<std::string> columns;
  for (const std::string_view column : fields_of(take_whole_line(rest))) {
    if (!column.empty()) {
      columns.emplace_back(column);
    }
  }
  const std::size_t before = columns.size();
  const auto add = [&](std::string_view column) {
    if (std::ranges::find(columns, column) == columns.end()) {
      columns.emplace_back(column);
    }
  };
  std::ranges::for_each(std::array{kStepColumn, kEntryColumn, kTimeColumn}, add);
  for (const auto& [name, value] : record.values) {
    add(name);
  }
  if (columns.size() > before) {
    std::string all = joined_fields(columns) + "\n";
    while (!rest.empty()) {
      const std::string_view row = take_whole_line(rest);
      all += row.empty() ? ""
                         : std::string(row.substr(0, row.size() - 1)) +
                               std::string(columns.size() - before, ',') + "\n";
    }
    std::string problem = replace_file(path_, all);
    if (!problem.empty()) {
      return problem;
    }
  }
  columns_ = std::move(columns);
  return "";
}

}  // namespace mtf
