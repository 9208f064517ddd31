// Syntax errors: their words, their places, and that one mistake is told once.

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

struct Case {
  const char* text;
  const char* error;
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    INFO(one.text);
    const std::vector<std::string> found = errors(one.text);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front() == one.error);
    std::size_t told = 0;
    for (const std::string& error : found) {
      told += error.find(" note: ") == std::string::npos ? 1 : 0;
    }
    CHECK(told == 1);
  }
}

TEST_CASE("what is missing is named by what it is for") {
  check_all({
      {"let 3 = 4", "1:5 `let` needs a name, found `3`"},
      {"var not = 3", "1:5 `var` needs a name, found `not`; it is a word of the language"},
      {"import", "1:7 `import` needs a module, found the end of the file"},
      {"import nn as\nlet x = 3", "1:13 `as` needs a name, found the end of the line"},
      {"let x = }", "1:9 this `}` closes nothing"},
      {"let x =", "1:8 found the end of the file where an expression was expected"},
      {"let x = 3; let y = ; z", "1:20 found `;` where an expression was expected"},
      {"if a { let y = }", "1:16 found `}` where an expression was expected"},
      {"let x = )", "1:9 this `)` closes nothing"},
      {"let a b = 3", "1:7 found `b` where `=` was expected"},
      {"f(a b)", "1:5 found `b` where `,` or `)` was expected"},
      {"let x = (a b)", "1:12 found `b` where `)` was expected"},
      {"[a b]", "1:4 found `b` where `,` or `]` was expected"},
      {"f(a,, b)", "1:5 found `,` where an expression was expected"},
      {"f(a -> b -> c)", "1:10 found `->` where `,` or `)` was expected"},
      {"for i = 0 { }", "1:7 found `=` where `in` was expected"},
      {"for i in { }", "1:10 found `{` where an expression was expected"},
      {"fn f(a) return a", "1:9 found `return` where `{` was expected"},
      {"fn f(a: ) { }", "1:9 found `)` where a name was expected"},
      {"fn f(a) -> { }",
       "1:12 behind `->` stands what the function returns, as `f32[batch]`; where nobody has to "
       "say it, leave out the `->`"},
      {"if a { } else b", "1:15 found `b` where `{` was expected"},
      {"let x = 3 4", "1:11 found `4` where the statement should end"},
      {"let x = 3 \"a\"", "1:11 found a string where the statement should end"},
      {"layout l on m { a -> }", "1:22 found `}` where an axis was expected"},
      {"layout l on m { a b }", "1:19 found `b` where `->` was expected"},
      {"layout l on m { a }", "1:17 `a` has no axis; a rule is written `dim -> axis`"},
      {"layout l on m { a -> b c -> d }", "1:24 a comma is missing before `c`"},
      {"layout l { params { params { a -> b } } }", "1:21 only rules stand here, as `dim -> axis`"},
      {"layout l { params { a -> b }; params { a -> b } }", "1:31 a second `params` in one layout"},
      {"minimize loss",
       "1:14 `minimize` needs a rule; write `minimize loss with optim.sgd(lr = 0.1)`"},
      {"print \"{}\"", "1:9 found `}` where an expression was expected"},
      {"print \"{a b}\"", "1:11 found `b` where `}` was expected"},
      {"param w", "1:7 `param` needs a type or a first value: `w : f32[io] = zeros`"},
      {"import \"a.mtf\"", "1:8 an imported file needs a name: `import \"lib/mine.mtf\" as mine`"},
      {"import \"a{b}\" as c", "1:8 this string must be the same in every run, without `{ }`"},
      {"fn f()\nlet x = 3", "1:7 `fn` needs a block in `{ }`"},
  });
}

