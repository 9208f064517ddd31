// No plan moves more than the cheapest of all plans, which is found by trying them all.

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/reshard/reshard_parts.h"
#include "stdlib/ops/table.h"
#include "tests/unit/lowering/random_layouts.h"
#include "tests/unit/lowering/reshard/exhaustive.h"

namespace mtf::tests {
namespace {

Mesh mesh_with(const std::vector<std::int64_t>& sizes) {
  Mesh mesh;
  mesh.name = "m";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mesh.axes.push_back({.name = std::string(1, "xyzw"[i]), .size = sizes[i]});
  }
  return mesh;
}

using Meshes = std::vector<std::vector<std::int64_t>>;
const Meshes kMeshes = {{2, 2}, {2, 4}, {2, 2, 2}};
const Meshes kFourAxes = {{2, 2, 2, 2}};

// Of tensors that are small, steps are along the axes that the layouts name; of large ones also
// along the others, as bytes then count for more than messages.
struct Cases {
  const Meshes& meshes = kMeshes;
  std::uint64_t seed = 1;
  int count = 0;
  std::int64_t scale = 1;  // of the sizes of dims
  bool of_itself = false;  // products: of a tensor and itself

  [[nodiscard]] Exhaustive::Along along() const {
    return scale == 1 ? Exhaustive::Along::kNamed : Exhaustive::Along::kAll;
  }
};

// A product of two tensors: dims of both, of each alone, and summed ones.
OpCall random_product(Random& random, const Cases& cases) {
  std::vector<Dim> left;
  std::vector<Dim> right;
  std::vector<Dim> made;
  const auto add = [&](const char* name, bool in_left, bool in_right, bool kept) {
    const Dim dim{name, cases.scale * random.size()};
    if (in_left) {
      left.insert(left.begin() + static_cast<std::ptrdiff_t>(random.below(left.size() + 1)), dim);
    }
    if (in_right) {
      right.insert(right.begin() + static_cast<std::ptrdiff_t>(random.below(right.size() + 1)),
                   dim);
    }
    if (kept) {
      made.insert(made.begin() + static_cast<std::ptrdiff_t>(random.below(made.size() + 1)), dim);
    }
  };
  add("m", true, cases.of_itself, true);
  add("n", false, !cases.of_itself, !cases.of_itself);
  add("k", true, true, false);
  if (random.below(3) == 0) {
    add("b", true, true, true);
  } else if (random.below(3) == 0) {
    add("l", true, true, false);
  }
  OpCall call;
  call.op = find_op(op_table(), "einsum");
  call.operands = {{DType::kF32, Shape(left)},
                   {DType::kF32, Shape(cases.of_itself ? left : right)}};
  call.result = {DType::kF32, Shape(made)};
  call.args.set("to", Shape(made));
  return call;
}

struct Compared {
  std::int64_t dominated = 0;
  std::string worst;
};

Axes axes_of(const std::vector<ValueLayout>& layouts, const Mesh& mesh) {
  Axes axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (std::ranges::any_of(layouts, [axis](const ValueLayout& l) { return l.uses(axis); })) {
      axes.push_back(axis);
    }
  }
  return axes;
}

void compare_product(Random& random, const Cases& cases, Compared& compared) {
  const OpCall call = random_product(random, cases);
  const IterationSpace space = call.op->space(call);
  const Mesh mesh = mesh_with(cases.meshes[random.below(cases.meshes.size())]);
  std::vector<ValueLayout> operands = {random.layout(call.operands[0].shape, mesh)};
  operands.push_back(cases.of_itself ? operands[0] : random.layout(call.operands[1].shape, mesh));
  const ValueLayout result = random.layout(call.result.shape, mesh);
  SplitProblem problem{.call = call, .space = space, .operands = operands, .result = result};
  if (cases.of_itself) {
    problem.same = {0, 0};
  }
  Resharder resharder(mesh);
  const LoopSplit split = choose_split(problem, resharder, mesh);
  std::vector<Exhaustive> tensors;
  tensors.emplace_back(call.operands[0].shape, mesh, cases.along());
  tensors.emplace_back(call.operands[1].shape, mesh, cases.along());
  tensors.emplace_back(call.result.shape, mesh, cases.along());
  const Cheapest least =
      cheapest_split(problem, axes_of({operands[0], operands[1], result}, mesh), mesh, tensors);
  const double price =
      static_cast<double>(split.bytes) + priced_arithmetic(call, space, split.volume);
  if (price > least.price * (1 + 1e-9)) {
    ++compared.dominated;
    const auto loops_text = [&](const std::vector<Axes>& loops) {
      std::string text;
      for (std::size_t l = 0; l < loops.size(); ++l) {
        text += " " + space.loops[l].name + ":" + to_string(mesh, loops[l]);
      }
      return text;
    };
    compared.worst += to_string(mesh) + " " + to_string(call.operands[0].shape, operands[0], mesh) +
                      " " + to_string(call.operands[0].shape) + " * " +
                      to_string(call.operands[1].shape, operands[1], mesh) + " " +
                      to_string(call.operands[1].shape) + " -> " +
                      to_string(call.result.shape, result, mesh) + ": " + std::to_string(price) +
                      " by" + loops_text(split.loops) + ", not " + std::to_string(least.price) +
                      " by" + loops_text(least.loops) + "\n";
  }
}

