// What lowerings share, or leave out for a price, changes no plan: of random programs under random
// layouts, one cache for all.

#include "lowering/plan_cache.h"

#include <random>

#include <catch2/catch.hpp>

#include "frontend/report/plan/spmd_text.h"
#include "ir/rewrite/rewrite.h"
#include "lowering/lower.h"
#include "lowering/price/price.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

void check_same_price(const SpmdProgram& a, const SpmdProgram& b) {
  const Hardware hardware{.flops = 1e12,
                          .memory = {{1, 1e11}},
                          .overhead = 1e-6,
                          .link = {.latency = 1e-6, .bandwidth = 1e10},
                          .near = {.latency = 1e-7, .bandwidth = 1e11}};
  CHECK(price(a, hardware).steps == price(b, hardware).steps);
  CHECK(a.arena_bytes == b.arena_bytes);
  CHECK(a.totals.peak_bytes == b.totals.peak_bytes);
  CHECK(a.totals.flops == b.totals.flops);
  REQUIRE(a.totals.collectives.size() == b.totals.collectives.size());
  for (std::size_t i = 0; i < a.totals.collectives.size(); ++i) {
    CHECK(a.totals.collectives[i].kind == b.totals.collectives[i].kind);
    CHECK(a.totals.collectives[i].axes == b.totals.collectives[i].axes);
    CHECK(a.totals.collectives[i].calls == b.totals.collectives[i].calls);
    CHECK(a.totals.collectives[i].bytes == b.totals.collectives[i].bytes);
  }
}

TEST_CASE("plans from a cache, and those for a price, are the plans") {
  std::mt19937_64 random(11);
  PlanCache cache;
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = simplify(random_program(seed), op_table());
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{2, 2}, {4}, {2, 3, 2}, {2, 2}}) {
      const Layout layout = refined_layout({&program, 1}, mesh_of(sizes), random);
      const bool exact = random() % 4 != 0;
      INFO("seed " << seed << " under " << to_string(layout));
      DiagSink diags;
      const auto plan = lower_simplified(program, layout, op_table(), diags, {.exact = exact});
      const auto cached =
          lower_simplified(program, layout, op_table(), diags, {.exact = exact, .cache = &cache});
      const auto priced = lower_simplified(program, layout, op_table(), diags,
                                           {.exact = exact, .price_only = true, .cache = &cache});
      REQUIRE(plan.has_value() == cached.has_value());
      REQUIRE(plan.has_value() == priced.has_value());
      if (plan) {
        CHECK(steps_text(*plan) == steps_text(*cached));
        CHECK(values_text(*plan) == values_text(*cached));
        check_same_price(*plan, *cached);
        check_same_price(*plan, *priced);
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("a cache counts what plans look at, which is less where it knows some of it") {
  std::mt19937_64 random(3);
  std::int64_t anew = 0;
  std::int64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Program program = simplify(random_program(seed), op_table());
    const Layout layout = refined_layout({&program, 1}, mesh_of({2, 3, 2}), random);
    DiagSink diags;
    PlanCache cache;
    CHECK(cache.looks() == 0);
    if (lower_simplified(program, layout, op_table(), diags, {.cache = &cache})) {
      const std::int64_t looks = cache.looks();
      anew += looks;
      REQUIRE(lower_simplified(program, layout, op_table(), diags, {.cache = &cache}));
      again += cache.looks() - looks;
    }
  }
  CHECK(anew > 1000);
  CHECK(again < anew / 2);
}

}  // namespace
}  // namespace mtf::tests
