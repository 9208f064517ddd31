// Pictures held to what the executor does: blocks to the slices that it cuts, and collectives to
// the elements that arrive.

#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "frontend/report/show/shown.h"
#include "lowering/reshard/reshard.h"
#include "runtime/exchange/exchange.h"
#include "runtime/execute/tensor.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

Shape some_shape(std::mt19937& random) {
  static constexpr std::array<std::int64_t, 7> kSizes = {1, 3, 4, 8, 12, 16, 5};
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < 1 + random() % 3; ++d) {
    dims.push_back({.name = std::string(1, static_cast<char>('p' + d)),
                    .size = kSizes[random() % kSizes.size()]});
  }
  return Shape(std::move(dims));
}

// Splits that need not divide, where the mesh is uneven.
ValueLayout some_layout(std::mt19937& random, const Shape& shape, const Mesh& mesh) {
  ValueLayout layout = random_layout(random, shape, mesh);
  for (std::size_t i = 0; mesh.uneven && i < mesh.axes.size(); ++i) {
    const auto axis = static_cast<AxisId>(i);
    if (!layout.uses(axis) && random() % 2 == 0) {
      layout.dims[random() % shape.rank()].push_back(axis);
    }
  }
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    const auto axis = static_cast<AxisId>(i);
    if (!layout.uses(axis) && mesh.axes[i].size > 1 && random() % 4 == 0) {
      layout.where.push_back({.axis = axis, .same = std::nullopt, .at = 0});
    }
  }
  return layout;
}

std::vector<Mesh> some_meshes() {
  std::vector<Mesh> meshes;
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 2}, {2, 4}, {2, 2, 2}, {3, 2}, {1, 4}}) {
    meshes.push_back(mesh_of(sizes));
    meshes.push_back(mesh_of(sizes));
    meshes.back().uneven = true;
  }
  return meshes;
}

std::vector<int> counted(const Shape& shape) {
  std::vector<int> whole(static_cast<std::size_t>(shape.volume()));
  std::iota(whole.begin(), whole.end(), 0);
  return whole;
}

TEST_CASE("a block's ranks hold its elements, as the executor cuts a tensor") {
  std::mt19937 random(3);
  BufferPool pool;
  for (const Mesh& mesh : some_meshes()) {
    const std::unique_ptr<Communicator> communicator = simulated_communicator(mesh.ranks());
    for (int round = 0; round < 100; ++round) {
      const Shape shape = some_shape(random);
      const ValueLayout layout = some_layout(random, shape, mesh);
      const std::vector<int> whole = counted(shape);
      const RankTensor tensor = scatter(pool, *communicator, mesh, {DType::kI32, shape}, layout,
                                        std::as_bytes(std::span(whole)));
      const Blocks blocks = blocks_of(shape, layout, mesh);
      std::size_t held = 0;
      for (const Block& block : blocks.list) {
        for (const std::vector<std::int64_t>& terms : block.holders) {
          REQUIRE(terms.size() == 1);
          ++held;
          const std::vector<int> wanted = slice_values(shape, block.slice, whole);
          const Buffer& part = tensor.parts[static_cast<std::size_t>(terms.front())];
          const auto* values = reinterpret_cast<const int*>(part.data());
          CHECK(std::vector<int>(values, values + wanted.size()) == wanted);
        }
      }
      CHECK(held + blocks.nothing.size() == static_cast<std::size_t>(mesh.ranks()));
    }
  }
}

// What each rank has before a step: its number, or of parts that are added a bit of its own. As
// much as the longest slice, which is what messages are made of.
PerRank<int> signatures(const MovePicture& move) {
  PerRank<int> values;
  for (std::int64_t rank = 0; rank < move.from.mesh.ranks(); ++rank) {
    const auto volume = static_cast<std::size_t>(
        local_shape(move.from.type.shape, move.from.layout, move.from.mesh).volume());
    values.emplace_back(volume, move.adds ? 1 << rank : static_cast<int>(rank));
  }
  return values;
}

// Of each element of a rank's slice who gave it, by the picture.
std::vector<int> drawn(const MovePicture& move, std::int64_t rank) {
  const Shape& shape = move.to.type.shape;
  std::vector<int> whole(static_cast<std::size_t>(shape.volume()), move.adds ? 0 : -1);
  const std::vector<int> places = counted(shape);
  for (const Delivery& delivery : deliveries_to(move, rank)) {
    CHECK(delivery.to == rank);
    for (const int place : slice_values(shape, delivery.part, places)) {
      int& value = whole[static_cast<std::size_t>(place)];
      CHECK((move.adds || value == -1));
      value = move.adds ? value + (1 << delivery.from) : static_cast<int>(delivery.from);
    }
  }
  return slice_values(shape, slice_of(shape, move.to.layout, move.to.mesh, rank), whole);
}

TEST_CASE("what a picture says moves from whom to whom is what arrives") {
  std::mt19937 random(4);
  std::map<StepKind, int> kinds;
  BufferPool pool;
  for (const Mesh& mesh : some_meshes()) {
    const std::unique_ptr<Communicator> communicator = simulated_communicator(mesh.ranks());
    Staging staging{.pool = &pool};
    for (int round = 0; round < 100; ++round) {
      const Shape shape = some_shape(random);
      ValueLayout at = some_layout(random, shape, mesh);
      for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
        if (!at.uses(static_cast<AxisId>(i)) && random() % 2 == 0) {
          at.partial.push_back(static_cast<AxisId>(i));
        }
      }
      const ValueLayout end = some_layout(random, shape, mesh);
      Resharder resharder(mesh);
      for (const Move& step : resharder.plan(shape, at, end)) {
        const TensorType type{DType::kI32, shape};
        const ExchangeSpec spec{
            .kind = step.kind, .type = type, .from = at, .to = step.to, .axes = step.axes};
        REQUIRE(problem_with(mesh, spec).empty());
        const MovePicture move{.text = "",
                               .kind = step.kind,
                               .axes = step.axes,
                               .adds = step.kind == StepKind::kAllReduce ||
                                       step.kind == StepKind::kReduceScatter ||
                                       step.kind == StepKind::kReduce,
                               .from = {.name = "t", .type = type, .layout = at, .mesh = mesh},
                               .to = {.name = "t", .type = type, .layout = step.to, .mesh = mesh}};
        PerRank<int> before = signatures(move);
        PerRank<int> after;
        for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
          after.emplace_back(static_cast<std::size_t>(local_shape(shape, step.to, mesh).volume()),
                             -1);
        }
        const Exchange exchange(*communicator, mesh, spec);
        exchange.run(*communicator, staging, ins(before), outs(after));
        INFO(to_string(shape, at, mesh)
             << " " << to_string(step.kind) << " " << to_string(shape, step.to, mesh));
        for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
          const std::vector<int> wanted = drawn(move, rank);
          std::vector<int>& got = after[static_cast<std::size_t>(rank)];
          got.resize(wanted.size());
          REQUIRE(got == wanted);
        }
        ++kinds[step.kind];
        at = step.to;
      }
    }
  }
  for (const StepKind kind :
       {StepKind::kSlice, StepKind::kAllGather, StepKind::kAllToAll, StepKind::kPermute,
        StepKind::kAllReduce, StepKind::kReduceScatter, StepKind::kBroadcast, StepKind::kReduce}) {
    INFO(to_string(kind));
    CHECK(kinds[kind] >= 5);
  }
}

}  // namespace
}  // namespace mtf::test
