// Long programs: no pass may recurse along a chain, or take quadratic time.

#include <ctime>
#include <limits>

#include <catch2/catch.hpp>

#include "ir/autodiff.h"
#include "ir/rewrite.h"
#include "tests/unit/ir/tiny_ops.h"

namespace mtf {
namespace {

using tiny::Sketch;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kTimed = false;
#else
constexpr bool kTimed = true;
#endif

// Of this process alone, the best of three: other load must not fail a test.
template <typename F>
double milliseconds(F work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// A chain of `length` values that `step` makes longer, its sum, and its gradient.
template <typename F>
Program chain(int length, F step) {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 2}, {"j", 3}}));
  ValueId y = x;
  for (int i = 0; i < length; ++i) {
    y = step(s, x, y, i);
  }
  const ValueId loss = s.emit("sum", {y}, Shape());
  s.program.outputs = gradients(s.builder, loss, std::vector{x});
  s.program.outputs.push_back(loss);
  return std::move(s.program);
}

ValueId product_step(Sketch& s, ValueId x, ValueId y, int /*i*/) {
  return s.emit("mul", {y, x});
}
ValueId sin_step(Sketch& s, ValueId /*x*/, ValueId y, int /*i*/) {
  return s.emit("sin", {y});
}
ValueId turn_step(Sketch& s, ValueId /*x*/, ValueId y, int i) {
  const Shape ij({{"i", 2}, {"j", 3}});
  const Shape ji({{"j", 3}, {"i", 2}});
  return s.emit("transpose", {y}, i % 2 == 0 ? ji : ij);
}
ValueId wide_step(Sketch& s, ValueId x, ValueId y, int i) {
  const ValueId part = s.emit("mul", {x, s.emit("sum", {y}, Shape({{"j", 3}}))});
  return i % 2 == 0 ? s.emit("add", {part, x}) : part;
}

template <typename F>
void pass_all(int length, F step) {
  const Program program = chain(length, step);
  CHECK(verify(program).empty());
  const Program result = simplify(program, tiny::ops());
  CHECK(verify(result).empty());
  CHECK(to_string(result).size() > 100);
}

template <typename F>
void time_all(F step) {
  Program program;
  Program result;
  std::string text;
  constexpr double kLimit = 100.0;
  const auto within = [](double time) { return !kTimed || time < kLimit; };
  CHECK(within(milliseconds([&] { program = chain(10'000, step); }) / 2));  // build and gradient
  const double size = static_cast<double>(program.values.size()) / 10'000.0;
  CHECK(within(milliseconds([&] { text = verify(program); }) / size));
  CHECK(text.empty());
  CHECK(within(milliseconds([&] { result = simplify(program, tiny::ops()); }) / size));
  CHECK(within(milliseconds([&] { text = to_string(program); }) / size));
}

}  // namespace

TEST_CASE("chains of 100,000 operations do not overflow the stack") {
  pass_all(100'000, product_step);
  pass_all(100'000, turn_step);
}

TEST_CASE("passes take near-linear time") {
  time_all(product_step);
  time_all(sin_step);
  time_all(turn_step);
  time_all(wide_step);
}

}  // namespace mtf
