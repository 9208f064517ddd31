// What a `let` named may have rules of its own: random programs give one rank's bits under them,
// and what is computed for such a tensor alone, and its gradient, lie as it does.

#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// Half of the values get names.
Program with_lets(Program program, std::mt19937_64& random) {
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (program.values[i].type.shape.rank() > 0 && random() % 2 == 0) {
      program.lets.push_back(
          {.path = "net/v" + std::to_string(i), .value = {static_cast<std::int32_t>(i)}});
    }
  }
  return program;
}

// Each axis splits a dim of the tensor, in the order of the axes, or none.
std::vector<Rule> rules_for(const Shape& shape, const Mesh& mesh, std::mt19937_64& random) {
  std::vector<Rule> rules;
  for (const Dim& dim : shape.dims()) {
    rules.push_back({.dim = dim.name, .axes = {}, .span = {}});
  }
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const std::size_t d = random() % (shape.rank() + 1);
    if (d < shape.rank() &&
        shape[d].size % (mesh.size_of(rules[d].axes) * mesh.axes[axis].size) == 0) {
      rules[d].axes.push_back(static_cast<AxisId>(axis));
    }
  }
  return rules;
}

Layout with_let_rules(Layout layout, const Program& program, std::mt19937_64& random) {
  for (const Let& let : program.lets) {
    if (random() % 3 == 0) {
      layout.variables.push_back(
          {.glob = let.path,
           .rules = rules_for(program.at(let.value).type.shape, layout.mesh, random),
           .span = {},
           .lets = true});
    }
  }
  return layout;
}

TEST_CASE("random programs give one rank's bits where what lets named has rules of its own") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = with_lets(random_program(seed), random);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{4}, {2, 2}, {4, 2}, {2, 2, 2}}) {
      for (int tries = 0; tries < 3; ++tries) {
        Layout layout = random_layout({&program, 1}, mesh_of(sizes), random);
        layout.infer = random() % 3 == 0;
        layout = with_let_rules(std::move(layout), program, random);
        const std::optional<Outcome> many = run_under({&program, 1}, layout);
        if (!many || layout.variables.empty()) {
          continue;
        }
        ++compared;
        INFO("seed " << seed << ", " << to_string(layout) << (layout.infer ? " infer" : "") << "\n"
                     << mtf::to_string(program));
        CHECK(many->problem == "");
        CHECK((same_values(*one, *many) || !many->promised));
      }
    }
  }
  CHECK(compared > 800);
}

struct Planned {
  Program source;
  std::vector<SharedTarget> targets;

  [[nodiscard]] ValueLayout layout_of(ValueId id) const { return targets[at(id)]->layout; }
};

Planned planned(const Program& program, const Layout& layout) {
  DiagSink diags;
  std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
  REQUIRE(spmd);
  return {.source = spmd->source, .targets = spmd->targets};
}

TEST_CASE("what is computed for a named tensor alone lies as it does") {
  const Program program = program_of(
      "dim batch = 8, io = 4, hidden = 16\n"
      "fn case() {\n"
      "  let x = normal([batch, io], seed = 1)\n"
      "  let w = normal([io, hidden], seed = 2)\n"
      "  let b = normal([hidden], seed = 3)\n"
      "  let h = relu(einsum(x, w -> [batch, hidden]) + b)\n"
      "  let y = tanh(h) * 2\n"
      "  return y\n"
      "}\n");
  Layout layout{.name = "l", .mesh = mesh_of({2}), .rules = {}, .span = {}};
  layout.variables = {{.glob = "*h",
                       .rules = {{.dim = "hidden", .axes = {0}, .span = {}}},
                       .span = {},
                       .lets = true}};
  const Planned plan = planned(program, layout);
  int split = 0;
  for (std::size_t i = 0; i < plan.source.values.size(); ++i) {
    const Value& value = plan.source.values[i];
    const ValueId id{static_cast<std::int32_t>(i)};
    if (value.type.shape.rank() != 2 || !value.type.shape.has("hidden") ||
        value.type.shape.has("io")) {
      continue;
    }
    const bool is_before = value.op->name != "tanh" && value.op->name != "mul";
    CHECK(plan.layout_of(id).dims[1].size() == (is_before ? 1U : 0U));
    split += is_before ? 1 : 0;
  }
  CHECK(split == 3);  // the product, the sum and `h`
}

TEST_CASE("rewrites keep the names of what they leave, and drop the others") {
  const Program program = program_of(
      "dim batch = 8, io = 4\n"
      "fn case() {\n"
      "  let x = normal([batch, io], seed = 1)\n"
      "  let taken = x * normal([io], seed = 2)\n"
      "  let kept = sum(taken, over = io)\n"
      "  let same = sum(taken, over = io)\n"
      "  return exp(kept) + tanh(same)\n"
      "}\n");
  const Program simplified = simplify(program, op_table());
  std::map<std::string, ValueId> lets;
  for (const Let& let : simplified.lets) {
    lets.emplace(let.path, let.value);
  }
  CHECK_FALSE(lets.contains("case/taken"));  // the product is in the sum
  REQUIRE(lets.contains("case/kept"));
  REQUIRE(lets.contains("case/same"));
  CHECK(lets.at("case/kept") == lets.at("case/same"));
}

}  // namespace
}  // namespace mtf::tests
