// Plans that are broken by hand are refused, whatever is wrong with them: a sum that is finished
// twice, never, or over other axes, a move that leads elsewhere, a kernel that reads what it may
// not.

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

using Catch::Matchers::Contains;

// Layouts are shared: one value gets its own.
template <typename F>
void change_layout(SpmdProgram& plan, SpmdId id, const F& change) {
  ValueLayout layout = plan.at(id).layout;
  change(layout);
  plan.at(id).layout = std::move(layout);
}

SpmdProgram plan_of(const Program& program, const Layout& layout) {
  DiagSink diags;
  std::optional<SpmdProgram> plan = lower(program, layout, op_table(), diags);
  REQUIRE(plan);
  REQUIRE(verify(*plan).empty());
  return *std::move(plan);
}

Layout layout_on(const std::vector<std::int64_t>& mesh,
                 const std::vector<std::pair<std::string, Axes>>& rules) {
  Layout layout{.name = "l", .mesh = mesh_of(mesh)};
  for (const auto& [dim, axes] : rules) {
    layout.rules.push_back({.dim = dim, .axes = axes, .span = {}});
  }
  return layout;
}

// x [a: x, b: y] times u [a: x] is partial over x; one all-reduce and one all-gather.
SpmdProgram product() {
  return plan_of(program_of(R"(
dim a = 64, b = 6, c = 5, bc = 30
fn case(x: f32[a, b], u: f32[a, c]) {
  return reshape(einsum(x, u -> [b, c]) -> [bc])
}
)"),
                 layout_on({2, 2}, {{"a", {0}}, {"b", {1}}}));
}

std::size_t step_of(const SpmdProgram& plan, StepKind kind, std::size_t nth = 0) {
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].kind == kind && nth-- == 0) {
      return s;
    }
  }
  FAIL("the plan has no " << to_string(kind));
  return 0;
}

// Whoever reads `from` reads `to` instead, from step `first` on.
void reads_instead(SpmdProgram& plan, std::size_t first, SpmdId from, SpmdId to) {
  const auto change = [&](SpmdId& id) { id = id == from ? to : id; };
  for (std::size_t s = first; s < plan.steps.size(); ++s) {
    change(plan.steps[s].from);
    for (LocalCall& call : plan.steps[s].calls) {
      std::ranges::for_each(call.operands, change);
    }
  }
  std::ranges::for_each(plan.outputs, change);
  for (SpmdUpdate& update : plan.updates) {
    change(update.value);
  }
}

void leave_out(SpmdProgram& plan, std::size_t s) {
  const Step gone = plan.steps[s];
  plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(s));
  reads_instead(plan, s, gone.to, gone.from);
}

// The same step once more, on what it gave.
void do_twice(SpmdProgram& plan, std::size_t s) {
  Step again = plan.steps[s];
  again.from = again.to;
  again.to = {static_cast<std::int32_t>(plan.values.size())};
  const SpmdValue value = plan.at(again.from);
  plan.values.push_back(value);
  reads_instead(plan, s + 1, again.from, again.to);
  plan.steps.insert(plan.steps.begin() + static_cast<std::ptrdiff_t>(s) + 1, again);
}

TEST_CASE("a sum that is finished twice is refused") {
  SpmdProgram plan = product();
  do_twice(plan, step_of(plan, StepKind::kAllReduce));
  CHECK_THAT(verify(plan), Contains("sums over axes that are not the last partial ones"));
}

TEST_CASE("a sum that is never finished is refused") {
  SpmdProgram plan = product();
  leave_out(plan, step_of(plan, StepKind::kAllReduce));
  CHECK_THAT(verify(plan), Contains("changes what is partial"));
}

TEST_CASE("a sum that is finished over the wrong axes is refused") {
  SpmdProgram plan = product();
  plan.steps[step_of(plan, StepKind::kAllReduce)].axes = {1};
  CHECK_THAT(verify(plan), Contains("sums over axes that are not the last partial ones"));
}

TEST_CASE("a finished sum that calls itself partial is refused") {
  SpmdProgram plan = product();  // as the reshape of a partial sum under `uneven` once did
  const Step& gather = plan.steps[step_of(plan, StepKind::kAllGather)];
  REQUIRE(plan.at(gather.from).layout->partial.empty());
  change_layout(plan, gather.to, [](ValueLayout& layout) { layout.partial = {0}; });
  CHECK_THAT(verify(plan), Contains("changes what is partial"));
}

