// Loops on the device in the list of a program.

#include "ir/loops/loop.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "ir/loops/carried.h"
#include "ir/rewrite/rewrite.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// y = x; while all(y < limit) { y = y + x * x }
struct Loop {
  Program program;
  DiagSink diags;
  Builder builder{program, op_table(), diags};
  ValueId x = builder.input(InputKind::kArgument, "x", {.dtype = DType::kF32, .shape = {}});
  ValueId limit = builder.input(InputKind::kArgument, "limit", {.dtype = DType::kF32, .shape = {}});
  ValueId y;
  ValueId condition;
  ValueId square;

  void begin() {
    const ValueId first = below(x);
    y = builder.emit(Primitive::kCarry, {x});
    condition = builder.emit(Primitive::kCarry, {first});
    builder.emit(Primitive::kWhile, {condition});
  }
  void end() {
    square = builder.emit("mul", {x, x});
    const ValueId next = builder.emit(Primitive::kAdd, {y, square});
    const ValueId again = below(next);
    builder.emit(Primitive::kNext, {condition, again});
    builder.emit(Primitive::kNext, {y, next});
    builder.emit(Primitive::kAgain, {});
  }
  ValueId below(ValueId value) { return builder.emit(Primitive::kGreater, {limit, value}); }
};

TEST_CASE("what is carried leaves a loop, and nothing else that a trip makes") {
  Loop loop;
  loop.begin();
  loop.end();
  loop.program.outputs = {loop.y};
  CHECK(verify(loop.program).empty());
  loop.program.outputs = {loop.square};
  CHECK(verify(loop.program) == "what a trip makes leaves the program");
  loop.program.outputs = {loop.builder.emit("neg", {loop.square})};
  CHECK(verify(loop.program) == "a value is read outside of the loop whose trips make it");
}

TEST_CASE("a loop ends where it began") {
  Loop loop;
  loop.begin();
  CHECK(verify(loop.program) == "a loop does not end");
}

TEST_CASE("what a trip computes is computed anew behind the loop, which may have had none") {
  Loop loop;
  loop.begin();
  loop.end();
  const ValueId again = loop.builder.emit("mul", {loop.x, loop.x});
  loop.program.outputs = {loop.y, again};
  const Program simple = simplify(loop.program, op_table());
  CHECK(verify(simple).empty());
  CHECK(std::ranges::count_if(simple.values, [](const Value& value) {
          return value.op != nullptr && value.op->name == "mul";
        }) == 2);
}

TEST_CASE("gradients stop at what a loop hands on") {
  Loop loop;
  loop.begin();
  const std::vector<ValueId> x = {loop.x};
  const std::vector<ValueId> y = {loop.y};
  const ValueId inside = loop.builder.emit("mul", {loop.y, loop.y});
  CHECK(carried_between(loop.builder, inside, x) == loop.y);
  CHECK_FALSE(carried_between(loop.builder, inside, y).valid());
  loop.end();
  const ValueId behind = loop.builder.emit("mul", {loop.y, loop.y});
  CHECK(carried_between(loop.builder, behind, x) == loop.y);
  CHECK_FALSE(carried_between(loop.builder, behind, std::vector{loop.limit}).valid());
  CHECK_FALSE(carried_between(loop.builder, loop.builder.emit("neg", {loop.x}), x).valid());
}

}  // namespace
}  // namespace mtf
