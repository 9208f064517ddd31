// param, state, their paths, gradients and minimize.

#include <catch2/catch.hpp>

#include "tests/unit/frontend/elaborate/harness.h"

namespace mtf::elaborate_test {
namespace {

constexpr const char* kDense = R"(dim batch = 2, io = 3, hidden = 4
fn dense(x, from: dim, to: dim) {
  param w : f32[from, to] = normal(stddev = from ** -0.5)
  return einsum(x, w -> shape(x) - [from] + [to])
}
let x = ones([batch, io])
)";

TEST_CASE("a model owns its variables, whoever calls it") {
  Bench bench;
  bench.run(std::string(kDense) + R"(model net(x: f32[batch, io]) {
  let h = dense(x, io, hidden)
  return dense(h, hidden, io) as "out"
}
fn loss(x) { return mean(square(net(x) - net(2 * x))) }
let a = net(x)
let b = loss(x)
)");
  CHECK(bench.errors().empty());
  CHECK(bench.paths() == Lines{"net/h/w", "net/out/w"});
  CHECK(to_string(bench.device.variables[0].init).find("stddev = 0.57735") != std::string::npos);
}

TEST_CASE("paths follow names through operators and operations, not into other calls") {
  Bench bench;
  bench.run(std::string(kDense) + R"(model net(x: f32[batch, io]) {
  let h = relu(1 + dense(x, io, hidden))
  return h
}
let a = net(x)
let y = dense(x, io, hidden) as "y"
)");
  CHECK(bench.errors().empty());
  CHECK(bench.paths() == Lines{"net/h/w", "y/w"});
}

TEST_CASE("an entry owns its variables, whoever calls it") {
  Bench bench;
  bench.run(std::string(kDense) + R"(fn step(x: f32[batch, io]) {
  param w : f32[io] = ones
  let h = dense(x, io, hidden)
  return sum(x * w) + sum(h)
}
model net(x: f32[batch, io]) {
  let inner = step(x)
  return inner
}
fn any(x) { let called = step(x) + net(x); return called }
let first = step(x)
let second = step(2 * x)
let third = net(x) + any(x)
let g = grad(step(x), x)
)");
  CHECK(bench.errors().empty());
  CHECK(bench.paths() == Lines{"step/w", "step/h/w"});
}

TEST_CASE("a call at top level names its variables with `as`, or is told to") {
  Bench bench;
  bench.run(std::string(kDense) + R"(for i in 0..2 {
  for j in 0..2 { let y = dense(x, io, hidden) as "layer_{i}" }
}
)");
  CHECK(bench.errors().empty());
  CHECK(bench.paths() == Lines{"layer_0/w", "layer_1/w"});
  const std::string unnamed =
      "bad-argument: this call of `dense` has no name for the param `w`; write `dense(…) as "
      "\"name\"`, or call it in a `model`, which owns its variables";
  CHECK(
      printed(std::string(kDense) + "let y = dense(x, io, hidden)\nlet z = dense(x, io, hidden)") ==
      Lines{"7:9 " + unnamed, "8:9 " + unnamed});
  CHECK(printed(std::string(kDense) + "let g = grad(sum(dense(x, io, hidden)), x)") ==
        Lines{"7:18 " + unnamed});
}

TEST_CASE("`as` on a call of what owns its variables is an error") {
  const std::string start = std::string(kDense) + R"(fn step(x: f32[batch, io]) {
  param w : f32[io] = ones
  return x * w
}
fn pure(x: f32[batch, io]) { return x }
)";
  CHECK(printed(start + "let y = step(x)\nlet z = pure(x) as \"p\"\nlet q = step(x) as \"a\"")[0] ==
        "14:20 bad-argument: all calls of `step` use the same `step/w`, because all of its "
        "parameters "
        "have types; `as` names those of a function with an untyped parameter");
}

TEST_CASE("one path from two calls is an error that suggests `as`") {
  Bench bench;
  bench.run(std::string(kDense) + R"(model net(x: f32[batch, io]) {
  var y = x
  for i in 0..2 { y = dense(rename(y, io -> from_io), from_io, io) }
  return y
}
dim from_io = 3
let a = net(x)
)");
  CHECK(bench.errors() ==
        Lines{"9:23 duplicate-parameter: `net/y/w` is declared twice by this call, which runs "
              "more than once; give each its own name: `f(…) as \"name_{i}\"`"});
  Bench other;
  other.run(std::string(kDense) + R"(model net(x: f32[batch, io]) {
  return dense(dense(x, io, hidden), hidden, io)
}
let a = net(x)
)");
  REQUIRE(other.errors().size() == 1);
  CHECK(
      other.errors()[0].starts_with("8:10 duplicate-parameter: `net/w` is declared by two calls"));
}

