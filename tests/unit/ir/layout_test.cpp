// Which layouts fit a tensor, and what is said of the others.

#include "ir/layout.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

constexpr AxisId kRows = 0;
constexpr AxisId kCols = 1;
constexpr SourceSpan kPlace{.file = {0}, .begin = 90, .end = 91};

Rule rule(const std::string& dim, Axes axes, std::uint32_t begin) {
  return {
      .dim = dim, .axes = std::move(axes), .span = {.file = {0}, .begin = begin, .end = begin + 5}};
}

Layout layout(std::vector<Rule> rules) {
  return {.name = "both",
          .mesh = {.name = "grid", .axes = {{"rows", 2}, {"cols", 4}}, .profile = "", .span = {}},
          .rules = std::move(rules),
          .span = {}};
}

Diag problem(const Shape& shape, const Layout& given) {
  DiagSink diags;
  REQUIRE_FALSE(layout_by_rules(shape, given, kPlace, "`h`", diags));
  REQUIRE(diags.errors() == 1);
  CHECK(diags.diags()[0].span == kPlace);
  return diags.diags()[0];
}

}  // namespace

TEST_CASE("rules split the dims they name and replicate the others") {
  const Layout given =
      layout({rule("batch", {kRows}, 0), rule("hidden", {kCols}, 10), rule("vocab", {kCols}, 20)});
  const Shape shape({{"batch", 64}, {"io", 3}, {"hidden", 128}});
  DiagSink diags;
  const auto result = layout_by_rules(shape, given, kPlace, "`h`", diags);
  REQUIRE(result);
  CHECK(result->dims == std::vector<Axes>{{kRows}, {}, {kCols}});
  CHECK(result->partial.empty());
  CHECK(result->uses(kCols));
  CHECK_FALSE(result->is_replicated());
  CHECK(to_string(shape, *result, given.mesh) == "[batch: rows, io, hidden: cols]");
  CHECK(local_shape(shape, *result, given.mesh) ==
        Shape({{"batch", 32}, {"io", 3}, {"hidden", 32}}));
  const Slice slice = slice_of(shape, *result, given.mesh, 6);  // rows 1, cols 2
  CHECK(slice.offset == std::vector<std::int64_t>{32, 0, 64});
  CHECK(slice.extent == std::vector<std::int64_t>{32, 3, 32});
}

TEST_CASE("a dim is split over several axes, major first") {
  const Layout given = layout({rule("batch", {kCols, kRows}, 0)});
  const Shape shape({{"batch", 16}});
  DiagSink diags;
  const auto result = layout_by_rules(shape, given, kPlace, "`h`", diags);
  REQUIRE(result);
  CHECK(slice_of(shape, *result, given.mesh, 5).offset == std::vector<std::int64_t>{6});
  CHECK(to_string(given.rules[0], given.mesh) == "batch -> (cols, rows)");
}

TEST_CASE("a pending sum is part of a layout") {
  const ValueLayout value{.dims = {{kRows}}, .partial = {kCols}};
  CHECK(value.uses(kCols));
  CHECK(to_string(Shape({{"batch", 8}}), value, layout({}).mesh) == "[batch: rows] partial(cols)");
  CHECK(to_string(Shape(), replicated(Shape()), layout({}).mesh) == "[]");
}

TEST_CASE("one axis for two dims of a tensor is an error that shows both rules") {
  const Diag diag = problem(Shape({{"batch", 64}, {"hidden", 128}}),
                            layout({rule("hidden", {kRows}, 10), rule("batch", {kRows}, 0)}));
  CHECK(diag.kind == DiagKind::kLayoutConflict);
  CHECK(diag.text ==
        "axis `rows` would split two dims of `h` [batch 64, hidden 128]: `batch` and `hidden`; "
        "give one of them another axis, another name here, or no rule");
  REQUIRE(diag.notes.size() == 2);
  CHECK(diag.notes[0].text == "`batch -> rows` is a rule of layout `both`");
  CHECK(diag.notes[0].span.begin == 0);
  CHECK(diag.notes[1].span.begin == 10);
}

TEST_CASE("one axis twice for one dim is an error") {
  CHECK(problem(Shape({{"batch", 64}}), layout({rule("batch", {kRows, kRows}, 0)})).text ==
        "`h` [batch 64] names axis `rows` twice for `batch`; an axis splits a tensor once");
}

TEST_CASE("a size that the axes do not divide is an error that names the nearest that work") {
  const Diag diag =
      problem(Shape({{"batch", 66}, {"io", 32}}), layout({rule("batch", {kCols}, 0)}));
  CHECK(diag.kind == DiagKind::kIndivisible);
  CHECK(diag.text ==
        "`batch` of `h` [batch 66, io 32] does not split evenly over axis `cols` (4 ways); "
        "a size of 64 or 68 would");
  REQUIRE(diag.notes.size() == 1);
  CHECK(problem(Shape({{"batch", 3}}), layout({rule("batch", {kRows, kCols}, 0)})).text ==
        "`batch` of `h` [batch 3] does not split evenly over axes `rows, cols` (2 x 4 = 8 ways); "
        "a size of 8 would");
}

TEST_CASE("all problems of a tensor are reported") {
  DiagSink diags;
  const Shape shape({{"batch", 3}, {"hidden", 5}});
  CHECK_FALSE(layout_by_rules(shape,
                              layout({rule("batch", {kRows}, 0), rule("hidden", {kRows}, 10)}),
                              kPlace, "`h`", diags));
  CHECK(diags.errors() == 3);
}

}  // namespace mtf
