// Values on the host: arithmetic, shapes, lists, strings, control flow.

#include <pthread.h>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/elaborate/harness.h"

namespace mtf::elaborate_test {
namespace {

TEST_CASE("whole numbers divide as in Python, and never wrap") {
  CHECK(printed("print 7 // 2, -7 // 2, -7 % 3, 7 / 2, 2 ** 10, 2 ** -1, -2 ** 2") ==
        Lines{"3 -4 2 3.5 1024 0.5 -4"});
  CHECK(printed("print 9223372036854775807 + 1")[0].starts_with("1:7 overflow"));
  CHECK(printed("print 3 ** 100")[0].starts_with("1:7 overflow"));
  CHECK(printed("print 1 // 0") == Lines{"1:12 division-by-zero: the divisor is 0"});
  CHECK(printed("print 1.0 % 0.0")[0].starts_with("1:13 division-by-zero"));
}

TEST_CASE("floats print in Python's shortest form") {
  CHECK(printed("print 0.1, 1.0, 1e16, 123456.789, 1e-5, 0.0001, -0.5, 1e100, 2.0 ** 0.5") ==
        Lines{"0.1 1.0 1e+16 123456.789 1e-05 0.0001 -0.5 1e+100 1.4142135623730951"});
}

TEST_CASE("operations on plain numbers stay on the host") {
  Bench bench;
  bench.run("dim from = 16\nprint sqrt(from), from ** -0.5, minimum(2, 3), abs(-2), exp(0)\n");
  CHECK(bench.device.lines == Lines{"4.0 0.25 2 2 1.0"});
  CHECK(bench.device.units.empty());
}

TEST_CASE("shapes are values") {
  CHECK(printed(R"(dim batch = 2, io = 3, hidden = 4
let s = [batch, io]
print s, s - [io] + [hidden], size(s), len(s), s[1], s == [io, batch]
for d in s { print d, d * 2, d == io }
)") == Lines{"[batch 2, io 3] [batch 2, hidden 4] 6 2 io 3 true", "batch 2 4 false",
             "io 3 6 true"});
  CHECK(printed("dim a = 2\nprint [a, a]") ==
        Lines{"2:11 repeated-dim: `a` is in this shape twice; rename one of the two"});
  CHECK(printed("dim a = 2, b = 3\nprint [a] - [b]") ==
        Lines{"2:13 dim-missing: the shape [a 2] has no `b` to take away"});
}

TEST_CASE("lists and strings") {
  CHECK(printed(R"(let a = [1, 2] + [3]
print a, a[0], a[-1], len(a), "n={a[1] * 2}" + "!", "{1 < 2 and not false}", a[1..3]
)") == Lines{"[1, 2, 3] 1 3 3 n=4! true [2, 3]"});
  CHECK(printed("print [1][2]") ==
        Lines{"1:11 bad-index: index 2 of a list of 1; they are numbered from 0"});
}

TEST_CASE("loops and branches") {
  CHECK(printed(R"(var total = 0
for i in 0..4 {
  if i % 2 == 0 { total = total + i } else if i == 3 { total = total + 10 }
}
while total < 20 { total = total + 5 }
print total
)") == Lines{"22"});
}

TEST_CASE("a loop takes steps, is left, and goes on with its next turn") {
  CHECK(printed("for i in 0..10 step 4 { print i }\nfor i in 3..0 step -2 { print i }") ==
        Lines{"0", "4", "8", "3", "1"});
  CHECK(printed("for i in 3..0 { print i }\nfor i in 0..3 step -1 { print i }").empty());
  CHECK(printed(R"(for i in 9223372036854775800..9223372036854775807 step 5 { print i })") ==
        Lines{"9223372036854775800", "9223372036854775805"});
  CHECK(printed(R"(fn first(list) {
  for i in list {
    if i % 2 == 0 { continue }
    for j in 0..10 { if j == i { break } }
    return i
  }
}
print first([2, 4, 5, 7])
var n = 0
while true { if n == 7 { break } n = n + 1 }
print n
)") == Lines{"5", "7"});
  CHECK(printed("break")[0] == "1:1 syntax: `break` stands in a `for` or a `while`");
  CHECK(printed("while true { fn f() { continue } }")[0] ==
        "1:23 syntax: `continue` stands in a `for` or a `while`");
  CHECK(printed("for i in 0..3 step 0 { }")[0] ==
        "1:20 bad-argument: a step is an integer other than 0; this is 0");
  CHECK(printed("for i in [1] step 2 { }")[0].starts_with(
      "1:19 bad-argument: a step goes with a range, as `0..10 step 2`"));
}

TEST_CASE("functions take arguments by place and by name, and return several values") {
  CHECK(printed(R"(fn f(a, b: int = 2, c: float = b) { return a + b, c }
let x, y = f(1)
let z, w = f(c = 5, a = 1, b = 4)
print x, y, z, w
fn twice(f: fn, x) { return f(f(x)) }
fn inc(x) { return x + 1 }
print twice(inc, 3)
)") == Lines{"3 2.0 5 5.0", "5"});
}

TEST_CASE("calls that do not fit say what does") {
  CHECK(printed("fn f(width) { return width }\nprint f(widht = 1)") ==
        Lines{"2:9 unknown-argument: `f` has no argument `widht`; did you mean `width`?"});
  CHECK(printed("fn f(a) { return a }\nprint f()") == Lines{"2:7 missing-argument: `f` needs `a`"});
  CHECK(printed("fn f(a) { return a }\nprint f(1, 2)") ==
        Lines{"2:12 unknown-argument: one argument too many for `f`"});
  CHECK(printed("fn f(a: dim) { return a }\nprint f(1)") ==
        Lines{"2:9 wrong-type: `a` is an int; `dim` is declared; `dim a = 1` makes one"});
}

TEST_CASE("dims are a dim, or a shape or list of them") {
  const std::string program = "dim a = 2, b = 3\nfn f(over: dims) { return size(over) }\n";
  CHECK(printed(program + "print f(a), f([a, b]), f([]), f([a] + [b]), f([[a], b])") ==
        Lines{"2 6 1 6 6"});
  CHECK(printed("dim a = 2, b = 3, c = 4\nlet x = [a, b]\n"
                "print [a, b, c] - [x], [a, b, c] - [[b], [a]], [a] + [[b], c]") ==
        Lines{"[c 4] [c 4] [a 2, b 3, c 4]"});
  CHECK(printed(program + "print f(4)") ==
        Lines{"3:9 wrong-type: `over` is an int; `dims` is declared; `dim over = 4` makes one"});
  CHECK(printed("dim a = 2, b = 3\nfn f(d: dim) { return [d] }\nprint f([a]), f([c: 4])") ==
        Lines{"[a 2] [c 4]"});
  CHECK(printed("dim a = 2, b = 3\nfn f(d: dim) { return [d] }\nprint f([a, b])") ==
        Lines{"3:9 wrong-type: `d` is the shape [a 2, b 3]; `dim` is declared"});
}

TEST_CASE("recursion ends in an error, not in a crash") {
  CHECK(printed("fn f(n) { if n == 0 { return 0 }\n return 1 + f(n - 1) }\nprint f(200)") ==
        Lines{"200"});
  const Lines errors = printed("fn f(n) { return ((((((((f(n + 1)))))))) }\nprint f(0)");
  CHECK(printed("fn f(n) { return f(n + 1) }\nprint f(0)")[0].find("recursion-limit") !=
        std::string::npos);
  CHECK_FALSE(errors.empty());
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSmallStack = std::size_t{4} << 20U;  // frames are many times as large
#else
constexpr std::size_t kSmallStack = std::size_t{512} << 10U;  // 1/16 of what is usual
#endif

Lines printed_on_small_stack(std::string text) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStack);
  std::pair<std::string, Lines> job(std::move(text), {});
  const auto run = [](void* data) -> void* {
    auto& [program, lines] = *static_cast<std::pair<std::string, Lines>*>(data);
    lines = printed(program);
    return nullptr;
  };
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, run, &job) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return job.second;
}

TEST_CASE("recursion ends in an error where the stack is small, too") {
  CHECK(printed_on_small_stack("print 1 + 1") == Lines{"2"});
  const std::string deep(28, '(');
  const Lines errors =
      printed_on_small_stack("fn f(n) { if n == 0 { return 0 }\n return 1 + " + deep + "f(n - 1)" +
                             std::string(deep.size(), ')') + " }\nprint f(200)");
  REQUIRE_FALSE(errors.empty());
  CHECK(errors[0].find("recursion-limit") != std::string::npos);
}

TEST_CASE("recursion that branches ends as soon as it is too deep") {
  // All of its calls would be 2 to the power of 256.
  CHECK(printed("fn f(n) {\n  let a = f(n + 1)\n  return f(n + 2)\n}\nprint f(0)")[0].find(
            "recursion-limit") != std::string::npos);
}

TEST_CASE("one run reports several errors, and what follows from one is not another") {
  const Lines errors = printed(R"(let a = foo + 1
let b = a * 2
print b, 1 // 0
for i in 0..3 { print i // 0 }
)");
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].starts_with("1:9 unknown-name"));
  CHECK(errors[1].starts_with("3:15 division-by-zero"));
  CHECK(errors[2].starts_with("4:28 division-by-zero"));
}

TEST_CASE("names are checked in functions that nobody calls") {
  CHECK(printed("fn f() { return unknown_thing }").size() == 1);
  CHECK(printed("let a = 1\na = 2")[0] ==
        "2:1 reassigned-let: `a` is a `let`; declare it with `var` to assign to it");
  CHECK(printed("dim d = 2\nfn f() { let d = 3 }")[0] ==
        "2:14 shadowed-dim: `d` is a dim; another meaning would hide it");
  CHECK(printed("let a = 1\nlet a = 2")[0] == "2:5 duplicate-name: `a` is declared already");
  CHECK(printed("var a = 1\nfn f() { a = 2 }")[0].starts_with("2:10 reassigned-let"));
}

}  // namespace
}  // namespace mtf::elaborate_test