TEST_CASE("brackets that do not match are told with where they opened") {
  const auto both = [](const char* text) {
    const std::vector<std::string> found = errors(text);
    REQUIRE(found.size() == 2);
    return found.at(0) + " / " + found.at(1);
  };
  CHECK(both("let x = f(a\n, b") ==
        "2:4 the file ends where `)` was expected / 1:10 note: unclosed `(` opened here");
  CHECK(both("let x = f(a]") ==
        "1:12 found `]` where `)` was expected / 1:10 note: unclosed `(` opened here");
  CHECK(both("let x = [f(a]") ==
        "1:13 found `]` where `)` was expected / 1:11 note: unclosed `(` opened here");
  CHECK(both("if a { f(b }\nc") ==
        "1:12 found `}` where `)` was expected / 1:9 note: unclosed `(` opened here");
  CHECK(both("fn f(a { return a }") ==
        "1:8 found `{` where `)` was expected / 1:5 note: unclosed `(` opened here");
  CHECK(both("x = [1,\n 2\nprint \"x\"") ==
        "3:1 found `print` where `]` was expected / 1:5 note: unclosed `[` opened here");
  CHECK(both("f(a; b") ==
        "1:4 found `;` where `)` was expected / 1:2 note: unclosed `(` opened here");
  CHECK(both("while a { print b") ==
        "1:18 the file ends where `}` was expected / 1:9 note: unclosed `{` opened here");
  // The innermost open brace is that of `fn`; by its indentation the last `}` was meant for it.
  CHECK(both("fn f() {\n  if a {\n    b\n}\nc") ==
        "5:2 the file ends where `}` was expected / 2:8 note: unclosed `{` opened here");
}

