// Dtypes, shapes and meshes.

#include "ir/shape.h"

#include <catch2/catch.hpp>

#include "ir/layout/mesh.h"

namespace mtf {

TEST_CASE("every dtype is found by its name") {
  for (const DType dtype :
       {DType::kF32, DType::kF64, DType::kI32, DType::kI64, DType::kBool, DType::kU8}) {
    CHECK(find_dtype(to_string(dtype)) == dtype);
  }
  CHECK_FALSE(find_dtype("float"));
  CHECK(bytes_of(DType::kF64) == 8);
  CHECK(bytes_of(DType::kBool) == 1);
  CHECK_FALSE(is_integer(DType::kBool));
}

TEST_CASE("a shape is looked up by name") {
  const Shape shape({{"batch", 8}, {"io", 3}});
  CHECK(shape.index_of("io") == 1U);
  CHECK(shape.find("batch")->size == 8);
  CHECK(shape.find("hidden") == nullptr);
  CHECK(shape.without("batch") == Shape({{"io", 3}}));
  CHECK(shape.with({"hidden", 4}).rank() == 3);
  CHECK(shape.resized("io", 5) == Shape({{"batch", 8}, {"io", 5}}));
  CHECK(strides_of(shape) == std::vector<std::int64_t>{3, 1});
  CHECK(strides_of(Shape()).empty());
}

TEST_CASE("a shape is printed with its sizes") {
  CHECK(to_string(Shape({{"batch", 8}, {"hidden", 16}})) == "[batch 8, hidden 16]");
  CHECK(to_string(TensorType{DType::kI32, Shape()}) == "i32[]");
}

TEST_CASE("volumes beyond 2^62 are seen") {
  CHECK(Shape().volume() == 1);
  CHECK(Shape({{"a", 6}, {"b", 7}}).volume() == 42);
  CHECK(Shape({{"a", 1LL << 62}}).checked_volume() == 1LL << 62);
  CHECK_FALSE(Shape({{"a", 1LL << 62}, {"b", 2}}).checked_volume());
  CHECK_FALSE(Shape({{"a", 1LL << 40}, {"b", 1LL << 40}}).checked_volume());
  CHECK(Shape({{"a", 0}, {"b", 7}}).checked_volume() == 0);
  CHECK_FALSE(Shape({{"a", 1LL << 40}, {"zero", 0}, {"b", 1LL << 40}}).checked_volume());
  CHECK(TensorType{DType::kF64, Shape({{"a", 1LL << 62}})}.bytes() == INT64_MAX);
}

TEST_CASE("dims match by name and size, in any order") {
  const Shape ab({{"a", 2}, {"b", 3}});
  CHECK(same_dims(ab, Shape({{"b", 3}, {"a", 2}})));
  CHECK_FALSE(same_dims(ab, Shape({{"b", 3}, {"a", 4}})));
  CHECK(contains(ab, Shape({{"b", 3}})));
  CHECK_FALSE(contains(ab, Shape({{"c", 3}})));
}

TEST_CASE("ranks are numbered row-major, the last axis fastest") {
  const Mesh mesh{.name = "m", .axes = {{"x", 2}, {"y", 3}, {"z", 2}}, .profile = "", .span = {}};
  CHECK(mesh.ranks() == 12);
  CHECK(mesh.coordinates(7) == std::vector<std::int64_t>{1, 0, 1});
  CHECK(mesh.find("y") == AxisId{1});
  CHECK_FALSE(mesh.find("w"));
  CHECK(to_string(mesh) == "m[x: 2, y: 3, z: 2]");
  CHECK(to_string(mesh, {2, 0}) == "z, x");
}

TEST_CASE("a group is ordered by the index along its axes, major first") {
  const Mesh mesh{.name = "m", .axes = {{"x", 2}, {"y", 3}, {"z", 2}}, .profile = "", .span = {}};
  for (const Axes& axes : {Axes{}, Axes{1}, Axes{0, 2}, Axes{2, 0}, Axes{1, 0, 2}}) {
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<std::int64_t> group = mesh.group_of(rank, axes);
      REQUIRE(static_cast<std::int64_t>(group.size()) == mesh.size_of(axes));
      CHECK(group[static_cast<std::size_t>(mesh.index_along(rank, axes))] == rank);
      for (std::size_t i = 0; i < group.size(); ++i) {
        CHECK(mesh.index_along(group[i], axes) == static_cast<std::int64_t>(i));
        CHECK(mesh.group_of(group[i], axes) == group);
      }
    }
  }
}

TEST_CASE("a mesh without axes is one rank") {
  const Mesh mesh;
  CHECK(mesh.ranks() == 1);
  CHECK(mesh.group_of(0, {}) == std::vector<std::int64_t>{0});
}

}  // namespace mtf
