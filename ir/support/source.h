// Source text and places in it: what every diagnostic, value and layout rule points back to.
//
// A span is a half-open byte range of one file. Files live in a `SourceMap` for the whole run, so
// a span stays valid and is cheap to copy.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

struct FileId {
  std::int32_t index = -1;

  [[nodiscard]] bool valid() const { return index >= 0; }
  friend bool operator==(FileId, FileId) = default;
};

struct SourceSpan {
  FileId file;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

struct SourceFile {
  std::string name;  // as it is shown to people
  std::string path;  // as it was opened; empty for text that came from no file
  std::string text;
  bool is_library = false;  // a standard module
};

// Without their line ends; a text that ends in one has no line behind it.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

// 1-based; columns count code points, so that a caret stands under the right character.
struct Place {
  std::int32_t line = 0;
  std::int32_t column = 0;
};

class SourceMap {
 public:
  FileId add(SourceFile file);
  [[nodiscard]] const SourceFile& file(FileId id) const;  // requires: valid
  [[nodiscard]] Place place(FileId id, std::uint32_t offset) const;
  // Without its line end; empty past the last line.
  [[nodiscard]] std::string_view line(FileId id, std::int32_t line) const;
  // "two_layer.mtf:18"; the folder is left out. Empty for a span without a file.
  [[nodiscard]] std::string short_place(SourceSpan span) const;

 private:
  struct Entry {
    SourceFile file;
    std::vector<std::uint32_t> line_starts;
  };

  [[nodiscard]] const Entry& entry(FileId id) const;

  std::deque<Entry> files_;  // a deque, so that references stay valid while files are added
};

// From the start of `from` to the end of `to`; requires: the same file.
[[nodiscard]] SourceSpan join(SourceSpan from, SourceSpan to);

}  // namespace mtf
