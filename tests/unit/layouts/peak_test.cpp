// What a rank holds at the peak adds up to the peak, of any program under any layout.

#include "lowering/memory/peak.h"

#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// The bytes of all, largest first; values in the arena do not overlap.
std::int64_t checked_sum(const SpmdProgram& program, const Peak& peak) {
  std::int64_t sum = 0;
  std::map<std::int64_t, std::int64_t> places;
  for (const Held& held : peak.held) {
    sum += held.bytes;
    CHECK(held.bytes >= 0);
    CHECK(held.value.valid() == (held.what != HeldAs::kGap));
    if (held.what == HeldAs::kBetween) {
      places.emplace(program.at(held.value).offset, held.bytes);
    }
  }
  CHECK(std::ranges::is_sorted(peak.held, std::greater<>(), &Held::bytes));
  std::int64_t end = 0;
  for (const auto& [offset, bytes] : places) {
    CHECK(offset >= end);
    end = offset + bytes;
  }
  CHECK(end <= program.arena_bytes);
  return sum;
}

TEST_CASE("the peak of random programs adds up") {
  std::mt19937_64 random(3);
  int in_arena = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = random_program(seed);
    const Layout layout = random_layout({&program, 1}, mesh_of({2, 2}), random);
    DiagSink diags;
    const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
    if (!spmd) {
      continue;
    }
    const Peak peak = peak_of(*spmd);
    INFO("seed " << seed << " under " << to_string(layout));
    CHECK(checked_sum(*spmd, peak) == spmd->totals.peak_bytes);
    CHECK(peak.step.has_value() == (spmd->arena_bytes > 0));
    in_arena += peak.step ? 1 : 0;
  }
  CHECK(in_arena > 50);
}

TEST_CASE("the peak is where the largest values meet") {
  const Program program = program_of(R"(
dim a = 64, b = 16, c = 8
fn case(x: f32[a, b]) {
  let narrow = cumsum(sum(x -> [a]), over = a)
  let wide = cumsum(x, over = b)
  let both = einsum(wide, x -> [b])
  let last = sum(both * 2.0) + sum(maximum(narrow, sum(both)))
  return last
}
)");
  const SpmdProgram spmd = lowered(program, one_rank());
  const Peak peak = peak_of(spmd);
  REQUIRE(peak.step);
  CHECK(checked_sum(spmd, peak) == spmd.totals.peak_bytes);
  std::map<std::string, std::pair<HeldAs, std::int64_t>> held;
  for (const Held& entry : peak.held) {
    held[entry.value.valid() ? spmd.at(entry.value).name : "gap"] = {entry.what, entry.bytes};
  }
  CHECK(held["x"] == std::pair(HeldAs::kArgument, std::int64_t{4096}));
  CHECK(held["wide"] == std::pair(HeldAs::kBetween, std::int64_t{4096}));
  CHECK(held["narrow"] == std::pair(HeldAs::kBetween, std::int64_t{256}));
  CHECK(held["both"] == std::pair(HeldAs::kBetween, std::int64_t{64}));
  CHECK(spmd.at(spmd.steps[*peak.step].calls.back().result).name == "both");
}

// One of auto_mtf's cases (scheduler_test.py): 540 bytes, and what aligns three blocks of them.
TEST_CASE("what is gone before an output is made may be in its buffer until then") {
  const SpmdProgram spmd = lowered(program_of(R"(
dim a = 3, b = 4, c = 5
fn case() {
  let x = normal([a, b], seed = 1)
  let y = normal([b, c], seed = 2)
  let z = einsum(x, y -> [a, b, c])
  let w = einsum(x, y -> [a, c])
  return z, broadcast(w -> [a, b, c])
}
)"),
                                   one_rank());
  CHECK(spmd.totals.peak_bytes == 256 + 256 + 64);
  CHECK(checked_sum(spmd, peak_of(spmd)) == spmd.totals.peak_bytes);
}