TEST_CASE("a partial sum is read by nothing but what may pass it on") {
  SpmdProgram plan = plan_of(program_of(R"(
dim a = 4, b = 6
fn case(x: f32[a, b]) {
  return exp(sum(x, over = a))
}
)"),
                             layout_on({2}, {{"a", {0}}}));
  const std::size_t s = step_of(plan, StepKind::kAllReduce);
  leave_out(plan, s);
  CHECK_THAT(verify(plan), Contains("reads a sum that is still partial"));
}

TEST_CASE("a maximum is not joined by adding") {
  SpmdProgram plan = plan_of(program_of(R"(
dim a = 4, b = 6
fn case(x: f32[a, b]) {
  return max(x, over = a)
}
)"),
                             layout_on({2}, {{"a", {0}}}));
  Step& reduction = plan.steps[step_of(plan, StepKind::kAllReduce)];
  REQUIRE(reduction.combine == Combine::kMax);
  reduction.combine = Combine::kSum;
  CHECK_THAT(verify(plan), Contains("joins what is partial in another way"));
}

TEST_CASE("a move that leads elsewhere is refused") {
  const auto broken = [](StepKind kind, const auto& breaks) {
    SpmdProgram plan = product();
    const std::size_t s = step_of(plan, kind);
    breaks(plan, plan.steps[s]);
    return verify(plan);
  };
  CHECK_THAT(broken(StepKind::kAllGather, [](SpmdProgram&, Step& step) { step.axes = {0}; }),
             Contains("would not receive each part of its slice once"));
  CHECK_THAT(broken(StepKind::kAllGather,
                    [](SpmdProgram&, Step& step) { step.kind = StepKind::kAllReduce; }),
             Contains("sums over axes that are not the last partial ones"));
  CHECK_THAT(
      broken(StepKind::kAllGather, [](SpmdProgram&, Step& step) { step.kind = StepKind::kSlice; }),
      Contains("count"));
  CHECK_THAT(broken(StepKind::kAllGather,
                    [](SpmdProgram& plan, Step& step) {
                      change_layout(plan, step.from, [](ValueLayout& layout) {
                        layout.dims.back() = {1, 1};
                      });
                    }),
             Contains("uses an axis twice"));
  CHECK_THAT(broken(StepKind::kAllGather, [](SpmdProgram&, Step& step) { step.received += 1; }),
             Contains("does not count what it moves"));
}

TEST_CASE("a kernel whose operands do not lie as its loops say is refused") {
  SpmdProgram plan = product();
  LocalCall& call = plan.steps[step_of(plan, StepKind::kKernel)].calls.front();
  SECTION("no loop is split") {
    SplitCall split = call.split;
    for (Axes& axes : split.loops) {
      axes.clear();
    }
    call.split = std::move(split);
    CHECK_THAT(verify(plan), Contains("reads an operand that its loops do not fit"));
  }
  SECTION("it leaves another sum partial") {
    change_layout(plan, call.result, [](ValueLayout& layout) { layout.partial.clear(); });
    CHECK_THAT(verify(plan), Contains("leaves a result that its loops do not make"));
  }
  SECTION("it reads another value") {
    std::swap(call.operands[0], call.operands[1]);
    CHECK_THAT(verify(plan), Contains("reads another value"));
  }
}

TEST_CASE("an update in another layout than the variable's is refused") {
  const Program program = program_of(R"(
dim a = 4
fn case(x: f32[a]) {
  state s : f32[a] = zeros
  s <- s + x
  return x * 2
}
)");
  REQUIRE(program.updates.size() == 1);
  SpmdProgram plan = plan_of(program, layout_on({2}, {}));
  plan.updates.front().value = plan.outputs.front();
  CHECK_THAT(verify(plan), Contains("the updates take another value"));
}

// ---- any plan, broken at random ----------------------------------------------------------------

// Breaks one step; false where that would leave a right plan.
using Breaks = std::function<bool(SpmdProgram&, std::size_t)>;

bool leaves_out(SpmdProgram& plan, std::size_t s) {
  const Step& step = plan.steps[s];
  if (step.kind == StepKind::kKernel || plan.at(step.from).layout == plan.at(step.to).layout) {
    return false;
  }
  leave_out(plan, s);
  return true;
}

