// Gradients against finite differences and against text.

#include "ir/rewrite/autodiff.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "tests/unit/ir/tiny_ops.h"

namespace mtf {
namespace {

using tiny::Sketch;
using Numbers = std::vector<std::vector<double>>;

Numbers numbers_for(const Program& program) {
  Numbers inputs;
  for (const Input& input : program.inputs) {
    const auto volume = static_cast<std::size_t>(program.at(input.value).type.shape.volume());
    std::vector<double>& numbers = inputs.emplace_back(volume);
    for (std::size_t i = 0; i < volume; ++i) {
      numbers[i] = 0.3 + std::cos(static_cast<double>(inputs.size()) + static_cast<double>(i));
    }
  }
  return inputs;
}

double scalar_at(const Program& program, const Numbers& inputs, ValueId id) {
  return tiny::evaluate(program, inputs)[static_cast<std::size_t>(id.index)].at(0);
}

// The gradients of `of` for all inputs, each checked against central differences.
std::vector<ValueId> checked_gradients(Sketch& s, ValueId of) {
  std::vector<ValueId> targets;
  for (const Input& input : s.program.inputs) {
    targets.push_back(input.value);
  }
  std::vector<ValueId> result = gradients(s.builder, of, targets);
  CHECK(verify(s.program).empty());
  const Numbers inputs = numbers_for(s.program);
  const Numbers values = tiny::evaluate(s.program, inputs);
  constexpr double kStep = 1e-5;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    REQUIRE(result[t].valid());
    CHECK(s.builder.type_of(result[t]) == s.builder.type_of(targets[t]));
    for (std::size_t i = 0; i < inputs[t].size(); ++i) {
      Numbers moved = inputs;
      moved[t][i] += kStep;
      const double above = scalar_at(s.program, moved, of);
      moved[t][i] -= 2 * kStep;
      const double below = scalar_at(s.program, moved, of);
      const double exact = values[static_cast<std::size_t>(result[t].index)][i];
      CHECK(exact == Approx((above - below) / (2 * kStep)).epsilon(1e-4).margin(1e-7));
    }
  }
  return result;
}

ValueId sum_all(Sketch& s, ValueId x) {
  return s.emit("sum", {x}, Shape());
}

}  // namespace

TEST_CASE("a layer's gradients agree with finite differences") {
  Sketch s;
  const ValueId x = s.argument("x", Shape({{"b", 2}, {"i", 3}}));
  const ValueId w = s.param("w", Shape({{"i", 3}, {"h", 2}}));
  const ValueId bias = s.param("bias", Shape({{"h", 2}}));
  const ValueId h = s.emit("einsum", {x, w}, Shape({{"b", 2}, {"h", 2}}));
  const ValueId y = s.emit("sin", {s.emit("add", {h, bias})});
  checked_gradients(s, sum_all(s, s.emit("square", {y})));
}

TEST_CASE("gradients of broadcast operands are summed down, of sums are broadcast") {
  Sketch s;
  const ValueId a = s.param("a", Shape({{"i", 2}}));
  const ValueId b = s.param("b", Shape({{"j", 3}}));
  const ValueId c = s.param("c", Shape());
  const ValueId outer = s.emit("mul", {a, b});
  const ValueId part = s.emit("sum", {outer}, Shape({{"j", 3}}));
  const ValueId y = s.emit("mul", {s.emit("sin", {part}), s.emit("mul", {outer, c})});
  checked_gradients(s, sum_all(s, y));
}

TEST_CASE("a gradient has its target's dims in its target's order") {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 2}, {"j", 3}}));
  const ValueId y = s.param("y", Shape({{"j", 3}, {"i", 2}}));
  const ValueId z = s.emit("mul", {x, s.emit("sin", {y})});
  checked_gradients(s, sum_all(s, z));
}

TEST_CASE("a value read twice gets both gradients") {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 3}}));
  const ValueId y = s.emit("add", {s.emit("sin", {x}), x});
  checked_gradients(s, sum_all(s, s.emit("mul", {y, x})));
}

TEST_CASE("gradients can be differentiated again, and again") {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 3}}));
  const ValueId w = s.param("w", Shape({{"i", 3}}));
  const ValueId y = sum_all(s, s.emit("sin", {s.emit("mul", {s.emit("square", {x}), w})}));
  const std::vector<ValueId> first = checked_gradients(s, y);
  const std::vector<ValueId> second = checked_gradients(s, sum_all(s, s.emit("sin", {first[0]})));
  checked_gradients(s, sum_all(s, second[1]));
}

TEST_CASE("the gradient with respect to a value in between stops there or goes on") {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 2}}));
  const ValueId h = s.emit("sin", {x});
  const ValueId loss = sum_all(s, h);
  const std::vector<ValueId> both = gradients(s.builder, loss, std::vector{h, x});
  CHECK(s.program.at(both[0]).op->name == "broadcast");
  CHECK(both[1].valid());
  const std::vector<ValueId> itself = gradients(s.builder, loss, std::vector{loss});
  CHECK(s.program.at(itself[0]).op->name == "fill");
}

TEST_CASE("nothing flows to integers, through stops, or to what the value does not depend on") {
  Sketch s;
  const ValueId x = s.param("x", Shape({{"i", 2}}));
  const ValueId n = s.argument("n", Shape(), DType::kI32);
  const ValueId other = s.param("other", Shape());
  const ValueId loss = sum_all(s, s.emit("stop", {x}));
  const ValueId later = s.emit("sin", {loss});
  const std::size_t size = s.program.values.size();
  for (const ValueId target : gradients(s.builder, loss, std::vector{x, n, other, later})) {
    CHECK_FALSE(target.valid());
  }
  CHECK(s.program.values.size() == size);
}

TEST_CASE("only the way between the targets and the result is differentiated") {
  Sketch s;
  const ValueId x = s.argument("x", Shape({{"b", 2}, {"i", 3}}));
  const ValueId w = s.param("w", Shape({{"i", 3}}));
  const ValueId loss = sum_all(s, s.emit("mul", {s.emit("sin", {x}), w}));
  const std::vector<ValueId> result = gradients(s.builder, loss, std::vector{w});
  s.program.outputs = result;
  const std::string text = to_string(tiny::simplified(s.program));
  CHECK(text.find("cos") == std::string::npos);
  CHECK(text ==
        "sketch\n"
        "  %0 = argument \"x\" : f32[b 2, i 3]\n"
        "  %1 = param \"w\" : f32[i 3]\n"
        "  %2 = sin(%0) : f32[b 2, i 3]\n"
        "  %3 = fill(shape = [], value = 1.0, dtype = f32) : f32[]\n"
        "  %4 = sum(%2) : f32[i 3]\n"
        "  %5 = mul(%3, %4) : f32[i 3]\n"
        "  return %5\n");
}

TEST_CASE("gradients stand at the place and in the call of what they differentiate") {
  Sketch s;
  s.program.frames = {{.function = "f", .call = {}, .parent = -1}};
  const ValueId x = s.param("x", Shape({{"i", 2}}));
  s.builder.at({{0}, 3, 4}, 0);
  const ValueId y = s.emit("sin", {x});
  s.builder.at({{0}, 7, 8}, -1);
  const std::vector<ValueId> result = gradients(s.builder, sum_all(s, y), std::vector{x});
  CHECK(s.program.at(result[0]).span.begin == 3);
  CHECK(s.program.at(result[0]).frame == 0);
  CHECK(s.builder.span().begin == 7);
  CHECK(s.builder.frame() == -1);
}

}  // namespace mtf