TEST_CASE("what other languages write is answered with what mtf writes") {
  check_all({
      {"if a = b { }", "1:6 `=` does not compare; write `==`"},
      {"x := 3",
       "1:3 `:=` means nothing here; write `let x = …` for a new name, `x = …` for a `var`"},
      {"let y = a && b || c", "1:11 `&&` means nothing here; write `and`"},
      {"let y = !a", "1:9 `!` means nothing here; write `not`"},
      {"x += 1", "1:3 `+=` means nothing here; write `x = x + …`"},
      {"total **= 2", "1:7 `**=` means nothing here; write `total = total ** …`"},
      {"i++", "1:2 `++` means nothing here; write `i = i + 1`"},
      {"a[0] -= 1", "1:6 `-=` means nothing here; write `x = x - …`"},
      {"let y = a ^ 2",
       "1:11 `^` means nothing here; a power is `**`; of bits it is `bitwise_xor(a, b)`"},
      {"let y = a ? b : c",
       "1:11 `?` means nothing here; a choice is an `if` statement, or `where(c, a, b)` on "
       "tensors"},
      {"print 'it, (is'", "1:7 `'` means nothing here; strings are written in double quotes"},
      {"print “a”", "1:7 `“` means nothing here; a plain `\"` opens and closes a string"},
      {"let x = a − b", "1:11 `−` means nothing here; write `-`"},
      {"let x = a\u200B + b",
       "1:10 `\u200B` means nothing here; it is a space of no width; delete it"},
      {"let x = a § b", "1:11 `§` means nothing here"},
      {"def f(x) { return x }", "1:1 `def` means nothing here; `fn` declares a function"},
      {"elif x { }", "1:1 `elif` means nothing here; write `else if`"},
      {"if y { } elif x { } else { }", "1:10 `elif` means nothing here; write `else if`"},
      {"import nn, optim",
       "1:10 an `import` names one module; write `import optim` on a line of its own"},
      {"from optim import sgd",
       "1:1 `from` means nothing here; write `import optim`, then `optim.sgd`"},
      {"from \"a.mtf\" import f",
       "1:1 `from` means nothing here; write `import \"a.mtf\" as NAME`, then `NAME.…`"},
      {"import optim.sgd",
       "1:13 a module is imported whole: write `import optim`, then `optim.sgd`"},
      {"let x = 3 // one more",
       "1:18 found `more` where the statement should end; `//` divides, a comment starts with `#`"},
      {"let x = 3 // don't",
       "1:17 `'` means nothing here; strings are written in double quotes; `//` divides, a comment "
       "starts with `#`"},
      {"// one\nlet x = 3 // 4\n// two",
       "1:1 a comment starts with `#`, on each of its lines; "
       "`//` does not"},
      {"fn f(x) {\n  return // x\n}",
       "2:10 a comment starts with `#`, on each of its lines; `//` does not"},
      {"let x = 3 /* a\n b c */ \nlet y = x",
       "1:11 a comment starts with `#`, on each of its "
       "lines; `/*` does not"},
      {"print f\"a\"",
       "1:8 a string has nothing before its `\"`; leave out the `f`: `{x}` stands for the value of "
       "x in any string"},
      {"let d = {\"a\": 1}",
       "1:9 `{ }` holds a block, not a value; there are no dicts or sets: a list is written "
       "`[a, b]`"},
      {"for i in 0..10..2 { }",
       "1:15 a range has one `..`; write `for i in 0..10 step 2` for every second number"},
      {"print \"{x!r}\"",
       "1:10 a string shows a value as it prints, `{x}`, or a number in a format, `{x:.4f}`"},
      {"from nn import dense", "1:1 `from` means nothing here; write `import nn`, then `nn.dense`"},
      {"const x = 3",
       "1:1 `const` means nothing here; `let` declares a name that stays, `var` one that changes"},
      {"else { }", "1:1 `else` without an `if` before it"},
      {"if a { } else { } else { }", "1:15 an `else` without a condition comes last"},
      {"if a:\n", "1:5 a block stands in `{ }`, not after `:`"},
      {"for i in 0..3 do { }", "1:15 `do` means nothing here; a block stands in `{ }`"},
      {"a is b", "1:3 `is` means nothing here; write `==`"},
      {"let x: f32 = 3", "1:6 `let` takes no type; the value has one"},
      {"x: f32 = 3", "1:2 write `let x = …` to declare a name, found `:`"},
      {"let x", "1:6 `let` needs a value: `let x = …`"},
      {"layout l on m unevn { }", "1:15 `unevn` means nothing here; did you mean `uneven`?"},
      {"layout l on m large { }",
       "1:15 `large` means nothing here; a layout may be `infer`, `auto` or `uneven`"},
      {"layout l uneven on g { b -> x }",
       "1:17 `on` stands before `uneven`; write `layout l on g uneven {`"},
      {"let x = a <> b", "1:12 `<>` means nothing here; write `!=`"},
      {"let x = (1, 2)", "1:11 parentheses hold one value; a list is written `[a, b]`"},
      {"print(\"a\", x)", "1:10 `print` takes no parentheses around its parts"},
      {"print \"{x:3s}\"",
       "1:10 `3s` is not a number format; `{x:.4f}`, `{x:.2e}`, `{x:8.3g}`, `{x:.1%}` and "
       "`{n:,d}` are"},
      {"let x = .5", "1:9 a number starts with a digit; write `0.5`"},
      {"let x = 1. + a", "1:9 a point is followed by a digit; write `1.0`"},
      {"print \"{{x}}\"",
       "1:9 `{ }` in a string holds one value, as `{x}`; a brace that is shown is written `\\{`"},
      {"let x = 3x", "1:10 a name cannot start with a digit, found `3x`"},
      {"let x = 0x10", "1:10 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `0x10`"},
      {"let x = 0b11", "1:10 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `0b11`"},
      {"let x = 10L", "1:11 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `10L`"},
      {"let x = 1e", "1:10 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `1e`"},
      {"let x = 1.5f", "1:12 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `1.5f`"},
      {"let x = 1_0_", "1:12 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `1_0_`"},
      {"let x = 1__0", "1:10 a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `1__0`"},
      {"let y = a\n  + b", "2:3 a line cannot start with `+`; end the line before with it"},
      {"let y = a\n  - b", "2:3 a line cannot start with `-`; end the line before with it"},
      {"fn f()\n{\n  a\n}", "1:7 the `{` belongs on the line of its `fn`"},
      {"f(x) as layer", "1:6 `as` takes a string here, found `layer`"},
      {"let x = y @ w",
       "1:13 `@` pins a layout, as in `x @ [batch -> rows]`; a product is written `einsum`"},
      {"y @ [batch: x]", "1:11 a rule is written `dim -> axis`, found `:`"},
      {"layout l on m { batch: x }", "1:22 a rule is written `dim -> axis`, found `:`"},
      {"mesh m = [2, 2]", "1:11 a mesh axis has a name, as in `[rows: 2, cols: 2]`"},
      {"print 0..3", "1:8 a range `a..b` stands in a `for` and in an index, not here"},
      {"[0..3]", "1:3 a range `a..b` stands in a `for` and in an index, not here"},
      {"use both", "1:5 write `use layout both`"},
      {"use lyout both", "1:5 `use` goes on with `layout`, not `lyout`; did you mean `layout`?"},
      {"with other { }", "1:1 `with` goes on with `layout` or `precision`, not `other`"},
  });
}

