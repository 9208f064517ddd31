// What a plan searches is what its operations and layouts say, and not how often they come.

#include "lowering/known/known_plans.h"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// Attention and a feed-forward of its own `hidden` in each layer: gradients of all, recomputed.
std::string layered(int layers, const std::string& hidden) {
  return "dim batch = 8, length = 16, memory = 16, io = 32, heads = 4, head = 8, hidden = 64\n"
         "dim wide = 128\nmesh m = [x: 2, y: 2]\n"
         "fn layer(x, i) {\n"
         "  param q : f32[io, heads, head] = normal(stddev = 0.1)\n"
         "  param o : f32[heads, head, io] = normal(stddev = 0.1)\n"
         "  let h = x * rsqrt(mean(square(x), over = io) + 1e-6)\n"
         "  let a = einsum(h, q -> [batch, length, heads, head])\n"
         "  let b = rename(a, length -> memory)\n"
         "  let s = softmax(einsum(a, b -> [batch, heads, length, memory]), over = memory)\n"
         "  let y = x + einsum(einsum(s, b -> shape(a)), o -> shape(x))\n" +
         hidden +
         "}\nmodel net(x: f32[batch, length, io]) -> f32[batch, length, io] {\n  var h = x\n"
         "  for i in 0.." +
         std::to_string(layers) +
         " { recompute { h = layer(h, i) as \"layer_{i}\" } }\n  return h\n}\n"
         "fn case(x: f32[batch, length, io]) {\n  let loss = mean(square(net(x)))\n"
         "  var norm = 0.0\n  for g in grad(loss, net) { norm = norm + sum(square(g)) }\n"
         "  return loss, norm\n}\n";
}

std::string feed(const std::string& dim) {
  return "    param w : f32[io, " + dim + "] = normal(stddev = 0.1)\n    param v : f32[" + dim +
         ", io] = normal(stddev = 0.1)\n    return y + einsum(relu(einsum(y, w -> [batch, "
         "length, " +
         dim + "])), v -> shape(x))\n";
}

struct Found {
  std::size_t splits = 0;  // that were searched
  std::size_t steps = 0;
};

Found planned(const Program& program, const Layout& layout, PlanCache& cache) {
  DiagSink diags;
  const auto plan = lower_simplified(program, layout, op_table(), diags, {.cache = &cache});
  REQUIRE(plan);
  return {.splits = cache.of(layout.mesh, {}).known.splits(), .steps = plan->steps.size()};
}

Found planned(int layers, const std::string& hidden, const Layout& layout) {
  PlanCache cache;
  return planned(simplify(program_of(layered(layers, hidden)), op_table()), layout, cache);
}

Layout layout_of(std::vector<Rule> rules) {
  return {.name = "split", .mesh = mesh_of({2, 2}), .rules = std::move(rules), .span = {}};
}

TEST_CASE("equal layers are searched once") {
  const std::vector<Layout> layouts = {
      layout_of({{.dim = "batch", .axes = {0}, .span = {}},
                 {.dim = "heads", .axes = {1}, .span = {}},
                 {.dim = "hidden", .axes = {1}, .span = {}}}),
      layout_of({{.dim = "batch", .axes = {0, 1}, .span = {}},
                 {.dim = "io", .axes = {}, .span = {}, .rest = true}}),
      layout_of(
          {{.dim = "length", .axes = {0}, .span = {}}, {.dim = "io", .axes = {1}, .span = {}}})};
  for (const Layout& layout : layouts) {
    INFO(to_string(layout));
    const Found few = planned(6, feed("hidden"), layout);
    const Found more = planned(12, feed("hidden"), layout);
    const Found most = planned(36, feed("hidden"), layout);
    CHECK(few.splits > 20);
    CHECK(more.splits == few.splits);
    CHECK(most.splits == few.splits);
    CHECK(more.steps - few.steps >= std::size_t{6} * 40);
    CHECK(most.steps - more.steps >= std::size_t{24} * 40);
  }
}

TEST_CASE("a layer of another size is another one, and is searched") {
  const Layout layout = layout_of({{.dim = "batch", .axes = {0}, .span = {}},
                                   {.dim = "hidden", .axes = {1}, .span = {}},
                                   {.dim = "wide", .axes = {1}, .span = {}}});
  const std::string one_wide =
      "  if i == 3 {\n" + feed("wide") + "  } else {\n" + feed("hidden") + "  }\n";
  CHECK(planned(8, one_wide, layout).splits > planned(8, feed("hidden"), layout).splits);
}

TEST_CASE("another layout searches what it changes alone") {
  const Program program = simplify(program_of(layered(6, feed("hidden"))), op_table());
  const std::vector<Rule> rules = {{.dim = "batch", .axes = {0}, .span = {}}};
  std::vector<Rule> split = rules;
  split.push_back({.dim = "hidden", .axes = {1}, .span = {}});
  PlanCache cache;
  const std::size_t first = planned(program, layout_of(rules), cache).splits;
  const std::size_t second = planned(program, layout_of(split), cache).splits;
  const std::size_t again = planned(program, layout_of(rules), cache).splits;
  CHECK(second > first);
  CHECK(second - first < first / 2);
  CHECK(again == second);
}

// How many different places in memory a plan has its shapes, arguments and layouts at rest in, and
// the layouts and shapes of its slices.
std::vector<std::size_t> places_in(const SpmdProgram& plan) {
  std::set<const void*> shapes;
  std::set<const void*> args;
  std::set<const void*> targets;
  for (std::size_t v = 0; v < plan.source.values.size(); ++v) {
    shapes.insert(plan.source.values[v].type.shape.dims().data());
    args.insert(plan.source.values[v].args.entries().data());
    targets.insert(plan.targets[v].get());
  }
  std::set<const void*> layouts;
  std::set<const void*> slices;
  for (const SpmdValue& value : plan.values) {
    layouts.insert(&*value.layout);
    slices.insert(value.local.shape.dims().data());
  }
  return {shapes.size(), args.size(), targets.size(), layouts.size(), slices.size()};
}

TEST_CASE("equal layers have their shapes, arguments and layouts in one place") {
  const Layout layout = layout_of(
      {{.dim = "batch", .axes = {0}, .span = {}}, {.dim = "hidden", .axes = {1}, .span = {}}});
  const auto places = [&](int layers) {
    DiagSink diags;
    const auto plan =
        lower_simplified(simplify(program_of(layered(layers, feed("hidden"))), op_table()), layout,
                         op_table(), diags, {});
    REQUIRE(plan);
    return places_in(*plan);
  };
  const std::vector<std::size_t> few = places(6);
  CHECK(few[0] > 5);
  CHECK(places(12) == few);
  CHECK(places(36) == few);
}

}  // namespace
}  // namespace mtf::tests