Compared compare_products(const Cases& cases) {
  Random random(cases.seed);
  Compared compared;
  for (int i = 0; i < cases.count; ++i) {
    compare_product(random, cases, compared);
  }
  return compared;
}

// One of the dims is so many times as long.
Shape random_shape(Random& random, std::int64_t scale) {
  std::vector<Dim> dims;
  const std::size_t rank = 1 + random.below(3);
  for (std::size_t d = 0; d < rank; ++d) {
    dims.push_back({std::string(1, static_cast<char>('a' + d)), random.size()});
  }
  dims[scale == 1 ? 0 : random.below(rank)].size *= scale;
  return Shape(dims);
}

Compared compare_reshards(const Cases& cases) {
  Random random(cases.seed);
  Compared compared;
  for (int i = 0; i < cases.count; ++i) {
    const Shape shape = random_shape(random, cases.scale);
    const Mesh mesh = mesh_with(cases.meshes[random.below(cases.meshes.size())]);
    ValueLayout from = random.layout(shape, mesh);
    const ValueLayout to = random.layout(shape, mesh);
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      if (const auto axis = static_cast<AxisId>(a); !from.uses(axis) && random.below(2) == 0) {
        from.partial.insert(from.partial.begin() +
                                static_cast<std::ptrdiff_t>(random.below(from.partial.size() + 1)),
                            axis);
      }
    }
    Resharder resharder(mesh);
    const std::int64_t received = resharder.received(shape, from, to);
    const std::int64_t least = Exhaustive(shape, mesh, cases.along()).received(from, to);
    if (received != least) {
      ++compared.dominated;
      compared.worst += to_string(mesh) + " " + to_string(shape) + " " +
                        to_string(shape, from, mesh) + " -> " + to_string(shape, to, mesh) + ": " +
                        std::to_string(received) + ", not " + std::to_string(least) + "\n";
    }
  }
  return compared;
}

// On 2 by 2 by 2 ranks instead of 2 by 4.
Axes halved(const Axes& axes) {
  Axes halves;
  for (const AxisId axis : axes) {
    halves.push_back(axis);
    if (axis == 1) {
      halves.push_back(2);
    }
  }
  return halves;
}

ValueLayout halved(ValueLayout layout) {
  for (Axes& axes : layout.dims) {
    axes = halved(axes);
  }
  layout.partial = halved(layout.partial);
  return layout;
}

}  // namespace

TEST_CASE("what parts of axes would save is what exhaustive search on the cut mesh finds") {
  Random random(7);
  const Mesh mesh = mesh_with({2, 4});
  const Mesh cut = mesh_with({2, 2, 2});
  int saved = 0;
  for (int i = 0; i < 200; ++i) {
    const Shape shape = random_shape(random, 1);
    const ValueLayout from = random.layout(shape, mesh);
    const ValueLayout to = random.layout(shape, mesh);
    const auto in_parts = received_in_parts(shape, mesh, from, to);
    REQUIRE(in_parts);
    CHECK(*in_parts ==
          Exhaustive(shape, cut, Exhaustive::Along::kNamed).received(halved(from), halved(to)));
    const std::int64_t whole = Resharder(mesh).received(shape, from, to);
    CHECK(*in_parts <= whole);
    saved += *in_parts < whole ? 1 : 0;
  }
  CHECK(saved > 0);
  CHECK_FALSE(received_in_parts(random_shape(random, 1), cut, {}, {}));
}

TEST_CASE("no reshard receives more than the cheapest of all sequences") {
  const Compared compared = compare_reshards({.count = 300});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
}

TEST_CASE("no reshard of a large tensor receives more, whatever axes the sequence is along") {
  const Compared compared = compare_reshards({.count = 300, .scale = 1 << 24});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
}

TEST_CASE("no reshard on four axes receives more than the cheapest of all sequences") {
  Compared compared = compare_reshards({.meshes = kFourAxes, .count = 40});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
  compared = compare_reshards({.meshes = kFourAxes, .count = 40, .scale = 1 << 24});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
}

TEST_CASE("no product moves more than the cheapest of all loop splits and finishes") {
  Compared compared = compare_products({.count = 60});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
  compared = compare_products({.count = 60, .scale = 1 << 12});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
}

TEST_CASE("a tensor that is multiplied by itself is received once") {
  const Compared compared = compare_products({.count = 200, .of_itself = true});
  INFO(compared.worst);
  CHECK(compared.dominated == 0);
}

TEST_CASE("no reshard of 5,000 receives more than the cheapest of all", "[.long]") {
  for (const std::int64_t scale : {1, 1 << 24}) {
    Compared compared = compare_reshards({.seed = 1000, .count = 5000, .scale = scale});
    INFO(compared.worst);
    CHECK(compared.dominated == 0);
    compared = compare_reshards({.meshes = kFourAxes, .seed = 1000, .count = 500, .scale = scale});
    INFO(compared.worst);
    CHECK(compared.dominated == 0);
  }
}

TEST_CASE("no product of 500 moves more than the cheapest of all", "[.long]") {
  for (const std::int64_t scale : {1, 1 << 12}) {
    const Compared compared = compare_products({.seed = 1000, .count = 500, .scale = scale});
    INFO(compared.worst);
    CHECK(compared.dominated == 0);
  }
}

}  // namespace mtf::tests
