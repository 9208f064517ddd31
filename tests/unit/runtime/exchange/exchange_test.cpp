// Every element arrives in its place, whatever the layouts; checked against slices cut from the
// whole tensor.

#include "runtime/exchange/exchange.h"

#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/reshard/reshard.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

Shape random_shape(std::mt19937& random) {
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < 1 + random() % 3; ++d) {
    static constexpr std::array<std::int64_t, 8> kSizes = {1, 3, 4, 8, 12, 16, 24, 5};
    dims.push_back({.name = std::string(1, static_cast<char>('p' + d)),
                    .size = kSizes[random() % kSizes.size()]});
  }
  return Shape(std::move(dims));
}

// Slices per rank that add up to `whole` over the partial axes.
PerRank<int> slices_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh,
                       const std::vector<int>& whole) {
  PerRank<int> result;
  const auto ways = static_cast<int>(mesh.size_of(layout.partial));
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const auto index = static_cast<int>(mesh.index_along(rank, layout.partial));
    std::vector<int>& slice =
        result.emplace_back(slice_values(shape, slice_of(shape, layout, mesh, rank), whole));
    for (int& value : slice) {  // a different share for each rank
      value = ways == 1 ? value : index * 1000 + (index == 0 ? value - 500 * ways * (ways - 1) : 0);
    }
  }
  return result;
}

struct Checked {
  Mesh mesh;
  std::unique_ptr<Communicator> communicator;
  BufferPool pool;
  Staging staging{.pool = &pool};
  std::map<StepKind, int> kinds;

  explicit Checked(const std::vector<std::int64_t>& sizes)
      : mesh(mesh_of(sizes)), communicator(simulated_communicator(mesh.ranks())) {}

  void reshard(const Shape& shape, const ValueLayout& from, const ValueLayout& to) {
    std::vector<int> whole(static_cast<std::size_t>(shape.volume()));
    std::iota(whole.begin(), whole.end(), 0);
    PerRank<int> values = slices_of(shape, from, mesh, whole);
    Resharder resharder(mesh);
    ValueLayout at = from;
    for (const Move& move : resharder.plan(shape, from, to)) {
      const ExchangeSpec spec{.kind = move.kind,
                              .type = {DType::kI32, shape},
                              .from = at,
                              .to = move.to,
                              .axes = move.axes};
      INFO(to_string(shape, at, mesh)
           << " " << to_string(move.kind) << " " << to_string(shape, move.to, mesh));
      REQUIRE(problem_with(mesh, spec).empty());
      const Exchange exchange(*communicator, mesh, spec);
      const auto volume = static_cast<std::size_t>(local_shape(shape, move.to, mesh).volume());
      PerRank<int> next;
      for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        next.emplace_back(holds(move.to, mesh, rank) ? volume : 0, -1);
      }
      exchange.run(*communicator, staging, ins(values), outs(next));
      values = std::move(next);
      at = move.to;
      ++kinds[move.kind];
    }
    INFO(to_string(shape, from, mesh) << " to " << to_string(shape, to, mesh));
    REQUIRE(values == slices_of(shape, to, mesh, whole));
  }
};

// Some layouts get a condition on an axis that they do not use.
ValueLayout partly_held(std::mt19937& random, ValueLayout layout, const Mesh& mesh) {
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    const auto axis = static_cast<AxisId>(i);
    if (layout.uses(axis) || mesh.axes[i].size == 1 || random() % 2 == 0) {
      continue;
    }
    Condition condition{.axis = axis, .same = std::nullopt, .at = 0};
    condition.at = static_cast<std::int64_t>(random()) % mesh.axes[i].size;
    for (const Axes& axes : layout.dims) {
      for (const AxisId other : axes) {
        if (mesh.axes[other].size == mesh.axes[i].size && random() % 2 == 0) {
          condition = {.axis = axis, .same = other};
        }
      }
    }
    layout.where.push_back(condition);
  }
  return layout;
}

TEST_CASE("every reshard step moves every element to its place") {
  std::mt19937 random(5);
  std::map<StepKind, int> kinds;
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 2}, {2, 4}, {2, 2, 2}, {3, 2}, {1, 4}}) {
    Checked checked(sizes);
    for (int round = 0; round < 300; ++round) {
      checked.staging.limit = round % 2 == 0 ? 1 << 20 : 24;  // in one part, in many
      const Shape shape = random_shape(random);
      ValueLayout from = random_layout(random, shape, checked.mesh);
      if (round % 3 == 0) {
        from = partly_held(random, from, checked.mesh);
      }
      for (std::size_t i = 0; i < checked.mesh.axes.size(); ++i) {
        const auto axis = static_cast<AxisId>(i);
        if (!from.uses(axis) && random() % 3 == 0) {
          from.partial.push_back(axis);
        }
      }
      ValueLayout to = random_layout(random, shape, checked.mesh);
      if (round % 3 != 1) {
        to = partly_held(random, to, checked.mesh);
      }
      checked.reshard(shape, from, to);
    }
    for (const auto& [kind, count] : checked.kinds) {
      kinds[kind] += count;
    }
  }
  for (const StepKind kind :
       {StepKind::kSlice, StepKind::kAllGather, StepKind::kAllToAll, StepKind::kPermute,
        StepKind::kAllReduce, StepKind::kReduceScatter, StepKind::kBroadcast, StepKind::kReduce}) {
    INFO(to_string(kind));
    CHECK(kinds[kind] >= 5);
  }
}

TEST_CASE("a slice may be cut inside its own buffer") {
  Checked checked({2});
  const Shape shape({{"p", 4}, {"q", 6}});
  const ValueLayout whole = replicated(shape);
  ValueLayout split = whole;
  split.dims[1] = {0};
  PerRank<int> values(2, std::vector<int>(24));
  std::iota(values[0].begin(), values[0].end(), 0);
  values[1] = values[0];
  const Exchange exchange(*checked.communicator, checked.mesh,
                          {.kind = StepKind::kSlice,
                           .type = {DType::kI32, shape},
                           .from = whole,
                           .to = split,
                           .axes = {0}});
  exchange.run(*checked.communicator, checked.staging, ins(values), outs(values));
  CHECK(std::vector<int>(values[1].begin(), values[1].begin() + 12) ==
        std::vector<int>{3, 4, 5, 9, 10, 11, 15, 16, 17, 21, 22, 23});
}

TEST_CASE("a step that cannot be is named") {
  const Mesh mesh = mesh_of({2, 2});
  const Shape shape({{"p", 8}});
  const auto along = [](Axes axes) {
    return ValueLayout{.dims = {std::move(axes)}, .partial = {}};
  };
  const auto problem = [&](StepKind kind, const ValueLayout& from, const ValueLayout& to) {
    return problem_with(
        mesh, {.kind = kind, .type = {DType::kF32, shape}, .from = from, .to = to, .axes = {0}});
  };
  CHECK(problem(StepKind::kAllGather, along({0, 1}), along({1})) ==
        "rank 0 would receive blocks of several shapes");
  CHECK(problem(StepKind::kPermute, along({0}), along({1})) ==
        "rank 0 needs a slice that nobody holds");
  CHECK(problem(StepKind::kAllReduce, along({0}), along({1})) == "rank 1 would hold another slice");
}

}  // namespace
}  // namespace mtf::test
