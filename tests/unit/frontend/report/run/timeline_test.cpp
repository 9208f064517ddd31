// The timeline of a process.

#include "frontend/report/run/timeline.h"

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

TEST_CASE("a trace keeps the first events, and every run that it has steps of") {
  const std::unique_ptr<Communicator> ranks = simulated_communicator(1);
  Timeline timeline(/*events=*/4);
  timeline.start(*ranks);
  const std::size_t unit = timeline.add(RunKind::kEntry, "step", one_step());
  for (int run = 0; run < 3; ++run) {
    timeline.begin_run(unit);
    for (int step = 0; step < 3; ++step) {
      const std::int64_t now = nanoseconds_now();
      timeline.step({.step = 0, .rank = 0, .time = {.begin = now, .end = now}});
    }
    timeline.end_run();
  }
  timeline.stop();
  using What = TimedEvent::What;
  std::vector<What> kept;
  for (const TimedEvent& event : timeline.events()) {
    kept.push_back(event.what);
  }
  CHECK(kept == std::vector{What::kStep, What::kStep, What::kStep, What::kRun});
  CHECK(timeline.dropped() == 8);
}

TEST_CASE("a run that was broken off is one all the same") {
  const std::unique_ptr<Communicator> ranks = simulated_communicator(2);
  Timeline timeline(/*events=*/100);
  timeline.start(*ranks);
  timeline.begin_run(timeline.add(RunKind::kEntry, "step", one_step()));
  timeline.stop();
  CHECK(timeline.events().size() == 2);
  CHECK(timeline.units().front().whole.calls == 1);
}

TEST_CASE("the median is that of the lengths") {
  CHECK(median_length({}) == 0);
  CHECK(median_length(
            {{.begin = 10, .end = 11}, {.begin = 5, .end = 100}, {.begin = 0, .end = 3}}) == 3);
}

}  // namespace mtf