bool does_twice(SpmdProgram& plan, std::size_t s) {
  const StepKind kind = plan.steps[s].kind;
  if (!is_collective(kind) || kind == StepKind::kPermute || kind == StepKind::kAllToAll ||
      kind == StepKind::kHaloExchange) {
    return false;  // these may hand over to each rank what it has, or move it once more
  }
  do_twice(plan, s);
  return true;
}

bool calls_itself_finished(SpmdProgram& plan, std::size_t s) {
  const Step& step = plan.steps[s];
  const SpmdId made = step.kind == StepKind::kKernel ? step.calls.back().result : step.to;
  if (!made.valid() || plan.at(made).layout->partial.empty()) {
    return false;
  }
  change_layout(plan, made, [](ValueLayout& layout) { layout.partial.pop_back(); });
  return true;
}

bool calls_itself_partial(SpmdProgram& plan, std::size_t s) {
  const Step& step = plan.steps[s];
  const SpmdId made = step.kind == StepKind::kKernel ? step.calls.back().result : step.to;
  if (!made.valid() || plan.at(made).layout->uses(0)) {
    return false;
  }
  change_layout(plan, made, [](ValueLayout& layout) { layout.partial.push_back(0); });
  return true;
}

bool goes_over_other_axes(SpmdProgram& plan, std::size_t s) {
  Step& step = plan.steps[s];
  if (!is_collective(step.kind)) {
    return false;
  }
  step.axes = step.axes == Axes{0} ? Axes{1} : Axes{0};
  return true;
}

bool lies_elsewhere(SpmdProgram& plan, std::size_t s) {
  const Step& step = plan.steps[s];
  const SpmdId made = step.kind == StepKind::kKernel ? step.calls.back().result : step.to;
  if (!made.valid()) {
    return false;
  }
  ValueLayout layout = plan.at(made).layout;
  const auto split =
      std::ranges::find_if(layout.dims, [](const Axes& axes) { return !axes.empty(); });
  if (split == layout.dims.end()) {
    return false;
  }
  split->pop_back();
  plan.at(made).layout = std::move(layout);
  return true;
}

bool splits_less(SpmdProgram& plan, std::size_t s) {
  for (LocalCall& call : plan.steps[s].calls) {
    SplitCall split = call.split;
    for (Axes& axes : split.loops) {
      if (!axes.empty()) {
        axes.pop_back();
        call.split = std::move(split);
        return true;
      }
    }
  }
  return false;
}

std::string text_of(const SpmdProgram& plan, const Step& step) {
  if (step.kind == StepKind::kKernel) {
    return std::string(step.calls.back().split->call.op->name);
  }
  const auto text = [&](SpmdId id) {
    return to_string(plan.at(id).type.shape, plan.at(id).layout, plan.mesh);
  };
  return std::string(to_string(step.kind)) + " over " + to_string(plan.mesh, step.axes) + " from " +
         text(step.from) + " to " + text(step.to);
}

TEST_CASE("random plans that are broken anywhere are refused") {
  const std::vector<std::pair<std::string, Breaks>> ways = {
      {"left out", leaves_out},
      {"done twice", does_twice},
      {"called finished", calls_itself_finished},
      {"called partial", calls_itself_partial},
      {"over other axes", goes_over_other_axes},
      {"elsewhere", lies_elsewhere},
      {"split less", splits_less}};
  std::vector<int> broken(ways.size(), 0);
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = random_program(seed);
    const Layout layout = random_layout({&program, 1}, mesh_of({2, 2}), random);
    DiagSink diags;
    const std::optional<SpmdProgram> plan = lower(program, layout, op_table(), diags);
    for (std::size_t s = 0; plan && s < plan->steps.size(); ++s) {
      for (std::size_t w = 0; w < ways.size(); ++w) {
        SpmdProgram wrong = *plan;
        if (ways[w].second(wrong, s)) {
          ++broken[w];
          INFO("seed " << seed << ", step " << s << " " << ways[w].first << ": "
                       << text_of(*plan, plan->steps[s]));
          CHECK_FALSE(verify(wrong).empty());
        }
      }
    }
  }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    INFO(ways[w].first);
    CHECK(broken[w] > 20);
  }
}

}  // namespace
}  // namespace mtf::tests