TEST_CASE("what the grammar lets through is still checked") {
  check_all({
      {"let x = 9223372036854775808", "1:9 `9223372036854775808` does not fit in 64 bits"},
      {"let x = -(9223372036854775808)", "1:11 `9223372036854775808` does not fit in 64 bits"},
      {"-9223372036854775808 ** 2", "1:2 `9223372036854775808` does not fit in 64 bits"},
      {"1 -9223372036854775808", "1:4 `9223372036854775808` does not fit in 64 bits"},
      {"let x = 1e999", "1:9 `1e999` does not fit in a 64-bit float"},
      {"a < b < c", "1:7 comparisons do not follow each other; write `a < b and b < c`"},
      {"a == not b", "1:6 `not` after an operator needs parentheses: `a == (not b)`"},
      {"f(3 = 4)", "1:3 what stands before `=` in a call is a name, found `3`"},
      {"f((a) = 4)", "1:3 what stands before `=` in a call is a name, found `(a)`"},
      {"f(over = a, b)",
       "1:13 after `name = value` every argument needs its name; several are one list, `over = [a, "
       "b]`"},
      {"f(a = 1, b)", "1:10 after `name = value` every argument needs its name"},
      {"f(a -> [b], c)", "1:13 after `->` every argument needs its name"},
      {"f(a = 1 -> [b])", "1:12 `->` comes before every `name = value`"},
      {"[3: 4]", "1:2 what stands before `:` is a name, found `3`"},
      {"x[0] = 3",
       "1:1 what `=` assigns to is a name, found `x[0]`; a tensor stays as it is: `where(…)` and "
       "`dynamic_update(…)` make another one"},
      {"a, b", "1:4 one statement holds one expression; this is a second one"},
      {"y @ [.., a -> b]", "1:10 `..` stands at the end, for all other dims"},
      {"minimize a with f(k = 3, 4)", "1:26 after `name = value` every argument needs its name"},
      {"print \"a \\q b\"", R"(1:10 `\q` means nothing in a string; there are \" \\ \n \t \{ \})"},
  });
}

TEST_CASE("a string ends on its line") {
  check_all({
      {"print \"abc", "1:7 this string has no closing `\"` on its line"},
      {"print \"abc\\", "1:7 this string has no closing `\"` on its line"},
      {"f(\"abc)\nlet x = 3", "1:3 this string has no closing `\"` on its line"},
      {"let x = \"a {b\"\nlet y = 3",
       R"(1:12 this `{` has no `}` in its string; `\{` is a brace that is shown)"},
      {"let x = \"a {f(\"b)}\"\nlet y = [1]", "1:9 this string has no closing `\"` on its line"},
  });
}

}  // namespace
}  // namespace mtf::test
