// The textual IR, what messages say of a value, and programs that must not pass `verify`.

#include <limits>

#include <catch2/catch.hpp>

#include "tests/unit/ir/tiny_ops.h"

namespace mtf {
namespace {

using tiny::Sketch;

const Shape kXShape({{"batch", 4}, {"io", 3}});

Sketch layer() {
  Sketch s;
  const ValueId x = s.argument("x", kXShape);
  const ValueId w = s.param("layer/w", Shape({{"io", 3}, {"hidden", 2}}));
  const ValueId h = s.emit("einsum", {x, w}, Shape({{"batch", 4}, {"hidden", 2}}));
  s.program.at(h).name = "h";
  const ValueId half = s.builder.scalar(0.5, DType::kF32);
  const ValueId smaller = s.emit("mul", {half, w});
  s.program.outputs = {h};
  s.program.updates.push_back({.input = 1, .value = smaller});
  return s;
}

// What `verify` says after `break_it` had its way with a good program.
template <typename F>
std::string broken(F break_it) {
  Sketch s = layer();
  REQUIRE(verify(s.program).empty());
  break_it(s.program);
  return verify(s.program);
}

}  // namespace

TEST_CASE("a program is printed one value per line") {
  CHECK(to_string(layer().program) ==
        "sketch\n"
        "  %0 = argument \"x\" : f32[batch 4, io 3]\n"
        "  %1 = param \"layer/w\" : f32[io 3, hidden 2]\n"
        "  %2 = einsum(%0, %1) : f32[batch 4, hidden 2]   # h\n"
        "  %3 = fill(shape = [], value = 0.5, dtype = f32) : f32[]\n"
        "  %4 = mul(%3, %1) : f32[io 3, hidden 2]\n"
        "  \"layer/w\" <- %4\n"
        "  return %2\n");
}

TEST_CASE("arguments are printed so that different ones differ") {
  OpArgs args;
  args.set("over", std::vector<Dim>{{"io", 3}, {"batch", 4}});
  args.set("n", std::int64_t{2});
  args.set("value", 2.0);
  args.set("third", 1.0 / 3.0);
  args.set("zero", -0.0);
  args.set("big", std::numeric_limits<double>::infinity());
  args.set("wrap", true);
  args.set("text", std::string("a \"b\"\n"));
  args.set("data", std::vector<double>{1, 0.1});
  args.set("seed", std::monostate{});
  CHECK(to_string(args) ==
        "over = [io, batch], n = 2, value = 2.0, third = 0.3333333333333333, zero = -0.0, "
        "big = inf, wrap = true, text = \"a \\\"b\\\"\\n\", data = [1, 0.1], seed = none");
  args.set("n", std::int64_t{3});
  CHECK(*args.get<std::int64_t>("n") == 3);
  CHECK(args.get<double>("n") == nullptr);
  CHECK(args.find("absent") == nullptr);
}

TEST_CASE("messages name a value as the user did, or by its operation") {
  Sketch s = layer();
  CHECK(describe(s.program, {0}) == "`x`");
  CHECK(describe(s.program, {1}) == "`layer/w`");
  CHECK(describe(s.program, {2}) == "`h`");
  CHECK(describe(s.program, {4}) == "the result of `*`");
  CHECK(describe(s.program, {3}) == "the result of `fill`");
}

TEST_CASE("notes tell the calls that led to a value, innermost first") {
  Sketch s;
  s.program.frames = {{.function = "main", .call = {{0}, 1, 2}, .parent = -1},
                      {.function = "dense", .call = {{0}, 5, 6}, .parent = 0}};
  s.builder.at({{0}, 8, 9}, 1);
  const ValueId x = s.builder.scalar(1.0, DType::kF32);
  const std::vector<Note> notes = notes_of(s.program, x);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].text == "in `dense`, called here");
  CHECK(notes[0].span.begin == 5);
  CHECK(notes[1].span.begin == 1);
  CHECK(verify(s.program).empty());
}

TEST_CASE("a call that its rule rejects records the error and appends nothing") {
  Sketch s;
  const ValueId x = s.argument("x", Shape({{"a", 2}}));
  const ValueId y = s.argument("y", Shape({{"a", 3}}));
  CHECK_FALSE(s.builder.call(*find_operator(tiny::ops(), "+"), std::vector{x, y}));
  CHECK(s.diags.errors() == 1);
  CHECK(s.program.values.size() == 2);
  CHECK(find_operator(tiny::ops(), "") == nullptr);
  CHECK(find_op(tiny::ops(), "cube") == nullptr);
}

