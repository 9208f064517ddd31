// Every collective of any program leads back to a rule; every axis of every value has an answer.

#include "frontend/report/why/why.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "frontend/report/why/reason.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

bool leads_back(const CollectiveWhy& why) {
  const auto leads = [](const Side& side) {
    return !side.path.hops.empty() && side.path.root().cause.from < 0 &&
           side.path.root().cause.kind != CauseKind::kNone;
  };
  return std::ranges::any_of(why.had, leads) || std::ranges::any_of(why.wanted, leads);
}

// Whether each axis that a summed dim is said to be split over is in one of the rules that are
// named for it.
bool names_axes(const SpmdProgram& program, const Reason& reason,
                const std::vector<Cause>& causes) {
  if (reason.kind != ReasonKind::kReduced || causes.empty()) {
    return true;
  }
  return std::ranges::all_of(reason.has, [&](AxisId axis) {
    const std::string& name = program.mesh.axes[axis].name;
    return std::ranges::any_of(causes, [&](const Cause& cause) {
      return (cause.kind != CauseKind::kRule && cause.kind != CauseKind::kPin) ||
             cause.rule.find(name) != std::string::npos ||
             cause.rule.find('*') != std::string::npos;
    });
  });
}

// How many collectives were asked.
int ask_all(const SpmdProgram& program, const Layout& layout) {
  const Tracer tracer(program);
  const ValueNames names(program);
  const Reasons reasons(program);
  const RuleSources rule_sources(program.source, layout);
  int asked = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.kind == StepKind::kKernel || step.kind == StepKind::kSlice) {
      continue;
    }
    const CollectiveWhy why = why_collective(program, tracer, s, &names);
    CHECK(leads_back(why));
    bool names_rule = false;
    for (std::size_t r = 0; r < step.reasons.size(); ++r) {
      const std::vector<Cause> causes = reasons.causes(s, r);
      names_rule = names_rule || !causes.empty();
      CHECK(names_axes(program, step.reasons[r], causes));
    }
    CHECK(names_rule);
    ++asked;
  }
  for (std::size_t v = 0; v < program.source.values.size(); ++v) {
    const Value& value = program.source.values[v];
    if (value.op != nullptr && value.op->effect) {
      continue;
    }
    const ValueWhy why =
        why_value(program, tracer, layout, rule_sources, {static_cast<std::int32_t>(v)});
    CHECK(why.axes.size() == program.mesh.axes.size());
    for (const AxisWhy& axis : why.axes) {
      CHECK(axis.path.hops.empty() == !axis.absence.text.empty());
    }
  }
  return asked;
}

TEST_CASE("every collective of random programs leads back to a rule") {
  std::mt19937_64 random(5);
  int asked = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Program program = random_program(seed);
    Layout layout = random_layout({&program, 1}, mesh_of({2, 2, 2}), random);
    layout.infer = seed % 2 == 0;
    layout.mesh.uneven = seed % 5 == 0;
    DiagSink diags;
    const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
    INFO("seed " << seed << " under " << to_string(layout));
    asked += spmd ? ask_all(*spmd, layout) : 0;
  }
  CHECK(asked > 400);
}

}  // namespace
}  // namespace mtf::tests
