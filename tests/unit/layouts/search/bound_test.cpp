// What the search says that a step costs at least, beside what plans cost: programs as people write
// them, with variables that have rules of their own.

#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/search/pricer.h"
#include "lowering/search/roles/role_bound.h"
#include "lowering/search/search.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/search/drawn_layout.h"
#include "tests/unit/layouts/search/drawn_step.h"

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

Hardware some_hardware() {
  return {.name = "test",
          .flops = 1e12,
          .products = {{8, 1e11}, {64, 1e12}},
          .memory = {{1, 1e11}},
          .link = {.latency = 1e-6, .bandwidth = 1e9}};
}

// Links of which some are nearer, gathers that pass behind products, tiles, kernels that take time
// to begin, and what was measured.
Hardware drawn_hardware(Random& random) {
  Hardware hardware = some_hardware();
  const auto once_in = [&random](std::uint64_t times) { return random() % times == 0; };
  hardware.overlap = once_in(2) ? 0.8 : 0;
  hardware.overhead = once_in(2) ? 2e-6 : 0;
  hardware.tile = once_in(3) ? 16 : 1;
  if (once_in(3)) {
    hardware.near = {.latency = 2e-7, .bandwidth = 2e10};
    hardware.near_ranks = 2 + static_cast<std::int64_t>(random() % 3);
  }
  if (once_in(3)) {
    hardware.memory = {{1e3, 2e10}, {1e6, 1e11}, {1e7, 3e10}};
    hardware.elements = {{"tanh", 2e-9},
                         {"sum", 5e-10},
                         {"einsum", 4e-10},
                         {"cast.from_bf16", 9e-10},
                         {"cast.to_bf16", 2e-9}};
  }
  if (once_in(4)) {
    hardware.collectives = {
        {.kind = "all_reduce", .ranks = 2, .seconds = {{8, 3e-6}, {1e6, 4e-4}}},
        {.kind = "all_gather", .ranks = 2, .seconds = {{8, 2e-6}, {1e6, 9e-4}}}};
  }
  return hardware;
}

constexpr std::array kObjectives = {Objective::kMemory, Objective::kTime, Objective::kBytes};

struct Problem {
  std::vector<Program> programs;
  SearchSpace space;
  Pricer pricer;
  std::map<bool, RoleOperations> operations;  // by whether blocks recompute
  std::map<std::pair<bool, Objective>, RoleBound> bounds;

  Problem(const std::string& text, SpaceLimits limits, const Hardware& hardware = some_hardware())
      : programs({simplify(program_of(text), op_table())}),
        space(programs, std::move(limits)),
        pricer(space, [this](std::size_t) { return std::span<const Program>(programs); },
               {.ops = op_table(), .hardware = [=](const Mesh&) { return hardware; }}) {}

  RoleBound bound(const LayoutCandidate& candidate, Objective objective, double memory = 0) {
    const RoleOperations& some =
        operations.try_emplace(candidate.recompute, space, pricer.programs(candidate))
            .first->second;
    return {space, 0, some, pricer.hardware(0), objective, memory};
  }
  RoleBound& bound_of_all(const LayoutCandidate& candidate, Objective objective) {
    const std::pair key(candidate.recompute, objective);
    const auto found = bounds.find(key);
    return found != bounds.end() ? found->second
                                 : bounds.emplace(key, bound(candidate, objective)).first->second;
  }
};

// What says no more than this.
Reaches reach_of(const LayoutCandidate& candidate) {
  const auto is_as_rules = [](DimSet own) { return own == kAsRules; };
  return candidate.rest != 0                                      ? Reaches::kRest
         : !std::ranges::all_of(candidate.variables, is_as_rules) ? Reaches::kVariables
                                                                  : Reaches::kRules;
}

// What begins as the candidate does, of all that say no more: the bytes of a rank at least. What
// begins with nothing but the mesh has rules for single variables as well.
double check_beginnings(RoleBound& bound, const SearchSpace& space, const Priced& priced,
                        Objective objective) {
  const std::size_t last = 2 * space.dims().size() + space.axes();
  const double value = value_of(priced, objective);
  RoleBound::Least before;
  const bool is_whole = priced.candidate.groups.empty();
  for (std::size_t decided = 0; decided <= (is_whole ? last : 0); ++decided) {
    for (const Reaches reaches : {Reaches::kRest, reach_of(priced.candidate)}) {
      const RoleBound::Least least =
          bound.least({.candidate = priced.candidate, .decided = decided, .reaches = reaches});
      CHECK(least.bytes <= static_cast<double>(priced.peak_bytes));
      CHECK(least.value <= value);
      if (reaches == Reaches::kRest) {
        CHECK(least.value >= before.value * (1 - 1e-12));
        before = least;
      }
    }
  }
  return before.bytes;
}

