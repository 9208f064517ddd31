// What the search says that a step costs at least, beside what plans cost: programs as people write
// them, with variables that have rules of their own.

#include <array>
#include <random>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/search/pricer.h"
#include "lowering/search/roles/role_bound.h"
#include "lowering/search/search.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/search/drawn_layout.h"

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

std::string several(Random& random, const std::string& names, std::size_t most) {
  std::string some;
  for (const char name : names) {
    if (random() % names.size() < most) {
      some += name;
    }
  }
  return some.empty() ? names.substr(random() % names.size(), 1) : some;
}

std::string listed(const std::string& names) {
  std::string text;
  for (const char name : names) {
    text += (text.empty() ? "" : ", ") + std::string(1, name);
  }
  return "[" + text + "]";
}

std::string both(std::string names, const std::string& others) {
  for (const char name : others) {
    names += names.find(name) == std::string::npos ? std::string(1, name) : "";
  }
  std::ranges::sort(names);
  return names;
}

const std::string kUpdates =
    "fn update(p, g) {\n"
    "  state v = zeros(shape(p), dtype(p))\n"
    "  v <- 0.9 * v + g\n"
    "  p <- p - 0.1 * v\n"
    "}\n"
    "fn added(xs, ys) {\n"
    "  var sums = []\n"
    "  for i in 0..len(xs) { sums = sums + [xs[i] + ys[i]] }\n"
    "  return sums\n"
    "}\n";
const std::string kAtOnce =
    "  let loss = mean(square(net(x)))\n"
    "  minimize loss with update\n"
    "  return loss\n"
    "}\n";
const std::string kInParts =
    "  fn loss(i) { return mean(square(net(x * cast(i, f32)))) }\n"
    "  let first = loss(zeros([], i32))\n"
    "  let ps = params(net)\n"
    "  var gs = grad(first, ps)\n"
    "  var i = ones([], i32)\n"
    "  while i < 3 {\n"
    "    gs = added(gs, grad(loss(i), ps))\n"
    "    i = i + 1\n"
    "  }\n"
    "  for k in 0..len(ps) { update(ps[k], gs[k]) as \"{path(ps[k])}\" }\n"
    "  return first\n"
    "}\n";

// Products, sums and chains of variables, and a step that updates these; some of it is computed
// again, in narrow numbers, or in a loop.
std::string drawn_text(Random& random) {
  constexpr std::array kSizes = {2, 4, 6, 8, 16, 64, 128, 256};
  const std::string names = "abcde";
  std::string text = kUpdates + "dim ";
  for (const char name : names) {
    text += std::string(name == 'a' ? "" : ", ") + name + " = " +
            std::to_string(kSizes[random() % kSizes.size()]);
  }
  std::string dims = several(random, names, 2);
  const std::string input = "x: f32" + listed(dims);
  text += "\nmodel net(" + input + ") {\n";
  std::string value = "x";
  const bool is_narrow = random() % 3 == 0;
  text += is_narrow ? "with precision bf16 {\n" : "";
  for (int i = 0; i < 4; ++i) {
    const std::string other = several(random, names, 2);
    const std::string own = "h" + std::to_string(i);
    const std::string weight = "w" + std::to_string(i);
    text += "  param " + weight + " : f32" + listed(other) + " = normal(stddev = 0.5)\n";
    const std::string all = both(dims, other);
    const std::uint64_t kind = std::max<std::uint64_t>(1, random() % 6) - 1;
    dims = kind == 4 ? all : several(random, all, 3);
    const bool is_again = random() % 4 == 0;
    text += is_again ? "  var " + own + " = " + value + "\n  recompute { " + own + " = "
                     : "  let " + own + " = ";
    text += kind < 3    ? "einsum(" + value + ", " + weight + " -> " + listed(dims) + ")"
            : kind == 3 ? "sum(relu(" + value + " * " + weight + ") -> " + listed(dims) + ")"
                        : "tanh(" + value + " + " + weight + ")";
    text += is_again ? " }\n" : "\n";
    value = own;
  }
  text += is_narrow ? "  return " + value + "\n}\n}\n" : "  return " + value + "\n}\n";
  text += "fn case(" + input + ") {\n";
  return text + (random() % 4 == 0 ? kInParts : kAtOnce);
}

Hardware some_hardware() {
  return {.name = "test",
          .flops = 1e12,
          .products = {{8, 1e11}, {64, 1e12}},
          .memory = {{1, 1e11}},
          .link = {.latency = 1e-6, .bandwidth = 1e9}};
}

struct Problem {
  std::vector<Program> programs;
  SearchSpace space;
  Pricer pricer;
  RoleOperations operations;

  Problem(const std::string& text, SpaceLimits limits)
      : programs({simplify(program_of(text), op_table())}),
        space(programs, std::move(limits)),
        pricer(space, [this](std::size_t) { return std::span<const Program>(programs); },
               {.ops = op_table(), .hardware = [](const Mesh&) { return some_hardware(); }}),
        operations(space, programs) {}
};

// The bytes of all beginnings of the candidate, and what it costs by each objective.
double check_bounds(Problem& problem, const Priced& priced) {
  const LayoutCandidate& candidate = priced.candidate;
  const std::size_t last = 2 * problem.space.dims().size() + problem.space.axes();
  double bytes = 0;
  for (const Objective objective : {Objective::kMemory, Objective::kTime, Objective::kBytes}) {
    RoleBound bound(problem.space, 0, problem.operations, problem.pricer.hardware(0), objective);
    // A collective moves whole elements, of uneven blocks not the same on all ranks.
    const bool is_exact = objective != Objective::kBytes;
    const double slack = is_exact ? 0 : 8 * static_cast<double>(problem.operations.size());
    double before = 0;
    for (std::size_t decided = 0; decided <= last; ++decided) {
      const RoleBound::Least least = bound.least({.candidate = candidate, .decided = decided});
      bytes = least.bytes;
      CHECK(bytes <= static_cast<double>(priced.peak_bytes));
      CHECK(least.value >= before * (1 - 1e-12));
      before = least.value;
    }
    CHECK((before <= value_of(priced, objective) + slack ||
           (!is_exact && problem.space.meshes()[0].uneven)));
  }
  return bytes / static_cast<double>(priced.peak_bytes);
}

TEST_CASE("no plan costs less than the bound by roles, with variables, loops and narrow numbers") {
  Random random(7);
  int compared = 0;
  double shares = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string text = drawn_text(random);
    const auto sizes = i % 3 == 0   ? std::vector<std::int64_t>{2, 2, 2}
                       : i % 3 == 1 ? std::vector<std::int64_t>{2, 4}
                                    : std::vector<std::int64_t>{3, 2};
    Problem problem(text, limits_on(sizes, i % 5 == 0));
    for (int k = 0; k < 30; ++k) {
      LayoutCandidate candidate = drawn_layout(problem.space, random, 2);
      candidate.infer = random() % 8 == 0;
      const Priced& priced = problem.pricer.price(candidate);
      if (priced.is_legal) {
        INFO(text << " under " << to_string(problem.space.layout_of(candidate)));
        ++compared;
        shares += check_bounds(problem, priced);
      }
    }
  }
  CHECK(compared > 1000);
  CHECK(shares / compared > 0.4);  // it says something
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
                        kAtOnce,
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
                      kAtOnce,
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
