// The search: its bound is one, and it finds what looking at everything finds.

#include "lowering/search/search.h"

#include <random>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/search/roles/role_bound.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"
#include "tests/unit/layouts/search/drawn_layout.h"

namespace mtf::tests {
namespace {

Hardware some_hardware(bool slow_links, bool overlap = false) {
  const double bandwidth = slow_links ? 1e7 : 1e10;
  return {.name = "test",
          .flops = 1e12,
          .products = {{8, 1e11}, {64, 1e12}},
          .memory = {{1, 1e11}},
          .overhead = 1e-7,
          .overlap = overlap ? 0.7 : 0,
          .link = {.latency = 1e-6, .bandwidth = bandwidth},
          .near = {.latency = 1e-7, .bandwidth = 4 * bandwidth},
          .near_ranks = 2,
          .elements = {{"tanh", 1e-9}, {"mul", 1e-10}}};
}

struct Problem {
  std::vector<Program> programs;
  SearchSpace space;
  Pricer pricer;

  Problem(std::uint64_t seed, SpaceLimits limits, const Hardware& hardware)
      : programs({simplify(random_program(seed), op_table())}),
        space(programs, std::move(limits)),
        pricer(space, [this](std::size_t) { return std::span<const Program>(programs); },
               {.ops = op_table(), .hardware = [hardware](const Mesh&) { return hardware; }}) {}
};

// All beginnings of a candidate, and itself, promise no more than it keeps; if asked of those that
// take as much memory, too.
void check_bound(Problem& problem, const Priced& priced, Objective objective, double memory) {
  const RoleOperations operations(problem.space, problem.programs);
  RoleBound bound(problem.space, 0, operations, problem.pricer.hardware(0), objective, memory);
  const double value = value_of(priced, objective);
  double before = 0;
  const std::size_t last = 2 * problem.space.dims().size() + problem.space.axes();
  for (std::size_t decided = 0; decided <= last; ++decided) {
    const RoleBound::Least least = bound.least({.candidate = priced.candidate, .decided = decided});
    CHECK(least.value <= value * (1 + 1e-12));
    CHECK(least.bytes <= static_cast<double>(priced.peak_bytes) * (1 + 1e-12));
    CHECK(least.value >= before * (1 - 1e-12));
    before = least.value;
  }
}

TEST_CASE("no layout costs less than the bound by roles") {
  std::mt19937_64 random(5);
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::vector<std::int64_t> sizes =
        seed % 3 == 0 ? std::vector<std::int64_t>{2, 2, 2} : std::vector<std::int64_t>{2, 4};
    Problem problem(seed, limits_on(sizes), some_hardware(seed % 2 == 0, seed % 5 == 0));
    for (int i = 0; i < 30; ++i) {
      const LayoutCandidate candidate = drawn_layout(problem.space, random, 3);
      INFO("seed " << seed << " under " << to_string(problem.space.layout_of(candidate)));
      const Priced& priced = problem.pricer.price(candidate);
      if (priced.is_legal) {
        ++compared;
        for (const Objective objective :
             {Objective::kTime, Objective::kMemory, Objective::kBytes}) {
          check_bound(problem, priced, objective, 0);
        }
        check_bound(problem, priced, Objective::kTime, static_cast<double>(priced.peak_bytes));
      }
    }
  }
  CHECK(compared > 300);
}

// Of the mesh [2, 2, 2, 2, 3], by name.
std::vector<std::string> alike(SpaceLimits limits, std::int64_t near_ranks) {
  limits.near_ranks = {near_ranks};
  const SearchSpace space({}, std::move(limits));
  std::vector<std::string> classes;
  for (const Axes& axes : space.axis_classes(0)) {
    classes.push_back(to_string(space.meshes()[0], axes));
  }
  return classes;
}

TEST_CASE("axes are alike that have one size, the same links, and no rule") {
  using Classes = std::vector<std::string>;
  SpaceLimits limits = limits_on({2, 2, 2, 2, 3});
  const Mesh& mesh = limits.fixed.mesh;
  CHECK(alike(limits, 1) == Classes{to_string(mesh, {0, 1, 2, 3})});
  CHECK(alike(limits, 100) == Classes{to_string(mesh, {0, 1, 2, 3})});
  // Two machines of 24 ranks.
  CHECK(alike(limits, 24) == Classes{to_string(mesh, {1, 2, 3})});
  CHECK(alike(limits, 12) == Classes{to_string(mesh, {2, 3}), to_string(mesh, {0, 1})});
  // Machines of 8, which have parts of two axes.
  CHECK(alike(limits, 8) == Classes{to_string(mesh, {0, 1})});
  limits.fixed.rules = {{.dim = "elsewhere", .axes = {1}, .span = {}}};
  CHECK(alike(limits, 1) == Classes{to_string(mesh, {0, 2, 3})});
  limits.fixed.rules.front().rest = true;
  CHECK(alike(limits, 1).empty());
}

TEST_CASE("layouts in which axes that are alike take each other's place cost the same") {
  std::mt19937_64 random(17);
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SpaceLimits limits = limits_on(seed % 3 == 0   ? std::vector<std::int64_t>{2, 3, 2}
                                   : seed % 3 == 1 ? std::vector<std::int64_t>{2, 2, 2, 2}
                                                   : std::vector<std::int64_t>{3, 3, 2, 2});
    limits.rest = false;
    Hardware hardware = some_hardware(seed % 2 == 0, seed % 5 == 0);
    hardware.near_ranks = seed % 4 == 0 ? 4 : seed % 4 == 1 ? 1 : 2;
    limits.near_ranks = {hardware.near_ranks};
    Problem problem(seed, limits, hardware);
    for (int i = 0; i < 20; ++i) {
      LayoutCandidate candidate = drawn_layout(problem.space, random, 3);
      candidate.rest = 0;
      const LayoutCandidate one = problem.space.canonical(candidate);
      CHECK(problem.space.canonical(one) == one);
      INFO("seed " << seed << " under " << to_string(problem.space.layout_of(candidate)) << " and "
                   << to_string(problem.space.layout_of(one)));
      const Priced& a = problem.pricer.price(candidate);
      const Priced& b = problem.pricer.price(one);
      REQUIRE(a.is_legal == b.is_legal);
      if (a.is_legal) {
        CHECK(a.seconds == Approx(b.seconds).epsilon(1e-3));
        CHECK(a.peak_bytes == b.peak_bytes);
        CHECK(a.received_bytes == b.received_bytes);
        compared += candidate == one ? 0 : 1;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("what is found is the best of all layouts by rules") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SpaceLimits limits = limits_on({2, 2});
    limits.variables = limits.rest = limits.passes = false;
    Hardware hardware = some_hardware(seed % 2 == 0);
    hardware.near_ranks = seed % 3 == 0 ? 1 : 2;  // axes are alike, or not
    limits.near_ranks = {hardware.near_ranks};
    Problem problem(seed, limits, hardware);
    CHECK(problem.space.axis_classes(0).size() == (seed % 3 == 0 ? 1 : 0));
    if (problem.space.dims().size() > 5) {
      continue;
    }
    Roles roles(problem.space, problem.pricer, Objective::kTime);
    LayoutSearch search(problem.space, problem.pricer, roles, {});
    const SearchResult result = search.run();
    REQUIRE(result.best != nullptr);
    CHECK(result.is_proven);
    LayoutCandidate candidate = problem.space.unsplit(0);
    const auto check_all = [&](const auto& self, std::size_t dim) -> void {
      if (dim < problem.space.dims().size()) {
        for (const Axes& axes : problem.space.choices(0, dim)) {
          candidate.rules[dim] = axes;
          self(self, dim + 1);
        }
        return;
      }
      const Priced& priced = problem.pricer.price(candidate);
      INFO("seed " << seed << " under " << to_string(problem.space.layout_of(candidate)));
      CHECK((!priced.is_legal || priced.seconds >= result.best->seconds * (1 - 1e-9)));
    };
    check_all(check_all, 0);
  }
}

}  // namespace
}  // namespace mtf::tests
