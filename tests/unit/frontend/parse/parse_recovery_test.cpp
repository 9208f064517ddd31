// Recovery: after a mistake, parsing goes on where the next statement starts.

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

using Errors = std::vector<std::string>;

TEST_CASE("every wrong statement of a file is reported, the right ones are not") {
  CHECK(errors("let 3 = 4\nlet x = 1\nlet y = = 2\nx = )\nprint x x\n") ==
        Errors{"1:5 `let` needs a name, found `3`",
               "3:9 found `=` where an expression was expected", "4:5 this `)` closes nothing",
               "5:9 found `x` where the statement should end"});
}

TEST_CASE("a mistake inside a block does not end the block") {
  CHECK(
      errors("fn f(a) {\n  let = 3\n  if a {\n    b c\n    d\n  }\n  return e f\n}\nlet 4 = g\n") ==
      Errors{"2:7 `let` needs a name, found `=`", "4:7 found `c` where the statement should end",
             "7:12 found `f` where the statement should end", "9:5 `let` needs a name, found `4`"});
}

TEST_CASE("a broken header does not hide its block") {
  CHECK(errors("fn f(a, 3) {\n  let = 3\n}\nfor in {\n  b c\n}\nd e\n") ==
        Errors{"1:9 found `3` where a name was expected", "2:7 `let` needs a name, found `=`",
               "4:8 found `{` where `in` was expected",
               "5:5 found `c` where the statement should end",
               "7:3 found `e` where the statement should end"});
  CHECK(errors("layout l in m {\n  a -> b\n  c d\n}\ne f\n") ==
        Errors{"1:10 `in` means nothing here; a layout is made `on` a mesh",
               "3:5 found `d` where `->` was expected",
               "5:3 found `f` where the statement should end"});
  CHECK(errors("if a b { c d } else if e { f g } else { h i }") ==
        Errors{"1:6 found `b` where `{` was expected",
               "1:12 found `d` where the statement should end",
               "1:30 found `g` where the statement should end",
               "1:43 found `i` where the statement should end"});
}

TEST_CASE("a mistake between brackets does not reach the next statement") {
  CHECK(errors("let x = f(a,\n  b\nlet y = 3\nlet z = 4 5\n") ==
        Errors{"3:1 found `let` where `)` was expected", "1:10 note: unclosed `(` opened here",
               "4:11 found `5` where the statement should end"});
  CHECK(errors("f({ a: 1 })\nb c") == Errors{"1:3 found `{` where an expression was expected",
                                             "2:3 found `c` where the statement should end"});
}

TEST_CASE("a word that starts statements may still be an argument") {
  CHECK(errors("f(a,\n  state,\n  on\n)").empty());
  CHECK(errors("f(\n  layout\n  and state\n)").empty());
  CHECK(errors("f(\n  state = 3,\n  model = \"a\")").empty());
}

TEST_CASE("after twenty errors parsing stops") {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "let 3 = 4\n";
  }
  CHECK(errors(text).size() == kMaxSyntaxErrors);
  CHECK(errors(std::string(1000, ')')).size() == kMaxSyntaxErrors);
  CHECK(errors("a < b < " + std::string(1000, '<')).size() == 1);
  std::string strings;
  for (int i = 0; i < 1000; ++i) {
    strings += "print \"a\n";
  }
  CHECK(errors(strings).size() == kMaxSyntaxErrors);
}

TEST_CASE("errors come in the order of their places, whoever found them") {
  CHECK(errors("a b\nc && d\ne f\ng ) h\n") ==
        Errors{"1:3 found `b` where the statement should end",
               "2:3 `&&` means nothing here; write `and`",
               "3:3 found `f` where the statement should end", "4:3 this `)` closes nothing"});
}

}  // namespace
}  // namespace mtf::test
