// Long programs: no pass may recurse along a chain, or do quadratic work.
//
// Work is counted, not timed: for this program the sources of ir/ are compiled so that each of
// their basic blocks calls the function below (tests/CMakeLists.txt).

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"
#include "ir/rewrite/rewrite.h"
#include "tests/unit/ir/tiny_ops.h"

namespace {
std::uint64_t blocks_passed = 0;
}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  ++blocks_passed;
}

namespace mtf {
namespace {

using tiny::Sketch;

// Basic blocks of ir/ that `work` goes through.
template <typename F>
double blocks(F work) {
  const std::uint64_t before = blocks_passed;
  work();
  return static_cast<double>(blocks_passed - before);
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

// What each pass does on a chain of some length: building it with its gradient, checking,
// simplifying and printing.
template <typename F>
std::vector<double> work_on(int length, F step) {
  Program program;
  Program result;
  std::string text;
  std::vector<double> work;
  work.push_back(blocks([&] { program = chain(length, step); }));
  work.push_back(blocks([&] { text = verify(program); }));
  CHECK(text.empty());
  work.push_back(blocks([&] { result = simplify(program, tiny::ops()); }));
  work.push_back(blocks([&] { text = to_string(program); }));
  return work;
}

// Four times as long is about four times the work: logarithms aside, and what is done once.
template <typename F>
void check_growth(F step) {
  const std::vector<double> some = work_on(2'500, step);
  const std::vector<double> more = work_on(10'000, step);
  for (std::size_t pass = 0; pass < some.size(); ++pass) {
    INFO("pass " << pass << ": " << some[pass] << " blocks, then " << more[pass]);
    CHECK(some[pass] > 2'500);  // it is counted at all
    CHECK(more[pass] < 5 * some[pass]);
  }
}

}  // namespace

TEST_CASE("chains of 100,000 operations do not overflow the stack") {
  pass_all(100'000, product_step);
  pass_all(100'000, turn_step);
}

TEST_CASE("passes do near-linear work") {
  check_growth(product_step);
  check_growth(sin_step);
  check_growth(turn_step);
  check_growth(wide_step);
}

}  // namespace mtf