TEST_CASE("an operation defined by others is expanded") {
  Sketch s;
  const ValueId x = s.argument("x", Shape({{"a", 2}}));
  const ValueId y = s.emit("square", {x});
  CHECK(s.program.at(y).op->name == "mul");
}

TEST_CASE("verify accepts each value only after its operands") {
  CHECK(broken([](Program& p) { p.values[4].operands[1] = {4}; }) ==
        "%4 (mul): an operand does not come before it");
  CHECK(broken([](Program& p) { p.values[4].operands[1] = {}; }) ==
        "%4 (mul): an operand does not come before it");
}

TEST_CASE("verify reruns the type rule") {
  CHECK(broken([](Program& p) { p.values[2].type.dtype = DType::kF64; }) ==
        "%2 (einsum): its type is f64[batch 4, hidden 2], its rule says f32[batch 4, hidden 2]");
  CHECK(broken([](Program& p) {
          p.values[2].args.set("to", Shape({{"other", 2}}));
        }) == "%2 (einsum): its own type rule rejects it: not in the operands");
}

TEST_CASE("verify looks at inputs, outputs, updates and frames") {
  CHECK(broken([](Program& p) { p.outputs = {{5}}; }) == "an output is not there");
  CHECK(broken([](Program& p) { p.updates[0].input = 2; }) ==
        "an update names an input or value that is not there");
  CHECK(broken([](Program& p) { p.updates[0].input = 0; }) ==
        "`x` is updated twice or no variable");
  CHECK(broken([](Program& p) { p.updates.push_back(p.updates[0]); }) ==
        "`layer/w` is updated twice or no variable");
  CHECK(broken([](Program& p) { p.updates[0].value = {2}; }) ==
        "the update of `layer/w` has type f32[batch 4, hidden 2], the variable "
        "f32[io 3, hidden 2]");
  CHECK(broken([](Program& p) { p.inputs.pop_back(); }) == "%1 has no operation and is no input");
  CHECK(broken([](Program& p) { p.inputs[0].value = {2}; }) == "input `x` is not an input value");
  CHECK(broken([](Program& p) { p.inputs.push_back(p.inputs[0]); }) == "input `x` is listed twice");
  CHECK(broken([](Program& p) { p.values[2].op = nullptr; }) ==
        "%2 has no operation and is no input");
  CHECK(broken([](Program& p) { p.values[2].frame = 0; }) ==
        "a value has a frame that is not there");
  CHECK(broken([](Program& p) {
          p.frames.push_back({.function = "f", .call = {}, .parent = 0});
        }) == "frame 0 has a parent that does not come before it");
  CHECK(broken([](Program& p) {
          p.values[0].type.shape = Shape({{"a", 1LL << 40}, {"b", 1LL << 40}});
        }) == "%0 (input): the volume overflows");
}

TEST_CASE("verify holds the iteration space against the types") {
  const auto with_space = [](IterationSpace (*space)(const OpCall&)) {
    Sketch s = layer();
    OpDef op = *s.program.values[2].op;
    op.space = space;
    s.program.values[2].op = &op;
    return verify(s.program);
  };
  CHECK(with_space(nullptr) == "%2 (einsum): the operation has no iteration space");
  CHECK(with_space([](const OpCall& call) {
          IterationSpace space = space_by_name(call);
          space.operands.pop_back();
          return space;
        }) == "%2 (einsum): the iteration space has another number of operands");
  CHECK(with_space([](const OpCall& call) {
          IterationSpace space = space_by_name(call);
          space.loops[0].size = 7;
          return space;
        }) == "%2 (einsum): the loops of dim `batch` of an operand do not multiply to its size");
  CHECK(with_space([](const OpCall& call) {
          IterationSpace space = space_by_name(call);
          space.loops[0].role = DimRole::kReduced;
          return space;
        }) == "%2 (einsum): the result has the reduced loop `batch`");
  CHECK(with_space([](const OpCall& call) {
          IterationSpace space = space_by_name(call);
          space.result[1].push_back(space.result[0][0]);
          return space;
        }) ==
        "%2 (einsum): dim `hidden` of the result is made of a loop that is not there or taken");
}

}  // namespace mtf