TEST_CASE("what an output is computed from in place is made in its buffer") {
  const SpmdProgram spmd = lowered(program_of(R"(
dim a = 64, b = 64
fn case(x: f32[a, b], w: f32[b]) {
  let h = einsum(x, x -> [a, b])
  let s = einsum(h, w -> [a])
  return exp(h) / (s + einsum(exp(h), w -> [a]))
}
)"),
                                   one_rank());
  CHECK(spmd.totals.peak_bytes <= 3 * 16384 + 4 * 256);  // x, h and the output
}

TEST_CASE("where nothing is computed on the way, only inputs and outputs are held") {
  const Program program = program_of("dim a = 4\nfn case(x: f32[a]) {\n  return x\n}\n");
  const SpmdProgram spmd = lowered(program, one_rank());
  const Peak peak = peak_of(spmd);
  CHECK_FALSE(peak.step);
  CHECK(checked_sum(spmd, peak) == spmd.totals.peak_bytes);
}

TEST_CASE("an all-reduce leaves its sums where their terms were") {
  const Program program = program_of(R"(
dim b = 16, c = 600
fn case(x: f32[b, c]) {
  let s = sum(x, over = b)
  return exp(s) * max(s, over = c)
}
)");
  Layout layout{.name = "l", .mesh = mesh_of({4})};
  layout.rules.push_back({.dim = "b", .axes = {0}, .span = {}});
  const SpmdProgram plan = lowered(program, layout);
  const auto sum = std::ranges::find(plan.steps, StepKind::kAllReduce, &Step::kind);
  REQUIRE(sum != plan.steps.end());
  const SpmdValue& terms = plan.at(sum->from);
  const SpmdValue& sums = plan.at(sum->to);
  CHECK(terms.home != Home::kNone);
  CHECK(std::pair(terms.home, terms.offset) == std::pair(sums.home, sums.offset));
  CHECK(terms.within == sums.within);
}

// Three gradients, then the updates by them, all at a rate that a state gives.
Program updates_at_a_rate() {
  return program_of(R"(
dim a = 16, b = 64, c = 64
fn case(x: f32[a, b], y: f32[a, c]) {
  state t : f32[] = zeros
  state u : f32[b, c] = zeros
  state v : f32[b, c] = zeros
  state w : f32[b, c] = zeros
  let f = einsum(x, y -> [b, c])
  let g = einsum(exp(x), y -> [b, c])
  let h = einsum(x, exp(y) -> [b, c])
  let next = t + 1
  let rate = 1 / next
  t <- next
  u <- u - rate * f * f
  v <- v - rate * g * g
  w <- w - rate * h * h
  return sum(x)
}
)");
}

TEST_CASE("updates at a rate that is computed use gradients up one by one") {
  const SpmdProgram spmd = lowered(updates_at_a_rate(), one_rank());
  constexpr std::int64_t kMatrix = 64 * 64 * 4;
  constexpr std::int64_t kInput = 16 * 64 * 4;
  CHECK(spmd.totals.peak_bytes <= 4 * kMatrix + 4 * kInput + 1024);  // and not 6
  CHECK(checked_sum(spmd, peak_of(spmd)) == spmd.totals.peak_bytes);
}

TEST_CASE("updates at a rate that is computed are not put right behind all-reduces") {
  Layout layout{.name = "l", .mesh = mesh_of({2})};
  layout.rules.push_back({.dim = "a", .axes = {0}, .span = {}});
  const SpmdProgram plan = lowered(updates_at_a_rate(), layout);
  std::vector<std::size_t> sums;
  std::vector<std::size_t> updates;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.kind == StepKind::kAllReduce && plan.at(step.to).local.shape.rank() == 2) {
      sums.push_back(s);
    } else if (step.calls.size() > 1 && plan.at(step.calls.back().result).local.shape.rank() == 2) {
      updates.push_back(s);
    }
  }
  REQUIRE(sums.size() == 3);
  REQUIRE(updates.size() == 3);
  CHECK(sums.back() < updates.front());
}

}  // namespace
}  // namespace mtf::tests
