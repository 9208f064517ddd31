// The timeline of a process.

#include "frontend/driver/timeline.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

SpmdProgram one_step() {
  SpmdProgram program;
  program.steps.emplace_back();
  return program;
}

}  // namespace

TEST_CASE("every run is counted, and samples are spread over all of them") {
  const std::unique_ptr<Communicator> ranks = simulated_communicator(1);
  Timeline timeline;
  timeline.start(*ranks);
  const std::size_t unit = timeline.add(RunKind::kEntry, "step", one_step());
  constexpr std::int64_t kRuns = 5000;
  for (std::int64_t run = 0; run < kRuns; ++run) {
    timeline.begin_run(unit);
    timeline.step({.step = 0, .rank = 0, .time = {.begin = run, .end = run + 2}});
    timeline.end_run();
  }
  timeline.stop();
  const Stopwatch& watch = timeline.units().front().steps.front().front();
  CHECK(watch.calls == kRuns);
  CHECK(watch.nanoseconds == 2 * kRuns);
  CHECK(watch.sampled.size() == 625);
  for (std::size_t i = 0; i < watch.sampled.size(); ++i) {
    REQUIRE(watch.sampled[i].begin == static_cast<std::int64_t>(8 * i));
  }
  CHECK(timeline.units().front().whole.calls == kRuns);
}

TEST_CASE("the median is that of the lengths") {
  CHECK(median_length({}) == 0);
  CHECK(median_length(
            {{.begin = 10, .end = 11}, {.begin = 5, .end = 100}, {.begin = 0, .end = 3}}) == 3);
}

}  // namespace mtf
