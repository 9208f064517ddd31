// On ten axes there are more layouts and more splits of loops than can be looked at: what is found
// then has to be legal and near the best that is known.

#include <string>

#include <catch2/catch.hpp>

#include "lowering/partition/split/split_price.h"
#include "stdlib/ops/table.h"
#include "tests/unit/lowering/random_layouts.h"

namespace mtf::tests {
namespace {

Mesh mesh_of(std::size_t axes) {
  Mesh mesh;
  mesh.name = "m";
  for (std::size_t a = 0; a < axes; ++a) {
    mesh.axes.push_back({.name = std::string(1, static_cast<char>('a' + a)), .size = 2});
  }
  return mesh;
}

// To have it whole on all ranks, and to keep a part.
std::int64_t received_by_gathering(const Shape& shape, const ValueLayout& from, const Mesh& mesh) {
  Axes axes;
  for (const Axes& split : from.dims) {
    axes.insert(axes.end(), split.begin(), split.end());
  }
  const std::int64_t whole = shape.volume();
  const std::int64_t summed =
      volume_of(StepKind::kAllReduce, whole / mesh.size_of(axes), 0, mesh.size_of(from.partial))
          .received;
  return summed + whole - whole / mesh.size_of(axes);
}

const std::int64_t kSize = 1 << 10;

}  // namespace

TEST_CASE("between layouts on ten axes a way is found, and never one by gathering for nothing") {
  const Mesh mesh = mesh_of(10);
  const Shape shape({{"p", kSize}, {"q", kSize}, {"r", kSize}});
  Random random(3);
  Resharder resharder(mesh);
  for (int i = 0; i < 60; ++i) {
    ValueLayout from = random.layout(shape, mesh);
    const ValueLayout to = random.layout(shape, mesh);
    for (AxisId axis = 0; axis < 10; ++axis) {
      if (!from.uses(axis) && random.below(2) == 0) {
        from.partial.push_back(axis);
      }
    }
    const std::vector<Move>& moves = resharder.plan(shape, from, to);
    CHECK((moves.empty() ? from : moves.back().to) == to);
    CHECK(resharder.received(shape, from, to) <= received_by_gathering(shape, from, mesh));
  }
}

TEST_CASE("a product on ten axes is split about as well as by any split drawn at random") {
  const Mesh mesh = mesh_of(10);
  OpCall call;
  call.op = find_op(op_table(), "einsum");
  call.operands = {{DType::kF32, Shape({{"b", kSize}, {"m", kSize}, {"k", kSize}})},
                   {DType::kF32, Shape({{"k", kSize}, {"n", kSize}})}};
  call.result = {DType::kF32, Shape({{"b", kSize}, {"m", kSize}, {"n", kSize}})};
  call.args.set("to", call.result.shape);
  const IterationSpace space = call.op->space(call);
  constexpr double kNear = 1.25;
  Random random(5);
  for (int i = 0; i < 24; ++i) {
    const std::vector<ValueLayout> operands = {random.layout(call.operands[0].shape, mesh),
                                               random.layout(call.operands[1].shape, mesh)};
    const ValueLayout result = random.layout(call.result.shape, mesh);
    const SplitProblem problem{
        .call = call, .space = space, .operands = operands, .result = result};
    Resharder resharder(mesh);
    const LoopSplit split = choose_split(problem, resharder, mesh);
    const auto price_of = [&](const LoopSplit& of) {
      return static_cast<double>(of.bytes) + priced_arithmetic(call, space, of.volume);
    };
    SplitPricer pricer(problem, resharder, mesh);
    for (int j = 0; j < 100; ++j) {
      std::vector<Axes> loops(space.loops.size());
      for (AxisId axis = 0; axis < 10; ++axis) {
        if (const std::size_t loop = random.below(loops.size() + 1); loop < loops.size()) {
          loops[loop].push_back(axis);
        }
      }
      const auto other = pricer.priced(loops, price_of(split));
      CHECK((!other || price_of(split) <= kNear * price_of(*other)));
    }
  }
}

}  // namespace mtf::tests
