// Statements: every kind, where they end, and words that are keywords only in their place.

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

TEST_CASE("a program that uses everything prints as itself") {
  const std::string once = tree(std::string(kEverything));
  CHECK(tree(once) == once);
  // But for one thing the text above is in printed form: a pin needs no parentheses around it.
  std::string expected(kEverything);
  const std::size_t pin = expected.find("(x[sample");
  expected.erase(pin, 1);
  expected.erase(expected.find("..])", pin) + 3, 1);
  CHECK(once == expected);
}

TEST_CASE("the program of the language page parses") {
  const Parsed parsed = parse_text(std::string(kTwoLayer));
  REQUIRE(parsed.file);
  CHECK(parsed.file->statements.size() == 11);
  CHECK(parsed.diags.diags().empty());
}

TEST_CASE("an empty file is a program") {
  for (const char* text : {"", "\n", "\r\n\r\n", "# only a comment", ";;;\n;", "\xEF\xBB\xBF"}) {
    CHECK(tree(text).empty());
    CHECK(errors(text).empty());
  }
}

TEST_CASE("a statement ends with its line or with a semicolon") {
  CHECK(tree("a; b\nc") == "a\nb\nc\n");
  CHECK(tree("a # + b\nc") == "a\nc\n");
  CHECK(tree("let x = 3;\n\n;let y = 4 ;") == "let x = 3\nlet y = 4\n");
  CHECK(tree("a\r\nb\r\n") == "a\nb\n");
  CHECK(tree("if a { b; c }\nd") == "if a {\n  b\n  c\n}\nd\n");
}

TEST_CASE("the brace of a block ends its statement") {
  CHECK(tree("fn f(a) { if a { b } c }") == "fn f(a) {\n  if a {\n    b\n  }\n  c\n}\n");
  CHECK(tree("if a { } if b { } else { } c") == "if a {\n}\nif b {\n} else {\n}\nc\n");
}

TEST_CASE("loops have steps and ways out") {
  const char* expected = "for i in 0..10 step 2 {\n  if i {\n    break\n  }\n  continue\n}\n";
  CHECK(tree("for i in 0..10 step 2 { if i { break } continue }") == expected);
  CHECK(tree("for i in 0..10 step 2 {\n if i {\n break # out\n } continue; }") == expected);
  CHECK(tree("for step in step..step step step { step }") ==
        "for step in step..step step step {\n  step\n}\n");
  CHECK(tree("break = continue + 1; step = break.x") == "break = (continue + 1)\nstep = break.x\n");
}

TEST_CASE("a line goes on after an operator, a comma, an arrow, an equals sign or a bracket") {
  for (const char* op : {"+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or"}) {
    const std::string text = std::string("let x = a ") + op + "  # comment\n\n  b";
    CHECK(tree(text) == std::string("let x = (a ") + op + " b)\n");
  }
  CHECK(tree("let x =\n 3") == "let x = 3\n");
  CHECK(tree("let x = not\n a") == "let x = (not a)\n");
  CHECK(tree("print a,\n  b") == "print a, b\n");
  CHECK(tree("let x = f(\n a\n + b\n, c\n)") == "let x = f((a + b), c)\n");
  CHECK(tree("w <-\n 3") == "w <- 3\n");
  CHECK(tree("fn f(a) ->\n f32[] { }") == "fn f(a) -> f32[] {\n}\n");
}

TEST_CASE("a star that a rule points to ends its line") {
  CHECK(tree("layout l on m {\n io -> *\n hidden -> x }") ==
        "layout l on m {\n  io -> *\n  hidden -> x\n}\n");
}

TEST_CASE("rules are split by commas, semicolons and lines; dims share what follows") {
  const char* expected = "layout l on m {\n  a -> x\n  b -> y\n  c -> y\n  d -> (x, y)\n}\n";
  CHECK(tree("layout l on m { a -> x; b, c -> y, d -> (x, y) }") == expected);
  CHECK(tree("layout l on m {\n a -> x\n b, c -> y\n d -> (x, y)\n}") == expected);
  CHECK(tree("layout l on m {\n a -> x,\n b,\n c -> y,\n d -> (x, y),\n}") == expected);
}

TEST_CASE("`else` may stand on the line after its brace") {
  CHECK(tree("if a { }\nelse if b { }\n\nelse { c }") ==
        "if a {\n} else if b {\n} else {\n  c\n}\n");
}

