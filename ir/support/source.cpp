// Lines are found once, when a file is added; a place is then a binary search and a count.

#include "ir/support/source.h"

#include <algorithm>
#include <cassert>

#include "ir/support/text/lists.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

std::vector<std::uint32_t> line_starts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    starts.push_back(static_cast<std::uint32_t>(end + 1));
  }
  return starts;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  return pieces_of(text, '\n');
}

FileId SourceMap::add(SourceFile file) {
  std::vector<std::uint32_t> starts = line_starts(file.text);
  files_.push_back({.file = std::move(file), .line_starts = std::move(starts)});
  return {static_cast<std::int32_t>(files_.size() - 1)};
}

const SourceMap::Entry& SourceMap::entry(FileId id) const {
  assert(id.valid());
  return files_[static_cast<std::size_t>(id.index)];
}

const SourceFile& SourceMap::file(FileId id) const {
  return entry(id).file;
}

Place SourceMap::place(FileId id, std::uint32_t offset) const {
  const Entry& from = entry(id);
  const std::string_view text = from.file.text;
  const std::size_t end = std::min<std::size_t>(offset, text.size());
  const auto after = std::ranges::upper_bound(from.line_starts, static_cast<std::uint32_t>(end));
  const std::string_view before = text.substr(*(after - 1), end - *(after - 1));
  return {.line = static_cast<std::int32_t>(after - from.line_starts.begin()),
          .column = static_cast<std::int32_t>(code_points(before)) + 1};
}

std::string_view SourceMap::line(FileId id, std::int32_t line) const {
  const Entry& from = entry(id);
  if (line < 1 || static_cast<std::size_t>(line) > from.line_starts.size()) {
    return {};
  }
  std::string_view text = from.file.text;
  text.remove_prefix(from.line_starts[static_cast<std::size_t>(line) - 1]);
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

std::string SourceMap::short_place(SourceSpan span) const {
  if (!span.file.valid()) {
    return {};
  }
  const std::string& name = file(span.file).name;
  const std::size_t slash = name.rfind('/');
  return name.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(place(span.file, span.begin).line);
}

SourceSpan join(SourceSpan from, SourceSpan to) {
  assert(from.file == to.file);
  return {.file = from.file, .begin = from.begin, .end = to.end};
}

}  // namespace mtf
