// Places in source text.

#include "ir/support/source.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

std::string place(const SourceMap& sources, FileId file, std::uint32_t offset) {
  const Place at = sources.place(file, offset);
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

TEST_CASE("columns count code points, lines start at one") {
  SourceMap sources;
  const FileId file = sources.add({.name = "a", .path = "", .text = "ab\nén𝛼x\n\nz"});
  CHECK(place(sources, file, 0) == "1:1");
  CHECK(place(sources, file, 2) == "1:3");
  CHECK(place(sources, file, 3) == "2:1");
  CHECK(place(sources, file, 5) == "2:2");
  CHECK(place(sources, file, 6) == "2:3");
  CHECK(place(sources, file, 10) == "2:4");
  CHECK(place(sources, file, 12) == "3:1");
  CHECK(place(sources, file, 13) == "4:1");
  CHECK(place(sources, file, 14) == "4:2");
  CHECK(place(sources, file, 1000) == "4:2");
}

TEST_CASE("an empty text has one place") {
  SourceMap sources;
  const FileId file = sources.add({.name = "a", .path = "", .text = ""});
  CHECK(place(sources, file, 0) == "1:1");
  CHECK(sources.line(file, 1).empty());
}

TEST_CASE("lines come without their ends") {
  SourceMap sources;
  const FileId file = sources.add({.name = "a", .path = "", .text = "one\r\n\ntwo"});
  CHECK(sources.line(file, 1) == "one");
  CHECK(sources.line(file, 2).empty());
  CHECK(sources.line(file, 3) == "two");
  CHECK(sources.line(file, 0).empty());
  CHECK(sources.line(file, 4).empty());
}

TEST_CASE("files stay where they are while others are added") {
  SourceMap sources;
  const FileId first = sources.add({.name = "folder/first.mtf", .path = "", .text = "x\ny"});
  const SourceFile& held = sources.file(first);
  for (int i = 0; i < 1000; ++i) {
    static_cast<void>(sources.add({.name = "other", .path = "", .text = "z"}));
  }
  CHECK(&held == &sources.file(first));
  CHECK(sources.short_place({.file = first, .begin = 2, .end = 3}) == "first.mtf:2");
  CHECK(sources.short_place({}).empty());
}

TEST_CASE("joined spans reach from the first to the last") {
  const SourceSpan from{.file = {0}, .begin = 2, .end = 3};
  const SourceSpan to{.file = {0}, .begin = 7, .end = 9};
  CHECK(join(from, to) == SourceSpan{.file = {0}, .begin = 2, .end = 9});
}

}  // namespace
}  // namespace mtf