TEST_CASE("a param in a loop is told as that, and not as another call") {
  Bench bench;
  bench.run(R"(dim io = 3
model net(x: f32[io]) {
  for i in 0..2 { param w : f32[io] = ones }
  return x
}
let a = net(ones([io]))
)");
  REQUIRE(bench.errors().size() == 1);
  CHECK(bench.errors()[0].starts_with(
      "3:25 duplicate-parameter: `net/w` is declared again by each turn of a loop; "));
}

TEST_CASE("minimize updates every param that the loss depends on, in declaration order") {
  Bench bench;
  bench.run(std::string(kDense) + R"(fn momentum(p, g, lr = 0.1) {
  state v = zeros(shape(p), dtype(p))
  v <- 0.9 * v + g
  p <- p - lr * v
}
model net(x: f32[batch, io]) {
  let h = dense(x, io, hidden)
  return dense(h, hidden, io) as "out"
}
fn step(x) {
  let loss = mean(square(net(x)))
  minimize loss with momentum(lr = 0.5)
  return loss
}
for i in 0..2 { let l = step(x) }
)");
  CHECK(bench.errors().empty());
  CHECK(bench.paths() == Lines{"net/h/w", "net/out/w", "net/h/w/v", "net/out/w/v"});
  const Unit& unit = *bench.device.units.back();
  CHECK(unit.program.updates.size() == 4);
  CHECK(unit.program.outputs.size() == 1);
  CHECK(verify(unit.program).empty());
  CHECK(bench.device.units.size() == 3);  // ones, step, step
}

TEST_CASE("a variable read after an assignment is the new one") {
  Bench bench;
  bench.run(R"(dim io = 2
param w : f32[io] = 1
state n : i32[] = 0
fn f() {
  let old = w
  w <- w + 1
  n <- 3
  return old, w
}
let a, b = f()
)");
  CHECK(bench.errors().empty());
  const Program& program = bench.device.units.back()->program;
  REQUIRE(program.outputs.size() == 2);
  CHECK(program.at(program.outputs[0]).op == nullptr);
  CHECK(program.at(program.outputs[1]).op->name == "add");
  CHECK(program.updates.size() == 2);
}

TEST_CASE("initial values depend on nothing that is computed") {
  CHECK(printed("dim io = 2\nlet x = ones([io])\nparam w : f32[io] = x")[0].starts_with(
      "3:21 bad-argument: an initial value is computed before anything else"));
  CHECK(printed("dim io = 2\nparam w : f32[io]")[0].starts_with("2:7 missing-argument"));
  CHECK(printed("dim io = 2\nparam w : i32[io] = zeros")[0].starts_with("2:7 dtype-mismatch"));
}

TEST_CASE("grad gives one gradient, or a list") {
  Bench bench;
  bench.run(R"(dim io = 2
let x = ones([io])
let y = ones([io])
let g = grad(sum(x * x * y), x)
let gs = grad(sum(x * y), [x, y])
fn f(x) { return sum(x * x) }
let h = grad(f(x), x)
print g, len(gs), h
)");
  CHECK(bench.errors().empty());
  CHECK(bench.device.lines == Lines{"<f32[io 2]>\n2\n<f32[io 2]>"});
}

TEST_CASE("gradients that do not exist are errors") {
  const std::string start = "dim io = 2\nlet x = ones([io])\nlet y = ones([io])\n";
  CHECK(printed(start + "grad(sum(x), y)")[0].starts_with("4:14 no-gradient"));
  CHECK(printed(start + "grad(x, x)")[0].starts_with("4:6 not-differentiable"));
  CHECK(printed(start + "grad(sum(cast(x, i32)), x)")[0].starts_with("4:6 not-differentiable"));
  CHECK(printed(start + "fn sgd(p, g) { p <- p - g }\nlet l = sum(x)\nminimize l with sgd")[0]
            .starts_with("6:10 no-gradient"));
}

TEST_CASE("only variables are assigned to with an arrow") {
  CHECK(printed("dim io = 2\nlet x = ones([io])\nx <- x + 1")[0].starts_with("3:1 wrong-type"));
  CHECK(printed("dim io = 2\nparam w : f32[io] = zeros\nw = 3")[0] ==
        "3:1 reassigned-let: `w` is a param or state; `<-` assigns to it");
}

}  // namespace
}  // namespace mtf::elaborate_test
