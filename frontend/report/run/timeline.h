// What a process saw of its own time while a program ran: one clock per step and local rank.
//
// Every rank runs the same units in the same order, so the timelines of all ranks have the same
// places, and sample the same calls.

#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/step_time.h"
#include "runtime/ranks/clocks.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

enum class RunKind : std::uint8_t {
  kEntry,
  kStatement,   // at top level
  kInitialise,  // of a variable
  kMove,        // of a tensor, to the layout that a program has it in
};

// What ranks do between runs.
enum class HostWork : std::uint8_t { kPlan, kGather };

// How often and how long something was done on one local rank.
struct Stopwatch {
  std::int64_t calls = 0;
  std::int64_t nanoseconds = 0;
  std::int64_t hidden = 0;  // on its way meanwhile, in nanoseconds
  std::vector<TimeSpan> sampled;
  bool is_sampled = false;  // what was added last

  void add(TimeSpan time, bool sample);
  // Goes on with what was added last.
  void resume(TimeSpan time);
};

struct TimedUnit {
  RunKind kind{};
  std::string name;         // of the entry or variable
  SpmdProgram program;      // a copy: what initialises a variable is not kept
  std::int64_t stride = 1;  // so many runs for each that is sampled
  Stopwatch whole;          // of all local ranks together
  // Per local rank and step; one more for the ranks' agreement that all is well.
  std::vector<std::vector<Stopwatch>> steps;
};

// One bar of a trace.
struct TimedEvent {
  enum class What : std::uint8_t { kRun, kStep, kAgree, kPlan, kGather };
  static constexpr std::int64_t kNone = -1;

  What what{};
  std::int64_t rank = 0;      // among the local ranks
  std::int64_t unit = kNone;  // that is run, or was planned
  std::int64_t step = 0;
  std::int64_t call = 0;  // of the unit, from 1
  TimeSpan time;
  std::int64_t starts = 0;  // 1: an asynchronous all-reduce, which `finishes` later
  std::int64_t finishes = 0;
};

inline constexpr TimeSpan kAllSteps = {.begin = 0, .end = std::numeric_limits<std::int64_t>::max()};

class Timeline {
 public:
  // `events`: of all ranks together, so many are kept at most, the first ones; 0: none. `steps`: of
  // each entry and statement, the runs whose events are kept, from 0; and those of what ranks do
  // between them.
  explicit Timeline(std::int64_t events = 0, TimeSpan steps = kAllSteps)
      : most_events_(events), steps_(steps), is_kept_(steps.begin == 0) {}

  // Collective. Before the first run.
  void start(Communicator& communicator);
  [[nodiscard]] bool is_started() const { return communicator_ != nullptr; }
  // Collective. After the last one, which may have been broken off.
  void stop();

  std::size_t add(RunKind kind, std::string name, const SpmdProgram& program);
  void begin_run(std::size_t unit);
  void step(const StepTime& time);
  void end_run();
  void host(HostWork work, TimeSpan time);
  // A run was done beside others, and then waited for.
  void ahead(TimeSpan work, TimeSpan waited);

  [[nodiscard]] const std::deque<TimedUnit>& units() const { return units_; }
  [[nodiscard]] const Stopwatch& host(HostWork work) const {
    return work == HostWork::kPlan ? planning_ : gathering_;
  }
  [[nodiscard]] const Stopwatch& ahead() const { return ahead_; }
  [[nodiscard]] const Stopwatch& awaited() const { return awaited_; }  // of that
  [[nodiscard]] TimeSpan whole() const { return whole_; }
  [[nodiscard]] const std::vector<TimedEvent>& events() const { return events_; }
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }  // events
  [[nodiscard]] TimeSpan steps() const { return steps_; }
  [[nodiscard]] std::int64_t most_runs() const;  // of one entry or statement
  // The first rank alone knows: the time on its clock when that of another shows `own`.
  [[nodiscard]] std::int64_t on_first_clock(std::size_t rank, std::int64_t own) const;

 private:
  // `always`: over the limit as well.
  void keep(const TimedEvent& event, bool always = false);
  void keep_for_all(TimedEvent event, bool always);  // local ranks

  Communicator* communicator_ = nullptr;
  std::size_t samples_ = 0;  // of a step, at most
  std::deque<TimedUnit> units_;
  TimedUnit* running_ = nullptr;
  std::int64_t running_number_ = 0;
  std::int64_t run_began_ = 0;
  bool sampling_ = false;  // the run in progress
  bool planned_ = false;   // the last unit, since anything was said of planning
  Stopwatch planning_;
  Stopwatch gathering_;
  Stopwatch ahead_;
  Stopwatch awaited_;
  TimeSpan whole_;
  std::int64_t most_events_;
  TimeSpan steps_;
  bool is_kept_;  // what happens now
  std::vector<TimedEvent> events_;
  std::int64_t dropped_ = 0;
  std::vector<ClockReading> before_;
  std::vector<ClockReading> after_;
};

// The middle one of the lengths; 0 of none.
[[nodiscard]] std::int64_t median_length(const std::vector<TimeSpan>& sampled);

}  // namespace mtf
