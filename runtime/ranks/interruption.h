// Ctrl-C and its like: noted when they come, granted between two runs of programs, by all ranks at
// the same place, so that none waits for another that has gone.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "ir/support/source.h"
#include "lowering/spmd.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// From now on the first SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGUSR1 of this process is only noted;
// a second ends it, unless it is SIGUSR1. What the process was started to ignore stays ignored.
// (SIGUSR1: mpirun hands it on to its ranks, which may have it already where a batch system sends
// it to all processes, and leaves them all the time they need. Itself interrupted, it gives them a
// second.) `in_session`: it ends more than the step, and a terminal is told so.
void note_interruptions(bool in_session = false);

// Before a handler is there that calls `say_what_follows`: whether anybody sees it.
void prepare_to_say_what_follows();
// For a signal handler: tells a terminal what Ctrl-C does now, and once more.
void say_what_follows(int signal);

// Thrown by all ranks together.
struct Interrupted {
  int status = 0;          // to end with, as a shell gives it: 130 after Ctrl-C
  std::string saved = {};  // a file that has the program's state since; then the status is 0
};

// Between two statements of one process: throws `Interrupted` if a signal was noted.
void throw_if_interrupted();
// What was noted has been dealt with: the next one is a first one again.
void forget_interruptions();

// While one of these is there, a second SIGINT is noted, too: others run, who can be ended instead.
class OthersRun {
 public:
  OthersRun();
  ~OthersRun();
  OthersRun(const OthersRun&) = delete;
  OthersRun& operator=(const OthersRun&) = delete;
  OthersRun(OthersRun&&) = delete;
  OthersRun& operator=(OthersRun&&) = delete;

  [[nodiscard]] bool are_to_end() const;
};

class Interruption {
 public:
  using Clock = std::chrono::steady_clock;

  // `deadline`: when loops end that go on inside of a run; none: never.
  explicit Interruption(std::optional<Clock::time_point> deadline = std::nullopt)
      : deadline_(deadline) {}

  // Collective. Throws `Interrupted` if a rank has noted a signal. Ranks ask each other some five
  // times a second, as the work of their steps tells them. If the program is about to save, which
  // all ranks know, it goes on until it has.
  void before_run(Communicator& communicator, bool saves_soon = false);
  // The same before a statement of the host, at which all ranks are.
  void before_statement(Communicator& communicator);
  // The same inside of a run, before a step of so much work, which is on all ranks the same: flops,
  // or what takes as long. A run ends there only if it has gone on for long; one that has not, ends
  // what comes after it. Throws a `Failure` if a rank is behind the deadline.
  void before_step(Communicator& communicator, const SpmdProgram& program, std::size_t step,
                   double work, bool saves_soon);
  // Whether it goes on for that alone.
  [[nodiscard]] bool is_waiting() const { return waiting_ != 0; }
  // The step that it was asked before last; without a file: none.
  [[nodiscard]] SourceSpan last_step() const { return last_step_; }

 private:
  // What a rank knows, or any of them.
  struct Heard {
    int signal = 0;
    bool is_late = false;   // behind the deadline
    double in_run = kEver;  // seconds, since the run in progress began
  };
  static constexpr double kEver = 1e9;  // between two runs it is time in any case

  [[nodiscard]] Heard of_any_rank(Communicator& communicator, Heard mine);
  void between_steps(Communicator& communicator, bool saves_soon);
  // Whether it is time to.
  [[nodiscard]] bool asks_in_run(const Communicator& communicator) const;
  // Throws `Interrupted`, or notes what to end with later.
  void end_with(int status, bool now);
  // Whether a rank is behind the deadline.
  bool stop(Communicator& communicator, bool saves_soon, Heard mine);

  std::optional<Clock::time_point> deadline_;
  int waiting_ = 0;    // the status to end with, if nothing is saved
  double since_ = 0;   // work, since ranks asked
  double in_run_ = 0;  // of it, what is of the run in progress
  double until_ = 0;   // they ask again
  Clock::time_point asked_ = Clock::now();
  Clock::time_point begun_ = Clock::now();  // the run in progress
  SourceSpan last_step_;
};

}  // namespace mtf