// By each objective; among those, too, that take no more memory. The share of the peak that the
// bound comes to.
double check_bounds(Problem& problem, const Priced& priced) {
  const auto peak = static_cast<double>(priced.peak_bytes);
  double bytes = 0;
  for (const Objective objective : kObjectives) {
    bytes = check_beginnings(problem.bound_of_all(priced.candidate, objective), problem.space,
                             priced, objective);
    RoleBound as_small = problem.bound(priced.candidate, objective, peak);
    const std::size_t last = 2 * problem.space.dims().size() + problem.space.axes();
    const Partial partial{.candidate = priced.candidate,
                          .decided = priced.candidate.groups.empty() ? last : 0};
    CHECK(as_small.least(partial).value <= value_of(priced, objective));
  }
  return bytes / peak;
}

// Some variables do otherwise than the rest of them.
void draw_group(const SearchSpace& space, Random& random, LayoutCandidate& candidate) {
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < space.groups().size(); ++g) {
    if (!space.groups()[g].lets) {
      groups.push_back(g);
    }
  }
  if (groups.empty()) {
    return;
  }
  GroupAxes own{.group = groups[random() % groups.size()], .axes = {}};
  for (std::size_t a = 0; a < space.axes(); ++a) {
    const std::size_t dim = random() % space.dims().size();
    const bool may_split = has(space.groups()[own.group].dims, dim) && random() % 4 != 0;
    own.axes.push_back(random() % 3 == 0 ? kAsRules : may_split ? only(dim) : 0);
  }
  candidate.groups = {own};
}

const std::vector<std::vector<std::int64_t>> kMeshes = {{2, 2, 2}, {2, 4}, {3, 2}, {2},       {7},
                                                        {6},       {4, 3}, {5},    {3, 2, 2}, {16}};

struct Compared {
  std::uint64_t plans = 0;
  double shares = 0;
};

// Of some layouts of the program, drawn.
Compared compare(Problem& problem, const std::string& text, Random& random) {
  Compared compared;
  for (int k = 0; k < 30; ++k) {
    LayoutCandidate candidate = drawn_layout(problem.space, random, 2);
    candidate.infer = random() % 8 == 0;
    if (random() % 6 == 0) {
      draw_group(problem.space, random, candidate);
    }
    candidate.recompute = !problem.space.may_vary_recompute() || random() % 2 == 0;
    const Priced& priced = problem.pricer.price(candidate);
    if (priced.is_legal) {
      INFO(text << " under " << to_string(problem.space.layout_of(candidate)) << ", candidate "
                << k);
      ++compared.plans;
      compared.shares += check_bounds(problem, priced);
    }
  }
  return compared;
}

TEST_CASE("no plan costs less than the bound by roles") {
  const std::uint64_t programs = number_from_environment("MTF_BOUND_PROGRAMS", 100);
  const std::uint64_t first = number_from_environment("MTF_BOUND_SEED", 1);
  std::uint64_t compared = 0;
  double shares = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::string text = drawn_step(random);
    Problem problem(text, limits_on(kMeshes[random() % kMeshes.size()], random() % 3 == 0),
                    drawn_hardware(random));
    const Compared one = compare(problem, text, random);
    compared += one.plans;
    shares += one.shares;
  }
  CHECK(compared > 10 * programs);
  CHECK(shares > 0.4 * static_cast<double>(compared));  // it says something
  WARN(compared << " plans compared");
}

// Every operation converts what it reads and makes, which takes longer than all else.
TEST_CASE("no plan costs less than the bound by roles where f16 is widened and rounded") {
  const std::uint64_t programs = number_from_environment("MTF_BOUND_PROGRAMS", 100);
  const std::uint64_t first = number_from_environment("MTF_BOUND_SEED", 1);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::string text = std::regex_replace(drawn_step(random), std::regex("bf16|f32"), "f16");
    text = std::regex_replace(text, std::regex("\\], stddev"), "], dtype = f16, stddev");
    Hardware hardware = drawn_hardware(random);
    hardware.elements.insert(hardware.elements.end(),
                             {{"cast.from_f16", 2e-8}, {"cast.to_f16", 5e-8}});
    Problem problem(text, limits_on(kMeshes[random() % kMeshes.size()]), hardware);
    compared += compare(problem, text, random).plans;
  }
  CHECK(compared > 10 * programs);
}

TEST_CASE("what is converted by elements is in the bound") {
  Hardware hardware = some_hardware();
  hardware.elements = {{"cast.from_f16", 2e-8}, {"cast.to_f16", 5e-8}};
  const std::string text =
      "dim a = 64, b = 64\n"
      "fn case(x: f16[a, b], y: f16[a, b]) { return tanh(x * y) }\n";
  Problem problem(text, limits_on({2}), hardware);
  const Priced& priced = problem.pricer.price(problem.space.unsplit(0));
  REQUIRE(priced.is_legal);
  const double value = value_of(priced, Objective::kTime);
  constexpr double kConverting = 3 * 2e-8 + 2 * 5e-8;
  CHECK(value > 64 * 64 * kConverting);
  const Partial partial{.candidate = priced.candidate, .decided = 99};
  CHECK(problem.bound(priced.candidate, Objective::kTime).least(partial).value > 0.49 * value);
  static_cast<void>(check_bounds(problem, priced));
}

