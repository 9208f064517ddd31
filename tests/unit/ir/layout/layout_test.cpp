// Which layouts fit a tensor, and what is said of the others.

#include "ir/layout/layout.h"

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

LayoutQuery query(const Layout& given, std::string_view variable = "") {
  return {.mesh = given.mesh,
          .layout = given.name,
          .rules = given.rules_for(variable),
          .span = kPlace,
          .what = "`h`"};
}

std::optional<ValueLayout> by_rules(const Shape& shape, const Layout& given, DiagSink& diags,
                                    std::string_view variable = "") {
  const std::optional<Target> target = layout_by_rules(shape, query(given, variable), diags);
  return target ? std::optional(target->layout) : std::nullopt;
}

Diag problem(const Shape& shape, const Layout& given) {
  DiagSink diags;
  REQUIRE_FALSE(by_rules(shape, given, diags));
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
  const auto result = by_rules(shape, given, diags);
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
  const auto result = by_rules(shape, given, diags);
  REQUIRE(result);
  CHECK(slice_of(shape, *result, given.mesh, 5).offset == std::vector<std::int64_t>{6});
  CHECK(to_string(given.rules[0], given.mesh) == "batch -> (cols, rows)");
}

TEST_CASE("a partial sum is part of a layout") {
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
        "give one another axis or no rule");
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
        "64 or 68 would, or an `uneven` layout");
  REQUIRE(diag.notes.size() == 1);
  CHECK(problem(Shape({{"batch", 3}}), layout({rule("batch", {kRows, kCols}, 0)})).text ==
        "`batch` of `h` [batch 3] does not split evenly over axes `rows, cols` (2 x 4 = 8 ways); "
        "8 would, or an `uneven` layout");
}

TEST_CASE("all problems of a tensor are reported") {
  DiagSink diags;
  const Shape shape({{"batch", 3}, {"hidden", 5}});
  CHECK_FALSE(
      by_rules(shape, layout({rule("batch", {kRows}, 0), rule("hidden", {kRows}, 10)}), diags));
  CHECK(diags.errors() == 3);
}

Rule rest_of(Rule given) {
  given.rest = true;
  return given;
}

TEST_CASE("`*` is every axis that the tensor leaves unused, for the first rule that has it") {
  const Layout given =
      layout({rest_of(rule("batch", {kRows}, 0)), rest_of(rule("hidden", {}, 10))});
  DiagSink diags;
  const Shape both({{"hidden", 8}, {"batch", 16}});
  const auto target = layout_by_rules(both, query(given), diags);
  REQUIRE(target);
  CHECK(target->layout.dims == std::vector<Axes>{{}, {kRows, kCols}});
  CHECK(target->firm == std::vector<std::size_t>{0, 1});
  CHECK(target->firm_layout().dims == std::vector<Axes>{{}, {kRows}});
  CHECK(target->causes[1][1].rule == "batch -> (rows, *)");
  CHECK(by_rules(Shape({{"hidden", 8}}), given, diags)->dims == std::vector<Axes>{{kRows, kCols}});
}

TEST_CASE("`*` takes what divides, and must divide where another dim is split too") {
  const Layout given = layout({rule("hidden", {kRows}, 0), rest_of(rule("batch", {}, 10))});
  DiagSink diags;
  CHECK(by_rules(Shape({{"batch", 6}}), given, diags)->dims == std::vector<Axes>{{kRows}});
  CHECK(problem(Shape({{"batch", 6}, {"hidden", 4}}), given).text ==
        "`batch` of `h` [batch 6, hidden 4] does not split evenly over axis `cols` (4 ways), `*` "
        "being `cols` here; 4 or 8 would, or an `uneven` layout");
}

TEST_CASE("rules for variables go first, and the others give way to them") {
  Layout given = layout({rule("io", {kCols}, 0), rule("hidden", {kCols}, 10)});
  given.variables = {{.glob = "net/*", .rules = {rule("io", {}, 20)}, .span = {}},
                     {.glob = "", .rules = {rule("io", {kRows}, 30)}, .span = {}}};
  DiagSink diags;
  const Shape shape({{"io", 8}, {"hidden", 16}});
  CHECK(by_rules(shape, given, diags, "w")->dims == std::vector<Axes>{{kRows}, {kCols}});
  CHECK(by_rules(shape, given, diags, "net/w")->dims == std::vector<Axes>{{}, {kCols}});
  CHECK(by_rules(shape, given, diags, "net/w/v")->dims == std::vector<Axes>{{}, {kCols}});
  given.variables[1].rules = {rule("io", {kCols}, 30)};
  CHECK(by_rules(shape, given, diags, "w")->dims == std::vector<Axes>{{kCols}, {}});
  CHECK(diags.errors() == 0);
}

TEST_CASE("rules for what lets named are those of no variable, and of whole paths alone") {
  const VariableRules lets{.glob = "net_*/h", .rules = {}, .span = {}, .lets = true};
  CHECK(lets.names_let("net_1/h"));
  CHECK_FALSE(lets.names_let("net_1/h/scale"));
  CHECK_FALSE(lets.names("net_1/h"));
  CHECK_FALSE(VariableRules{.glob = "net_*/h", .rules = {}, .span = {}}.names_let("net_1/h"));
  CHECK(title_of(lets) == "at let \"net_*/h\"");
}

TEST_CASE("a glob's stars stand for any text, and many of them are matched at once") {
  const auto names = [](const std::string& glob, std::string_view path) {
    return VariableRules{.glob = glob, .rules = {}, .span = {}}.names(path);
  };
  CHECK(names("*", "net"));
  CHECK(names("a*b*c", "abc"));
  CHECK(names("a*b*c", "a-b-b-c"));
  CHECK(names("**w", "net/w"));
  CHECK(names("net/*", "net/w/v"));
  CHECK(names("*/w", "net/w/v"));  // what lies below it, too
  CHECK(names("*a*a", "aaa"));
  CHECK_FALSE(names("a*b*c", "a-c-b"));
  CHECK_FALSE(names("*a*a", "a"));
  CHECK_FALSE(names("net", "network"));
  CHECK_FALSE(names("net/*/", "net/w"));
  CHECK(names("w[0]?\\*", "w[0]?\\v"));  // these are themselves
  CHECK_FALSE(names("w[0]", "w0"));
  CHECK_FALSE(names("w?", "wv"));
  std::string stars;
  for (int i = 0; i < 100; ++i) {
    stars += "*a";
  }
  CHECK_FALSE(names(stars + "b", std::string(2000, 'a')));  // without a limit, for ever
}

TEST_CASE("axes of size 1 split nothing") {
  Layout given = layout({rule("batch", {kRows, kCols}, 0)});
  given.mesh.axes[0].size = 1;
  DiagSink diags;
  CHECK(by_rules(Shape({{"batch", 8}}), given, diags)->dims == std::vector<Axes>{{kCols}});
}

}  // namespace mtf
