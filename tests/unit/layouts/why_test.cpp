// Every collective of any program leads back to a rule; every axis of every value has an answer.

#include "lowering/why.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/ops.h"
#include "tests/unit/layouts/every_layout.h"
#include "tests/unit/layouts/generate.h"

namespace mtf::tests {
namespace {

bool leads_back(const CollectiveWhy& why) {
  const auto leads = [](const Side& side) {
    return !side.path.hops.empty() && side.path.root().cause.from < 0 &&
           !side.path.root().cause.text.empty();
  };
  return std::ranges::any_of(why.had, leads) || std::ranges::any_of(why.wanted, leads);
}

// How many collectives were asked.
int ask_all(const SpmdProgram& program, const Layout& layout) {
  const Tracer tracer(program);
  const ValueNames names(program);
  const Governing governing(program.source, layout);
  int asked = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.kind == StepKind::kKernel || step.kind == StepKind::kSlice) {
      continue;
    }
    const CollectiveWhy why = why_collective(program, tracer, s, &names);
    CHECK(leads_back(why));
    CHECK(std::ranges::any_of(step.reasons,
                              [](const Reason& reason) { return !reason.cause.text.empty(); }));
    ++asked;
  }
  for (std::size_t v = 0; v < program.source.values.size(); ++v) {
    const Value& value = program.source.values[v];
    if (value.op != nullptr && value.op->effect) {
      continue;
    }
    const ValueWhy why =
        why_value(program, tracer, layout, governing, {static_cast<std::int32_t>(v)});
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
