// Messages are counted as they are sent, and a run whose messages are not those of its plan is told
// apart.

#include "runtime/execute/count.h"

#include <memory>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/reshard/reshard.h"
#include "runtime/execute/executor.h"
#include "tests/unit/runtime/rank_programs.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

constexpr std::int64_t kRanks = 4;
constexpr std::int64_t kCount = 8;  // floats that each rank hands over

struct Ranks {
  std::unique_ptr<Communicator> communicator = simulated_communicator(kRanks);
  const Group& group = communicator->group(mesh_of({kRanks}), {0});
  PerRank<float> in = numbers_of<float>(communicator->local_ranks(), kCount);
  PerRank<float> out = PerRank<float>(kRanks, std::vector<float>(kCount* kRanks));

  void is_each(const Traffic& wanted) const {
    for (const Traffic& one : communicator->traffic()) {
      CHECK(one == wanted);
    }
  }
};

TEST_CASE("each message between simulated ranks is counted, and what stays on a rank is none") {
  constexpr std::int64_t kBytes = 4 * kCount;
  SECTION("all-gather: all that the others have") {
    Ranks r;
    r.communicator->all_gather(r.group, kBytes, ins(r.in), outs(r.out));
    r.is_each({.handed = kBytes, .sent = 3 * kBytes, .received = 3 * kBytes});
  }
  SECTION("all-to-all: a quarter from each of the others") {
    Ranks r;
    r.communicator->all_to_all(r.group, kBytes / 4, ins(r.in), outs(r.out));
    r.is_each({.handed = kBytes, .sent = kBytes / 4 * 3, .received = kBytes / 4 * 3});
  }
  SECTION("reduce-scatter: the others' terms of a quarter of the sums") {
    Ranks r;
    r.communicator->reduce_scatter(r.group, {}, kCount / 4, ins(r.in), outs(r.out));
    r.is_each({.handed = kBytes, .sent = kBytes / 4 * 3, .received = kBytes / 4 * 3});
  }
  SECTION("all-reduce: terms of a quarter, and the sums of the other three") {
    Ranks r;
    r.communicator->all_reduce(r.group, {}, kCount, ins(r.in), outs(r.out));
    r.is_each({.handed = kBytes, .sent = kBytes / 4 * 6, .received = kBytes / 4 * 6});
  }
  SECTION("permute: a slice, but for ranks that keep theirs") {
    Ranks r;
    const std::vector<std::vector<std::int64_t>> sources(kRanks, {0, 2, 1, 3});
    r.communicator->permute(r.group, kBytes, sources, ins(r.in), outs(r.out));
    CHECK(r.communicator->traffic()[0] == Traffic{.handed = kBytes});
    CHECK(r.communicator->traffic()[1] ==
          Traffic{.handed = kBytes, .sent = kBytes, .received = kBytes});
  }
  SECTION("broadcast and reduce: one rank sends or receives for all") {
    Ranks r;
    const std::vector<std::int64_t> holders(kRanks, 2);
    r.communicator->broadcast(r.group, kBytes, holders, ins(r.in), outs(r.out));
    CHECK(r.communicator->traffic()[2] == Traffic{.handed = kBytes, .sent = 3 * kBytes});
    CHECK(r.communicator->traffic()[3] == Traffic{.handed = kBytes, .received = kBytes});
    r.communicator->reduce(r.group, {}, kCount, holders, ins(r.in), outs(r.out));
    CHECK(r.communicator->traffic()[2].received == 3 * kBytes);
    CHECK(r.communicator->traffic()[3].sent == kBytes);
  }
}

struct Run {
  SpmdProgram program;
  std::vector<Counted> counted;
};

// The summing program, with a plan that says what its steps move.
Run run_planned() {
  const Mesh mesh = mesh_of({4, 2});
  Run run{.program = summing_program(mesh), .counted = {}};
  for (Step& step : run.program.steps) {
    if (is_collective(step.kind)) {
      measure(run.program, step);
      CollectiveTotal& total =
          run.program.totals.collectives[collective_slot(run.program.totals, step.kind, step.axes)];
      total.calls += 1;
      total.messages += 1;
    }
  }
  const auto communicator = simulated_communicator(mesh.ranks());
  Executor executor(*communicator, {});
  const Executable executable = executor.prepare(run.program);
  std::vector<RankTensor> inputs;
  for (const SpmdId id : run.program.inputs) {
    const SpmdValue& value = run.program.at(id);
    inputs.push_back(make_tensor(executor.pool(), *communicator, mesh, value.type, value.layout));
  }
  std::vector<const RankTensor*> given;
  for (RankTensor& tensor : inputs) {
    given.push_back(&tensor);
  }
  std::vector<RankTensor*> updated;
  for (const SpmdUpdate& update : run.program.updates) {
    updated.push_back(&inputs[update.input]);
  }
  DiagSink diags;
  REQUIRE(executor.run(executable, given, updated, diags));
  run.counted.assign(executor.counted().begin(), executor.counted().end());
  run.program.totals.flops = run.counted.front().totals.flops;
  run.program.totals.peak_bytes = run.counted.front().totals.peak_bytes;
  return run;
}

TEST_CASE("a message more or less than the plan's is noticed, on whichever rank") {
  const Run run = run_planned();
  for (const Counted& one : run.counted) {
    CHECK(difference_from_plan(run.program, one) == "");
    for (std::size_t i = 0; i < run.program.steps.size(); ++i) {
      const Step& step = run.program.steps[i];
      if (!is_collective(step.kind)) {
        continue;
      }
      Counted none = one;  // as if nobody had sent anything
      none.steps[i] = {};
      CHECK(difference_from_plan(run.program, none).starts_with(to_string(step.kind)));
      Counted more = one;  // as if everything had been sent to all
      more.steps[i].sent += 4 * step.bytes;
      more.steps[i].received += 4 * step.bytes;
      CHECK_FALSE(difference_from_plan(run.program, more).empty());
      Counted unlike = one;  // a gather of which half is lost
      unlike.steps[i].received /= 2;
      CHECK_FALSE(difference_from_plan(run.program, unlike).empty());
    }
  }
}

}  // namespace
}  // namespace mtf::test
