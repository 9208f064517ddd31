// Text in columns.

#include "ir/support/columns.h"

#include <catch2/catch.hpp>

namespace mtf {

TEST_CASE("cells of a column start below each other") {
  const std::vector<Row> rows = {{"a", "one"}, {"größe", "two"}};
  CHECK(in_columns(rows) == "  a      one\n  größe  two\n");
}

TEST_CASE("an empty column takes no room, an empty row is an empty line") {
  const std::vector<Row> rows = {{"a", "", "x"}, {}, {"b", "", "y"}};
  CHECK(in_columns(rows, {.indent = 0}) == "a  x\n\nb  y\n");
}

TEST_CASE("a cell beyond the limit pushes only its own line") {
  const std::vector<Row> rows = {{"a long cell", "x"}, {"b", "y"}};
  CHECK(in_columns(rows, {.indent = 0, .widest = 4}) == "a long cell  x\nb  y\n");
}

TEST_CASE("numbers are aligned on the right") {
  const std::vector<Row> rows = {{"a", "7"}, {"b", "10"}};
  CHECK(in_columns(rows, {.indent = 0, .right = {1}}) == "a   7\nb  10\n");
}

TEST_CASE("a line that is too long goes on under its last cell") {
  const std::vector<Row> rows = {{"a", "one two three four five six seven eight nine"}, {"b", "c"}};
  CHECK(in_columns(rows, {.width = 30}) ==
        "  a  one two three four five\n"
        "     six seven eight nine\n"
        "  b  c\n");
  CHECK(in_columns(rows, {.width = 20}).find("one two three four five six") != std::string::npos);
}

}  // namespace mtf
