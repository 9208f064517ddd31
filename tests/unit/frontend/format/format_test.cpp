// The standard layout: what it looks like, and that nothing else changes.

#include "frontend/format/format.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"
#include "tests/unit/frontend/parse/random_source.h"

namespace mtf::test {
namespace {

std::string formatted(const std::string& text) {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "test.mtf", .path = {}, .text = text});
  return format_source(file, sources, diags).value_or("mistakes\n");
}

// Formatted; it stays as it is, and is the same program.
std::string checked(const std::string& text) {
  std::string result = formatted(text);
  CHECK(formatted(result) == result);
  CHECK(tree(result) == tree(text));
  return result;
}

TEST_CASE("blanks between words are those of the standard layout") {
  CHECK(checked("let x=-a+b  *(c-1)**-2\n") == "let x = -a + b * (c - 1) ** -2\n");
  CHECK(checked("let y=f (a,b->[c ,d:2],e=3) as \"n\"\n") ==
        "let y = f(a, b -> [c, d: 2], e = 3) as \"n\"\n");
  CHECK(checked("f(x [batch:0 .. 3 as b]@[a->(b ,*),..])\n") ==
        "f(x[batch: 0..3 as b] @ [a -> (b, *), ..])\n");
  CHECK(checked("fn f (x:f32 [a,..],y=1)->f32 [] {return  x}\n") ==
        "fn f(x: f32[a, ..], y = 1) -> f32[] { return x }\n");
  CHECK(checked("param w:f32[a]=zeros\n") == "param w : f32[a] = zeros\n");
  CHECK(checked("while a <-b { }\n") == "while a < -b { }\n");
  CHECK(checked("let s = \"  {a+b :.3f}#\"\n") == "let s = \"  {a+b :.3f}#\"\n");
  CHECK(checked("\tlet a=[1,2,]\r\n") == "let a = [1, 2]\n");
}

TEST_CASE("blank lines stay as one, and none is at an edge") {
  CHECK(checked("\n\nlet a = 1\n\n\n\nlet b = 2\nlet c = 3\n\n\n") ==
        "let a = 1\n\nlet b = 2\nlet c = 3\n");
  CHECK(checked("if a {\n\n  f()\n\n\n  g()\n\n}\n") == "if a {\n  f()\n\n  g()\n}\n");
  CHECK(checked("") == "");
  CHECK(checked("\n \n") == "");
  CHECK(checked("let a = 1") == "let a = 1\n");
  CHECK(checked("# only é\n") == "# only é\n");
}

TEST_CASE("statements stand on lines of their own, but for blocks on one line") {
  CHECK(checked("let a = 1; let b = 2\n") == "let a = 1\nlet b = 2\n");
  CHECK(checked("if a { f();g() } else {h()}\n") == "if a { f(); g() } else { h() }\n");
  CHECK(checked("for i in 0..n { if i == 4 { break } print i }\n") ==
        "for i in 0..n { if i == 4 { break } print i }\n");
  CHECK(checked("if a {\nf(); g() }\nelse { h() }\n") ==
        "if a {\n  f()\n  g()\n} else {\n  h()\n}\n");
  CHECK(checked("f(a); -b\n") == "f(a);\n-b\n");
}

TEST_CASE("comments stay where they are") {
  CHECK(checked("# one\n\nlet a = 1 #two  \n#three\nlet bcd = 2   # four\nlet c = 3# five\n") ==
        "# one\n\nlet a = 1  #two\n#three\nlet bcd = 2  # four\nlet c = 3    # five\n");
  CHECK(checked("if a { # head\n  f()\n  # last\n} # end\n# other\nelse {\n  # nothing\n}\n") ==
        "if a {  # head\n  f()\n  # last\n}  # end\n# other\nelse {\n  # nothing\n}\n");
  CHECK(checked("let a = [1, # one\n  # two\n  2 # behind\n]\n") ==
        "let a = [1,  # one\n         # two\n         2  # behind\n    ]\n");
  CHECK(checked("let a = b + # why\n c\n") == "let a = b +  # why\n        c\n");
  CHECK(checked("layout a on m { # rules\n b -> x # one\n\n # two\n}\n") ==
        "layout a on m {  # rules\n  b -> x         # one\n\n  # two\n}\n");
}

TEST_CASE("long lines end behind the outermost comma or operator, and go on under the first word") {
  const std::string a(30, 'a');
  const std::string b(30, 'b');
  const std::string c(30, 'c');
  CHECK(checked("let x = f(" + a + ", g(" + b + ", 1), " + c + ", 2, 3)\n") ==
        "let x = f(" + a + ", g(" + b + ", 1),\n          " + c + ", 2, 3)\n");
  CHECK(checked("let x = " + a + " * " + b + " + " + c + " * 12 + y\n") ==
        "let x = " + a + " * " + b + " +\n        " + c + " * 12 + y\n");
  CHECK(checked("let x = f(\n " + a + ",\n " + b + ", " + c + ", " + c + ", yz)\n") ==
        "let x = f(\n  " + a + ",\n  " + b + ", " + c + ", " + c + ",\n  yz)\n");
  CHECK(checked("fn f(x) { return g(" + a + ", " + b + ", " + c + ") }\n") ==
        "fn f(x) {\n  return g(" + a + ", " + b + ",\n           " + c + ")\n}\n");
}

TEST_CASE("neighbouring layouts and typed variables share their columns") {
  CHECK(checked("layout a on m { }\nlayout bcd on m { x -> y }\n\nlayout ef on m { }\n") ==
        "layout a   on m { }\nlayout bcd on m { x -> y }\n\nlayout ef on m { }\n");
  CHECK(checked("param w : f32[a, b]=ones\nstate bias:f32[a] = zeros\nparam q = 1\n") ==
        "param w    : f32[a, b] = ones\nstate bias : f32[a]    = zeros\nparam q = 1\n");
  CHECK(
      checked("layout a on m { b->c\n at \"x\" { d -> c }\nat \"yz\" {d->c} }\n") ==
      "layout a on m { b -> c\n                at \"x\"  { d -> c }\n                at \"yz\" { d "
      "-> c } }\n");
}

TEST_CASE("a text with mistakes has no layout, and says so as parsing does") {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "test.mtf", .path = {}, .text = "let = 3\nlet b = (\n"});
  CHECK(!format_source(file, sources, diags));
  CHECK(diags.errors() == 2);
}

TEST_CASE("every program of the project is the same after it, however it was laid out") {
  std::mt19937 random(3);  // NOLINT: the same texts every time
  std::size_t programs = 0;
  for (const char* folder : {"examples", "stdlib", "tests/golden"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".mtf") {
        continue;
      }
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      INFO(entry.path());
      if (!parse_text(text).file) {
        CHECK(formatted(text) == "mistakes\n");
        continue;
      }
      ++programs;
      checked(text);
      for (int round = 0; round < 3; ++round) {
        const std::string anew = laid_out_anew(text, random);
        INFO(anew);
        CHECK(tree(anew) == tree(text));
        checked(anew);
      }
    }
  }
  CHECK(programs > 150);
}

TEST_CASE("a thousand programs drawn from the grammar are the same after it") {
  std::mt19937 random(5);  // NOLINT
  std::size_t statements = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::string text = random_source(random);
    statements += parse_text(text).file->statements.size();
    const std::string anew = laid_out_anew(text, random);
    INFO(anew);
    CHECK(tree(anew) == tree(text));
    checked(anew);
  }
  CHECK(statements > 10000);
}

}  // namespace
}  // namespace mtf::test
