#include "lowering/reshard/joined_axes.h"

#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/lowering/random_layouts.h"

namespace mtf::tests {
namespace {

Mesh mesh_of(const std::vector<std::int64_t>& sizes) {
  Mesh mesh;
  for (const std::int64_t size : sizes) {
    mesh.axes.push_back(
        {.name = std::string(1, static_cast<char>('a' + mesh.axes.size())), .size = size});
  }
  return mesh;
}

std::vector<std::int64_t> sizes_of(const Mesh& mesh) {
  std::vector<std::int64_t> sizes;
  for (const MeshAxis& axis : mesh.axes) {
    sizes.push_back(axis.size);
  }
  return sizes;
}

}  // namespace

TEST_CASE("axes that follow one another in all layouts are one") {
  const Mesh mesh = mesh_of({2, 3, 5, 7, 11});
  const ValueLayout from{.dims = {{3, 0}, {1, 2}}, .partial = {}};
  const ValueLayout to{.dims = {{1}, {3, 0}}, .partial = {2}};
  const JoinedAxes axes(mesh, std::array{&from, &to});
  CHECK(sizes_of(axes.mesh()) == std::vector<std::int64_t>{3, 5, 14, 11});  // 4 is in neither
  CHECK(axes.joined(from) == ValueLayout{.dims = {{2}, {0, 1}}, .partial = {}});
  CHECK(axes.joined(to) == ValueLayout{.dims = {{0}, {2}}, .partial = {1}});
  CHECK(axes.joined(Axes{4}) == Axes{3});
  CHECK(axes.parted(Axes{3, 2, 0}) == Axes{4, 3, 0, 1});
}

TEST_CASE("axes in another order, behind others or alone somewhere stay apart") {
  const Mesh mesh = mesh_of({2, 2, 2, 2});
  const ValueLayout from{.dims = {{0, 1}, {2, 3}}, .partial = {}};
  const ValueLayout turned{.dims = {{1, 0}, {2, 3}}, .partial = {}};
  CHECK(JoinedAxes(mesh, std::array{&from, &turned}).mesh().axes.size() == 3);
  const ValueLayout between{.dims = {{0, 2, 1}, {3}}, .partial = {}};
  CHECK(JoinedAxes(mesh, std::array{&from, &between}).mesh().axes.size() == 4);
  const ValueLayout one{.dims = {{0}, {2, 3}}, .partial = {}};
  CHECK(JoinedAxes(mesh, std::array{&from, &one}).mesh().axes.size() == 3);
  const ValueLayout held{.dims = {{2, 3}, {}}, .partial = {}, .where = {{.axis = 1, .same = 0}}};
  CHECK(JoinedAxes(mesh, std::array{&from, &held}).mesh().axes.size() == 3);
}

TEST_CASE("layouts are as they were when joined axes are parted again") {
  const Mesh mesh = mesh_of({2, 2, 2, 2, 2, 2, 2, 2});
  const std::int64_t size = 1 << 8;
  const Shape shape({{"p", size}, {"q", size}, {"r", size}});
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    const ValueLayout from = random.layout(shape, mesh);
    const ValueLayout to = random.layout(shape, mesh);
    const JoinedAxes axes(mesh, std::array{&from, &to});
    CHECK(axes.parted(axes.joined(from)) == from);
    CHECK(axes.parted(axes.joined(to)) == to);
    CHECK(axes.mesh().ranks() == mesh.ranks());
  }
}

}  // namespace mtf::tests
