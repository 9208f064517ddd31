// The planner's sequences (lowering/SHARDING.md) and their cost.

#include "lowering/reshard/reshard.h"

#include <string>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

Mesh mesh_of(std::vector<std::int64_t> sizes) {
  Mesh mesh;
  mesh.name = "m";
  const std::string names = "xyz";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mesh.axes.push_back({.name = names.substr(i, 1), .size = sizes[i]});
  }
  return mesh;
}

Shape cube(std::size_t rank) {
  std::vector<Dim> dims;
  const std::string names = "abc";
  for (std::size_t i = 0; i < rank; ++i) {
    dims.push_back({names.substr(i, 1), 16});
  }
  return Shape(dims);
}

// "x,y|" is dim 0 over (x, y), dim 1 whole.
ValueLayout layout_of(const Mesh& mesh, const std::string& text) {
  ValueLayout layout{.dims = {{}}, .partial = {}};
  for (const char c : text) {
    if (c == '|') {
      layout.dims.emplace_back();
    } else if (const auto axis = mesh.find(std::string(1, c))) {
      layout.dims.back().push_back(*axis);
    }
  }
  return layout;
}

std::string text_of(const Mesh& mesh, const std::vector<Move>& moves) {
  std::string text;
  for (const Move& move : moves) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(move.kind));
    for (const AxisId axis : move.axes) {
      text += " " + mesh.axes[axis].name;
    }
  }
  return text;
}

std::string plan(const Mesh& mesh, const std::string& from, const std::string& to) {
  const ValueLayout source = layout_of(mesh, from);
  Resharder resharder(mesh);
  return text_of(mesh, resharder.plan(cube(source.dims.size()), source, layout_of(mesh, to)));
}

TEST_CASE("the planner finds the shortest sequences of the literature") {
  const Mesh square = mesh_of({2, 2});
  CHECK(plan(square, "x|", "|x") == "all_to_all x");
  CHECK(plan(square, "x|", "y|") == "permute x y");
  CHECK(plan(square, "x|", "|y") == "slice y; all_gather x");
  CHECK(plan(square, "x|y", "y|x") == "permute x y");
  CHECK(plan(square, "xy|", "yx|") == "permute x y");
  CHECK(plan(square, "xy|", "|xy") == "all_to_all x y");
  CHECK(plan(square, "xy|", "x|y") == "all_to_all y");
  CHECK(plan(square, "x|y", "xy|") == "all_to_all y");
  CHECK(plan(square, "x|y", "|") == "all_gather x y");
  CHECK(plan(square, "|", "x|y") == "slice x y");
  CHECK(plan(square, "x|y", "x|y").empty());
}

TEST_CASE("axes of unequal sizes change places without replicating the tensor") {
  const Mesh mesh = mesh_of({2, 4});
  Resharder resharder(mesh);
  const ValueLayout from = layout_of(mesh, "x|");
  const ValueLayout to = layout_of(mesh, "y|");
  const std::int64_t whole = cube(2).volume();
  for (const Move& move : resharder.plan(cube(2), from, to)) {
    CHECK(resharder.local_volume(cube(2), move.to) < whole);
  }
}

TEST_CASE("a partial sum is scattered where the target wants the axis, else reduced everywhere") {
  const Mesh mesh = mesh_of({2, 2});
  Resharder resharder(mesh);
  ValueLayout pending = layout_of(mesh, "|");
  pending.partial = {0, 1};
  CHECK(text_of(mesh, resharder.plan(cube(2), pending, layout_of(mesh, "|"))) == "all_reduce x y");
  CHECK(text_of(mesh, resharder.plan(cube(2), pending, layout_of(mesh, "x|y"))) ==
        "reduce_scatter x y");
  CHECK(text_of(mesh, resharder.plan(cube(2), pending, layout_of(mesh, "|y"))) ==
        "reduce_scatter y; all_reduce x");
  pending.partial = {0};
  CHECK(text_of(mesh, resharder.plan(cube(2), pending, layout_of(mesh, "|y"))) ==
        "slice y; all_reduce x");
}

