// Sums over several dims, each dim split: one rank's bits, and no more moved than the rule says.

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "lowering/partition/stages.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

struct Case {
  std::vector<Dim> summed;  // outermost first
  std::vector<Dim> kept;
  std::string text;

  [[nodiscard]] std::int64_t result() const { return Shape(kept).volume(); }
};

std::string shape_text(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& dim : dims) {
    text += (text.empty() ? "" : ", ") + dim.name;
  }
  return "[" + text + "]";
}

std::vector<Dim> joined(std::vector<Dim> first, const std::vector<Dim>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The sum of a tensor, of a product or of rows that are placed; or the gradient of a weight. All of
// them name the summed dims in this order; the kept ones stand anywhere.
std::string body_of(const Case& the, std::size_t kind) {
  const Dim m = the.kept.front();
  const Dim n = the.kept.back();
  const auto drawn = [](const std::vector<Dim>& dims, int seed) {
    return "normal(" + shape_text(dims) + ", seed = " + std::to_string(seed) + ")";
  };
  const std::string to = shape_text(the.kept);
  switch (kind) {
    case 0:
      return "  return sum(" + drawn(joined(the.summed, the.kept), 1) + " -> " + to + ")\n";
    case 1:
      return "  return einsum(" + drawn(joined(the.summed, {m}), 1) + ", " +
             drawn(joined({n}, the.summed), 2) + " -> " + to + ")\n";
    case 2:
      return "  let w = " + drawn(the.kept, 1) + "\n  let y = einsum(" +
             drawn(joined(the.summed, {m}), 2) + ", w -> " + shape_text(joined(the.summed, {n})) +
             ")\n  return grad(sum(y * " + drawn(joined(the.summed, {n}), 3) + "), w)\n";
    default:
      return "  let ids = cast(" + std::to_string(m.size) + " * uniform(" + shape_text(the.summed) +
             ", seed = 1), i32)\n  return scatter_add(" + drawn(joined(the.summed, {n}), 2) +
             ", ids, over = m)\n";
  }
}

Case random_case(Random& random) {
  Case the;
  const std::vector<std::int64_t> sizes = {2, 4, 6, 8, 12, 16, 20, 32};
  std::int64_t terms = 1;
  const std::size_t dims = 2 + random() % 2;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = sizes[random() % sizes.size()];
    the.summed.push_back(
        {std::string(1, static_cast<char>('a' + d)), terms * size > 8192 ? 2 : size});
    terms *= the.summed.back().size;
  }
  the.kept = {{"m", 3 + static_cast<std::int64_t>(random() % 6)},
              {"n", std::int64_t{16} << (random() % 2)}};
  for (const Dim& dim : joined(the.summed, the.kept)) {
    the.text += "dim " + dim.name + " = " + std::to_string(dim.size) + "\n";
  }
  the.text += "fn case() {\n" + body_of(the, random() % 4) + "}\n";
  return the;
}

std::int64_t received(const Program& program, const Layout& layout, bool exact) {
  DiagSink diags;
  const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags, exact);
  REQUIRE(spmd);
  std::int64_t elements = 0;
  for (const Step& step : spmd->steps) {
    elements += step.received;
  }
  return elements;
}

// One partial sum for each block of the dims around the split one: a reduce-scatter of them all
// and an all-gather of the result, or an all-reduce of a single one. Of two ways with so few
// elements between them, that with fewer collectives.
std::int64_t at_most(const Case& the, std::size_t split, std::int64_t ways) {
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < split; ++d) {
    blocks *= std::gcd(std::int64_t{16}, the.summed[d].size);
  }
  return (blocks + 1) * the.result() * (ways - 1) / ways + 256;
}

TEST_CASE("any one of several summed dims may be split: the same bits, a partial sum per block") {
  int carried = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Case the = random_case(random);
    INFO("seed " << seed << "\n" << the.text);
    const Program program = program_of(the.text);
    const Outcome one = run_under({&program, 1}, one_rank()).value();
    for (std::size_t d = 0; d < the.summed.size(); ++d) {
      const Dim& dim = the.summed[d];
      for (std::int64_t ways = 2; ways <= 16 && dim.size % ways == 0; ways *= 2) {
        const Layout layout{.name = "split",
                            .mesh = mesh_of({ways}),
                            .rules = {{.dim = dim.name, .axes = {0}, .span = {}}}};
        INFO(to_string(layout));
        const std::optional<Outcome> many = run_under({&program, 1}, layout);
        REQUIRE(many);
        CHECK(many->problem == "");
        CHECK(many->promised);
        CHECK(same_values(one, *many));
        CHECK(received(program, layout, true) <= at_most(the, d, ways));
        CHECK(received(program, layout, false) <= at_most(the, 0, ways));
        carried += received(program, layout, true) > at_most(the, 0, ways) ? 1 : 0;
      }
    }
  }
  CHECK(carried > 50);
}

TEST_CASE("several summed dims may be split at once: the same bits") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(1000 + seed);
    const Case the = random_case(random);
    INFO("seed " << seed << "\n" << the.text);
    const Program program = program_of(the.text);
    const Outcome one = run_under({&program, 1}, one_rank()).value();
    for (const std::vector<std::int64_t>& mesh :
         {std::vector<std::int64_t>{2, 2}, {4, 2}, {2, 4}, {2, 2, 2}}) {
      const Layout layout = random_layout({&program, 1}, mesh_of(mesh), random);
      INFO(to_string(layout));
      const std::optional<Outcome> many = run_under({&program, 1}, layout);
      if (many) {
        CHECK(many->problem == "");
        CHECK(many->promised);
        CHECK(same_values(one, *many));
      }
    }
  }
}

}  // namespace
}  // namespace mtf::tests
