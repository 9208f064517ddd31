// Units: what becomes one program, what is built again, and what is handed over.

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/elaborate/harness.h"

namespace mtf::elaborate_test {
namespace {

constexpr const char* kDims = "dim batch = 2, io = 3\nlet x = ones([batch, io])\n";

TEST_CASE("tensor work of one statement is one unit") {
  Bench bench;
  bench.run(std::string(kDims) + "let y = relu(x * 2 + 1)\nprint \"{sum(y)} {max(y)}\"\n");
  CHECK(bench.errors().empty());
  REQUIRE(bench.device.units.size() == 3);
  CHECK(bench.device.units[2]->program.outputs.size() == 2);
  CHECK(bench.device.lines == Lines{"<f32[]> <f32[]>"});
}

TEST_CASE("what was built of an entry is taken once") {
  Bench bench;
  bench.run(std::string(kDims) + "fn f(x: f32[batch, io]) { return x * 2 }\n");
  REQUIRE(bench.session->build("f") != nullptr);
  CHECK(bench.session->take("f").values.size() == 3);
  CHECK_THROWS(bench.session->build("f"));
}

TEST_CASE("a statement in a loop is built once") {
  Bench bench;
  bench.run(std::string(kDims) + "var y = x\nfor i in 0..5 { y = y * 2 }\n");
  REQUIRE(bench.device.units.size() == 6);
  CHECK(bench.device.units[1] == bench.device.units[5]);
}

TEST_CASE("of many statements those go that were not run for long, if the device can forget them") {
  for (const bool forgets : {true, false}) {
    Bench bench;
    bench.device.forgets = forgets;
    bench.run(std::string(kDims) + "for i in 0..5000 { let a = x + 1; let b = x * i }\n");
    CHECK(bench.errors().empty());
    const auto& units = bench.device.units;
    REQUIRE(units.size() == 10'001);
    CHECK(units[9'999] == units[1]);
    CHECK((bench.device.forgotten.size() > 1'000) == forgets);
    CHECK(std::ranges::find(bench.device.forgotten, units[1]) == bench.device.forgotten.end());
  }
}

TEST_CASE("a function is built once per signature") {
  Bench bench;
  bench.run(std::string(kDims) + R"(fn f(x, n) { return x * n }
for i in 0..3 { let y = f(x, 2) }
let a = f(x, 3)
let b = f(sum(x, over = io), 2)
let c = f(x, 2.0)
)");
  CHECK(bench.errors().empty());
  const auto& units = bench.device.units;
  REQUIRE(units.size() == 8);
  CHECK(units[1] == units[3]);
  CHECK(units[1]->is_entry);
  CHECK(units[1]->program.name == "f");
  CHECK(units[4] != units[1]);
  CHECK(units[6] != units[1]);
  CHECK(units[7] != units[1]);
}

TEST_CASE("a global that a function reads is part of its signature, a tensor only by type") {
  Bench bench;
  bench.run(std::string(kDims) + R"(var n = 2
var t = ones([io])
fn f(x) { return x * n + t }
let a = f(x)
t = t + 1
let b = f(x)
n = 3
let c = f(x)
)");
  CHECK(bench.errors().empty());
  const auto& units = bench.device.units;
  REQUIRE(units.size() == 6);
  CHECK(units[2] == units[4]);
  CHECK(units[5] != units[2]);
  REQUIRE(bench.device.handles.size() == 2);
  CHECK(bench.device.handles[1]->type.shape.rank() == 1);
  CHECK(units[2]->program.inputs[0].kind == InputKind::kArgument);
  CHECK(units[2]->program.inputs[1].kind == InputKind::kCaptured);
  CHECK(units[2]->program.inputs[1].name == "t");
}

TEST_CASE("two parameters stay two inputs though one tensor is passed for both") {
  Bench bench;
  bench.run(std::string(kDims) + "fn f(a, b) { return a - b }\nlet y = f(x, x)\nlet z = f(x, y)\n");
  CHECK(bench.errors().empty());
  REQUIRE(bench.device.units.size() == 3);
  CHECK(bench.device.units[1] == bench.device.units[2]);
  CHECK(bench.device.units[1]->program.inputs.size() == 2);
}

TEST_CASE("a function called in a function is part of it") {
  Bench bench;
  bench.run(std::string(kDims) + R"(fn inner(x) { return x + 1 }
fn outer(x) { return inner(inner(x)) }
let y = outer(x)
)");
  REQUIRE(bench.device.units.size() == 2);
  const Program& program = bench.device.units[1]->program;
  CHECK(program.name == "outer");
  CHECK(program.frames.size() == 2);
}

TEST_CASE("a tensor that is returned as it came needs no unit") {
  Bench bench;
  bench.run(std::string(kDims) + "fn f(a) { return a }\nlet y = f(x)\nprint y\n");
  CHECK(bench.device.units.size() == 1);
  CHECK(bench.device.lines == Lines{"<f32[batch 2, io 3]>"});
}

TEST_CASE("numbers are lifted to the tensor's dtype") {
  CHECK(printed(std::string(kDims) + "print 2 * x, x // 2, 1 - cast(x, i64)") ==
        Lines{"<f32[batch 2, io 3]>\n<f32[batch 2, io 3]>\n<i64[batch 2, io 3]>"});
  CHECK(printed(std::string(kDims) + "print cast(x, i32) * 0.5")[0].starts_with(
      "3:22 dtype-mismatch"));
}

TEST_CASE("a number for a scalar tensor does not build the function again") {
  Bench bench;
  bench.run(
      std::string(kDims) +
      "fn f(x, step: i32[]) { return x + cast(step, f32) }\nlet a = f(x, 1)\nlet b = f(x, 2)\n");
  CHECK(bench.errors().empty());
  std::size_t entries = 0;
  const Unit* last = nullptr;
  for (const Unit* unit : bench.device.units) {
    if (unit->is_entry) {
      ++entries;
      CHECK((last == nullptr || last == unit));
      last = unit;
    }
  }
  CHECK(entries == 2);
}

TEST_CASE("a tensor may be the condition at top level only") {
  Bench bench;
  bench.device.scalars = {1, 1, 0};
  bench.run(std::string(kDims) + "var n = 0\nwhile sum(x) > 0.1 { n = n + 1 }\nprint n\n");
  CHECK(bench.device.lines == Lines{"2"});
  CHECK(
      printed(std::string(kDims) + "fn f(a) { if sum(a) > 1 { return a }\n return -a }\nf(x)\n")[0]
          .starts_with("3:14 wrong-type: the condition is a tensor"));
}

TEST_CASE("a check takes every way once and forgets what it cannot know") {
  Bench bench({.check = true});
  bench.run(std::string(kDims) + R"(var n = 0
var y = x
while sum(x) > 0.1 {
  n = n + 1
  y = y * 2
}
if max(x) > 0 { print y[batch: 7] } else { print y[io: 9] }
zeros([io])[io: n]
)");
  CHECK(bench.errors().size() == 2);  // in both branches, and none about n
}

TEST_CASE("a check knows nothing of what a loop changed that may have been left") {
  Bench bench({.check = true});
  bench.run(std::string(kDims) + R"(var n = 0
var m = 0
while true {
  n = n + 1
  if sum(x) > n { break }
}
for i in 0..3 {
  if sum(x) > 1 { continue }
  m = 100
}
zeros([io])[io: n]
zeros([io])[io: m]
zeros([io])[io: 99]
)");
  REQUIRE(bench.errors().size() == 1);
  CHECK(bench.errors()[0].starts_with("15:17 bad-index"));
}

TEST_CASE("a check of an endless program ends") {
  Bench bench({.check = true, .max_check_statements = 1000});
  bench.run("var n = 0\nwhile true { n = n + 1 }\nprint undefined_after\n");
  CHECK(bench.errors().size() == 1);
}

TEST_CASE("print and assert in a function are operations of it") {
  Bench bench;
  bench.run(std::string(kDims) + R"(fn f(x) {
  print "sum {sum(x)} of \{\}", 3
  assert sum(x) > 0, "sum is {sum(x)}"
  return x + 1
}
let y = f(x)
)");
  CHECK(bench.errors().empty());
  const std::string text = to_string(bench.device.units.back()->program);
  CHECK(text.find("text = \"sum {} of {{}} 3\"") != std::string::npos);
  CHECK(text.find("assert(") != std::string::npos);
}

TEST_CASE("after an error nothing is run, and the rest is checked") {
  Bench bench;
  bench.run(std::string(kDims) + "print 1 // 0\nlet y = x + 1\nprint y\nprint y[batch: 5]\n");
  CHECK(bench.device.units.size() == 1);
  CHECK(bench.device.lines.empty());
  CHECK(bench.errors().size() == 2);
}

}  // namespace
}  // namespace mtf::elaborate_test