// Chains compute it again behind the product, from what need not be kept for them alone.
TEST_CASE("what chains compute again is no more than the least on the way to it") {
  const std::string product =
      "  let p = einsum(tanh(n), w -> [b, c])\n"
      "  return sum(tanh(n * mean(p)))\n"
      "}\n";
  for (const std::string& text :
       {"dim a = 64, b = 256, c = 4\n"  // the argument, of which the middle is half
        "fn case(x: f32[a, b], w: f32[a, c]) {\n"
        "  let n = cast(cast(x, bf16), f32)\n" +
            product,
        "dim a = 64, b = 256, c = 4\n"  // two vectors
        "fn case(x: f32[a], y: f32[b], w: f32[a, c]) {\n"
        "  let n = x * y\n" +
            product}) {
    Problem problem(text, limits_on({1}));
    const Priced& priced = problem.pricer.price(problem.space.unsplit(0));
    REQUIRE(priced.is_legal);
    CHECK(check_bounds(problem, priced) > 0.9);
  }
}

// Of 14 elements, each of six ranks receives 23 of twice their 11 and two thirds.
TEST_CASE("an all-reduce receives whole elements") {
  Problem problem(
      "dim a = 12, b = 2, c = 7\n"
      "fn case(x: f32[a, b], y: f32[a, c]) { return einsum(x, y -> [b, c]) }\n",
      limits_on({6}));
  LayoutCandidate candidate = problem.space.unsplit(0);
  candidate.rules[*problem.space.find("a")] = {0};
  const Priced& priced = problem.pricer.price(candidate);
  REQUIRE(priced.received_bytes == 23 * 4);
  static_cast<void>(check_bounds(problem, priced));
}

// Between two products of variables that are split over an axis, what no rule splits may be held
// and read in parts. Here it is never gathered.
TEST_CASE("what no rule splits may lie in parts all the same") {
  for (const int batch : {2, 7, 8, 16}) {
    Problem problem(kUpdates + "dim batch = " + std::to_string(batch) +
                        ", io = 8, hidden = 4096\n"
                        "model net(x: f32[batch, io]) {\n"
                        "  param w : f32[io, hidden] = normal\n"
                        "  param v : f32[hidden, io] = normal\n"
                        "  let h = einsum(x, w -> [batch, hidden])\n"
                        "  return einsum(h, v -> [batch, io])\n"
                        "}\n"
                        "fn case(x: f32[batch, io]) {\n" +
                        kTrains,
                    limits_on({4}));
    LayoutCandidate candidate = problem.space.unsplit(0);
    candidate.variables[0] = only(*problem.space.find("hidden"));
    const Priced& priced = problem.pricer.price(candidate);
    REQUIRE(priced.is_legal);
    CHECK(check_bounds(problem, priced) > 0.3);
  }
}

// Ranks along y have the same terms of the sums over x, and add up a half of them each.
TEST_CASE("ranks that have the same terms share their sum") {
  Problem problem(kUpdates +
                      "dim a = 6, b = 8, c = 256\n"
                      "model net(x: f32[a, b]) {\n"
                      "  param w : f32[a, c] = normal\n"
                      "  return tanh(einsum(x, w -> [b, c]))\n"
                      "}\n"
                      "fn case(x: f32[a, b]) {\n" +
                      kTrains,
                  limits_on({3, 2}));
  LayoutCandidate candidate = problem.space.unsplit(0);
  candidate.variables[0] = only(*problem.space.find("a"));
  const Priced& priced = problem.pricer.price(candidate);
  REQUIRE(priced.is_legal);
  static_cast<void>(check_bounds(problem, priced));
}

// What all entries keep between them is held once.
TEST_CASE("the memory of several entries is that of the one that takes most") {
  const std::string text =
      "dim io = 64, hidden = 64\n"
      "fn case(x: f32[io], w: f32[io, hidden]) { return einsum(x, w -> [hidden]) }\n";
  const std::vector<Program> programs(3, simplify(program_of(text), op_table()));
  const SearchSpace space(programs, limits_on({2}));
  Pricer pricer(space, [&](std::size_t) { return std::span<const Program>(programs); },
                {.ops = op_table(), .hardware = [](const Mesh&) { return some_hardware(); }});
  const RoleOperations operations(space, programs);
  RoleBound bound(space, 0, operations, pricer.hardware(0), Objective::kMemory);
  const Priced& priced = pricer.price(space.unsplit(0));
  const double bytes = bound.least({.candidate = priced.candidate, .decided = 99}).bytes;
  CHECK(bytes <= static_cast<double>(priced.peak_bytes));
  CHECK(bytes > 0.9 * static_cast<double>(priced.peak_bytes));
}

}  // namespace
}  // namespace mtf::tests