TEST_CASE("keywords are names wherever that is clear") {
  CHECK(tree("dim on = 2, layout = 3, state = 4, model = 5") ==
        "dim on = 2, layout = 3, state = 4, model = 5\n");
  CHECK(tree("mesh with = [as: 2, in: 3] of of") == "mesh with = [as: 2, in: 3] of of\n");
  CHECK(tree("layout on on on { model -> in, for -> (as, use); at -> x\n params -> y }") ==
        "layout on on on {\n  model -> in\n  for -> (as, use)\n  at -> x\n  params -> y\n}\n");
  CHECK(tree("state = state + 1; param = 2; print = 3") ==
        "state = (state + 1)\nparam = 2\nprint = 3\n");
  CHECK(tree("let at = 3 // 2; print at // 2, (step // at) // on") ==
        "let at = (3 // 2)\nprint (at // 2), ((step // at) // on)\n");
  CHECK(tree("for in in in { in }") == "for in in in {\n  in\n}\n");
  CHECK(tree("f(over = on, as = with, in = layout)") == "f(over = on, as = with, in = layout)\n");
  CHECK(tree("model(x); state[0]; layout.x; save(y); dim + 1") ==
        "model(x)\nstate[0]\nlayout.x\nsave(y)\n(dim + 1)\n");
  CHECK(tree("minimize with with with.with(with = 1)") ==
        "minimize with with with.with(with = 1)\n");
  CHECK(tree("import as as as") == "import as as as\n");
  CHECK(tree("x[as: 3 as as]") == "x[as: 3 as as]\n");
  CHECK(tree("let print, let = f(return, if)") == "let print, let = f(return, if)\n");
  CHECK(tree("fn fn(fn: fn = fn) { }") == "fn fn(fn: fn = fn) {\n}\n");
  CHECK(tree("with layout layout { use layout layout }") ==
        "with layout layout {\n  use layout layout\n}\n");
  CHECK(tree("with precision precision { precision = precision(with, precision = 1) }") ==
        "with precision precision {\n  precision = precision(with, precision = 1)\n}\n");
  CHECK(tree("minimize loss with precision(lr = 1)") == "minimize loss with precision(lr = 1)\n");
  CHECK(tree("let y = recompute + expect(infer, auto, uneven)") ==
        "let y = (recompute + expect(infer, auto, uneven))\n");
}

TEST_CASE("names carry their own places") {
  const Parsed parsed = parse_text("layout l on m infer { aa, bb -> (cc, *) }\nlet x, y = f()\n");
  REQUIRE(parsed.file);
  const auto& layout = std::get<ast::Layout>(parsed.file->statements.at(0).node);
  CHECK(parsed.text(layout.name.span) == "l");
  CHECK(parsed.text(layout.mesh->span) == "m");
  CHECK(parsed.text(layout.infer.value()) == "infer");
  REQUIRE(layout.rules.size() == 2);
  CHECK(parsed.text(layout.rules.at(0).span) == "aa, bb -> (cc, *)");
  CHECK(parsed.text(layout.rules.at(1).span) == "bb -> (cc, *)");
  CHECK(parsed.text(layout.rules.at(1).dim.span) == "bb");
  CHECK(parsed.text(layout.rules.at(1).targets.at(1).axis.span) == "*");
  CHECK(layout.rules.at(1).targets.at(1).kind == ast::TargetKind::kUnused);
  const auto& binding = std::get<ast::Binding>(parsed.file->statements.at(1).node);
  CHECK(parsed.text(binding.names.at(1).span) == "y");
  CHECK(parsed.text(parsed.file->statements.at(1).span) == "let x, y = f()");
}

TEST_CASE("a minimize is taken apart into its rule and the options") {
  const Parsed parsed = parse_text("minimize loss with optim.sgd(lr = 0.5)\nminimize a with f");
  REQUIRE(parsed.file);
  const auto& full = std::get<ast::Minimize>(parsed.file->statements.at(0).node);
  CHECK(ast::to_string(full.rule) == "optim.sgd");
  CHECK(parsed.text(full.rule.span) == "optim.sgd");
  REQUIRE(full.options.size() == 1);
  CHECK(full.options.at(0).name->text == "lr");
  const auto& bare = std::get<ast::Minimize>(parsed.file->statements.at(1).node);
  CHECK(ast::as_name(bare.rule) != nullptr);
  CHECK(bare.options.empty());
}

TEST_CASE("text that lacks its end asks for more") {
  for (const char* text :
       {"fn f() {", "fn f() {\n  let x = 3\n", "let x = f(a,", "let x =", "a +", "let x = [1,\n 2",
        "layout l on m {\n a -> b", "w <-", "print a,", "if a { b } else {", "f(", "{",
        "fn f() {\n let x = * 2\n", "fn f(x {\n return x", "if a b {\n print )",
        "fn f() {\n print \"a {x{\n"}) {
    INFO(text);
    CHECK(needs_more(text));
  }
  for (const char* text :
       {"", "# comment", "a", "fn f() { }", "let x", "let 3 = 4", "f(a b)", "a)", "if a",
        "let x = \"abc", "let x = 3\n", "a b\nlet x =", "fn f() {\n let x = * 2\n}",
        "fn f() {\n print \"a {x{\n}", "fn f(x {\n return x\n}"}) {
    INFO(text);
    CHECK_FALSE(needs_more(text));
  }
}

TEST_CASE("else may follow the block of an if, and nothing else") {
  for (const char* text : {"if a { b }", "if a { b } else if c { d }", "let x = 1; if a { b }",
                           "if a {\n b\n} # so far"}) {
    INFO(text);
    CHECK(may_have_else(text));
  }
  for (const char* text : {"if a { b } else { c }", "if a {\n b\n}\nelse { c }", "if a { b }; c",
                           "if a { * }", "while a { if b { c } }", "let if_so = 1"}) {
    INFO(text);
    CHECK_FALSE(may_have_else(text));
  }
}

TEST_CASE("a string that is not closed ends with its line, and so do the brackets in it") {
  const Parsed parsed = parse_text("fn f(x) {\n  print \"a {x{\n}\n");
  REQUIRE(parsed.diags.diags().size() == 1);
  CHECK(parsed.diags.diags().front().text == "this string has no closing `\"` on its line");
}

}  // namespace
}  // namespace mtf::test