// Where y == z, as the planner of a vector of the 3-D algorithm sees it.
ValueLayout on_diagonal(ValueLayout layout) {
  layout.where = {{.axis = 2, .same = 1}};
  return layout;
}

TEST_CASE("a diagonal serves both directions: it is broadcast over either of its axes") {
  const Mesh mesh = mesh_of({2, 2, 2});
  Resharder resharder(mesh);
  const ValueLayout stored = on_diagonal(layout_of(mesh, "yx"));
  const auto plan_to = [&](const std::string& to) {
    return text_of(mesh, resharder.plan(cube(1), stored, layout_of(mesh, to)));
  };
  CHECK(plan_to("y") == "broadcast z; all_gather x");
  CHECK(plan_to("z") == "broadcast y; all_gather x");
  CHECK(plan_to("yxz") == "broadcast z; slice z");
  CHECK(resharder.received(cube(1), stored, layout_of(mesh, "z")) == 4 + 4);
  CHECK(text_of(mesh, resharder.plan(cube(1), layout_of(mesh, "y"), stored)) == "slice x z");
  CHECK(text_of(mesh, resharder.plan(cube(1), layout_of(mesh, "z"), stored)) == "slice x y");
}

TEST_CASE("a partial sum is reduced to the ranks that are to hold it") {
  const Mesh mesh = mesh_of({2, 2, 2});
  Resharder resharder(mesh);
  const auto plan_from = [&](const std::string& dims, Axes partial, const ValueLayout& to) {
    ValueLayout pending = layout_of(mesh, dims);
    pending.partial = std::move(partial);
    return text_of(mesh, resharder.plan(cube(1), pending, to));
  };
  const ValueLayout diagonal = on_diagonal(layout_of(mesh, "yx"));
  CHECK(plan_from("y", {0, 2}, diagonal) == "reduce z; reduce_scatter x");
  CHECK(plan_from("z", {0, 1}, diagonal) == "reduce y; reduce_scatter x");
  CHECK(plan_from("", {1, 2}, on_diagonal(layout_of(mesh, "y"))) == "reduce_scatter z; reduce y");
  ValueLayout row = layout_of(mesh, "x");
  row.where = {{.axis = 1, .same = std::nullopt, .at = 1}, {.axis = 2, .same = std::nullopt}};
  CHECK(plan_from("x", {1, 2}, row) == "reduce y z");
  CHECK(text_of(mesh, resharder.plan(cube(1), row, layout_of(mesh, "x"))) == "broadcast y z");
}

TEST_CASE("received elements are those of bandwidth-optimal collectives") {
  CHECK(volume_of(StepKind::kAllGather, 100, 400, 4).received == 300);
  CHECK(volume_of(StepKind::kReduceScatter, 100, 25, 4).received == 75);
  CHECK(volume_of(StepKind::kAllReduce, 100, 100, 4).received == 150);
  CHECK(volume_of(StepKind::kAllToAll, 100, 100, 4).received == 75);
  CHECK(volume_of(StepKind::kPermute, 100, 100, 4).received == 100);
  CHECK(volume_of(StepKind::kSlice, 100, 25, 4).received == 0);
  CHECK(volume_of(StepKind::kBroadcast, 100, 100, 4).received == 100);
  CHECK(volume_of(StepKind::kReduce, 100, 100, 4).received == 100);
}

TEST_CASE("three dims on a cube of ranks: every pair of layouts has a plan that ends there") {
  const Mesh mesh = mesh_of({2, 2, 2});
  std::vector<ValueLayout> layouts;
  const std::vector<std::string> texts = {"||",   "x||",  "|y|",   "x|y|z", "z|x|y", "xyz||",
                                          "|zx|", "||yx", "x||zy", "yz|x|", "|x|",   "zy||x"};
  Resharder resharder(mesh);
  for (const std::string& from : texts) {
    for (const std::string& to : texts) {
      const ValueLayout target = layout_of(mesh, to);
      const auto& moves = resharder.plan(cube(3), layout_of(mesh, from), target);
      CHECK((moves.empty() ? layout_of(mesh, from) : moves.back().to) == target);
    }
  }
}

}  // namespace
}  // namespace mtf
