// The number of ranks that mpirun started against the layouts of the file.

#include "frontend/driver/mesh_size.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

Mesh grid(std::int64_t rows, std::int64_t cols) {
  return {.name = "grid", .axes = {{.name = "rows", .size = rows}, {.name = "cols", .size = cols}}};
}

std::vector<Layout> layouts() {
  return {{.name = "four", .mesh = grid(2, 2)}, {.name = "six", .mesh = grid(2, 3)}};
}

std::string error(const Layout* chosen, const std::vector<Layout>& declared, std::int64_t ranks,
                  const DimSizesSeen& seen = {}) {
  DiagSink diags;
  CHECK_FALSE(check_mesh_size(chosen, declared, ranks, seen, diags));
  REQUIRE(diags.errors() == 1);
  CHECK(diags.diags().front().kind == DiagKind::kMeshSize);
  return diags.diags().front().text;
}

}  // namespace

TEST_CASE("a mesh of as many ranks fits, and one rank needs none") {
  const std::vector<Layout> declared = layouts();
  DiagSink diags;
  CHECK(check_mesh_size(&declared[0], declared, 4, {}, diags));
  CHECK(check_mesh_size(nullptr, {}, 1, {}, diags));
  CHECK(diags.ok());
}

TEST_CASE("a chosen layout of another size says which -n, --layout or --mesh would do") {
  const std::vector<Layout> declared = layouts();
  CHECK(error(&declared[0], declared, 6) ==
        "layout `four` is for 4 ranks, and 6 ranks were started; `-n 4`, `--layout six` or "
        "`--mesh \"rows=3\"` would do");
  CHECK(error(&declared[0], declared, 3) ==
        "layout `four` is for 4 ranks, and 3 ranks were started; `-n 4` or "
        "`--mesh \"rows=3,cols=1\"` would do");
}

TEST_CASE("no size is proposed that does not split the dims of the program") {
  std::vector<Layout> declared = layouts();
  declared[0].rules = {{.dim = "batch", .axes = {0}, .span = {}}};
  declared[1].rules = {{.dim = "batch", .axes = {1}, .span = {}}};
  const DimSizesSeen seen = {{"batch", {8, 16}}};
  CHECK(error(&declared[0], declared, 6, seen) ==
        "layout `four` is for 4 ranks, and 6 ranks were started; `-n 4` or `--mesh \"cols=3\"` "
        "would do");
  CHECK(error(&declared[0], declared, 3, seen) ==
        "layout `four` is for 4 ranks, and 3 ranks were started; `-n 4` or "
        "`--mesh \"rows=1,cols=3\"` would do");
  declared[0].rules = {{.dim = "batch", .axes = {0, 1}, .span = {}}};
  CHECK(error(&declared[0], declared, 3, seen) ==
        "layout `four` is for 4 ranks, and 3 ranks were started; `-n 4` would do");
  CHECK(error(nullptr, declared, 5, seen) ==
        "5 ranks were started, and the program has 2 layouts, none of them chosen; "
        "`-n 4` with `--layout four` would do");
}

TEST_CASE("several layouts and none chosen says which would do") {
  CHECK(error(nullptr, layouts(), 4) ==
        "4 ranks were started, and the program has 2 layouts, none of them chosen; "
        "`--layout four` would do");
  CHECK(error(nullptr, layouts(), 5) ==
        "5 ranks were started, and the program has 2 layouts, none of them chosen; "
        "`-n 4` with `--layout four` or `-n 6` with `--layout six` would do");
}

TEST_CASE("one rank was started, not were") {
  CHECK(error(nullptr, layouts(), 1).starts_with("1 rank was started, and the program has 2"));
}

TEST_CASE("no layout runs on one rank") {
  CHECK(error(nullptr, {}, 2) ==
        "2 ranks were started, and the program uses no layout; `-n 1` or `--mesh` with `--rules` "
        "would do");
}

}  // namespace mtf
