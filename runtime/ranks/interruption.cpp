// A signal handler may do next to nothing: it leaves the number of its signal, and `errno` as it
// is.

#include "runtime/ranks/interruption.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <unistd.h>
#include <utility>

#include "ir/layout/line.h"
#include "ir/support/diag.h"
#include "ir/support/stop.h"
#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr double kAsked = 0.2;     // seconds between two questions
constexpr double kStepWork = 1e5;  // what a step takes besides its work
constexpr double kMostGrowth = 4;  // of the work between two questions

constexpr int kSignalled = 128;

volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t a_session = 0;   // would end, too
volatile std::sig_atomic_t a_terminal = 0;  // is standard error
volatile std::sig_atomic_t others_run = 0;
volatile std::sig_atomic_t others_end = 0;

void note(int signal) {
  if (noted != 0 && signal == SIGINT && others_run != 0) {
    others_end = 1;
    return;
  }
  if (noted != 0 && signal == SIGUSR1) {
    return;
  }
  if (noted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  noted = signal;
  say_what_follows(signal);
}

// The largest of each number on any rank.
using Numbers = std::array<double, 4>;
Numbers largest(Communicator& communicator, const Numbers& mine) {
  const Group& all = communicator.group(all_in_line(communicator.ranks()), {0});
  const std::array<const void*, 1> in = {mine.data()};
  Numbers most = mine;
  const std::array<void*, 1> out = {most.data()};
  const auto count = static_cast<std::int64_t>(most.size());
  communicator.all_reduce(all, {.combine = Combine::kMax, .dtype = DType::kF64}, count, in, out);
  return most;
}

SourceSpan place_of(const SpmdProgram& program, std::size_t step) {
  const Step& here = program.steps[step];
  const ValueId made = here.calls.empty() ? here.need.user : here.calls.front().origin;
  return made.valid() ? program.source.at(made).span : SourceSpan();
}

// Of a step, or of the condition of the loop that it is in.
SourceSpan place_in(const SpmdProgram& program, std::size_t step) {
  for (const LoopSteps& loop : loops_of(program)) {
    if (loop.begin < step && step < loop.end) {
      step = loop.begin;
    }
  }
  return place_of(program, step);
}

double seconds_between(Interruption::Clock::time_point a, Interruption::Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

Failure time_is_over(SourceSpan at) {
  return {{.kind = DiagKind::kOverflow, .span = at, .text = std::string(kTimeIsOver), .notes = {}}};
}

}  // namespace

void prepare_to_say_what_follows() {
  a_terminal = isatty(STDERR_FILENO) == 1 ? 1 : 0;
}

void say_what_follows(int signal) {
  if (signal == SIGINT && a_terminal != 0) {
    constexpr std::string_view kRun = "\nmtf: stops after this step; Ctrl-C again: at once\n";
    constexpr std::string_view kSession =
        "\nmtf: stops after this step; Ctrl-C again ends the session at once\n";
    const std::string_view text = a_session != 0 && others_run == 0 ? kSession : kRun;
    const int before = errno;  // of what the signal interrupts
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    errno = before;
  }
}

void note_interruptions(bool in_session) {
  a_session = in_session ? 1 : 0;
  prepare_to_say_what_follows();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
      action.sa_handler = note;
      action.sa_flags = SA_RESTART;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, nullptr);
    }
  }
}

void throw_if_interrupted() {
  if (noted != 0) {
    throw Interrupted{.status = kSignalled + (noted == SIGUSR1 ? SIGINT : noted)};
  }
}

void forget_interruptions() {
  noted = 0;
}

OthersRun::OthersRun() {
  others_end = others_run == 0 ? 0 : others_end;
  others_run = others_run + 1;
}

OthersRun::~OthersRun() {
  others_run = others_run - 1;
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static)
bool OthersRun::are_to_end() const {
  return others_end != 0;
}

Interruption::Heard Interruption::of_any_rank(Communicator& communicator, Heard mine) {
  if (communicator.has_all_ranks()) {
    return mine;
  }
  const auto now = Clock::now();
  const auto [signal, late, in_run, longest] =
      largest(communicator, {static_cast<double>(mine.signal), mine.is_late ? 1.0 : 0.0,
                             mine.in_run, seconds_between(asked_, now)});
  until_ = std::min(since_ * kAsked / std::max(longest, 1e-9), since_ * kMostGrowth);
  since_ = 0;
  in_run_ = 0;
  asked_ = now;
  return {.signal = static_cast<int>(signal), .is_late = late > 0, .in_run = in_run};
}

void Interruption::end_with(int status, bool now) {
  waiting_ = now ? 0 : status;
  if (now) {
    throw Interrupted{.status = status};
  }
}

bool Interruption::stop(Communicator& communicator, bool saves_soon, Heard mine) {
  if (waiting_ != 0 && saves_soon) {
    return false;
  }
  const bool asks = waiting_ == 0 || mine.in_run < kEver;
  const Heard heard = asks ? of_any_rank(communicator, mine) : mine;
  if (heard.is_late) {
    return true;
  }
  if (heard.signal != 0 || waiting_ != 0) {
    const int signal = heard.signal == SIGUSR1 ? SIGINT : heard.signal;
    end_with(waiting_ != 0 ? waiting_ : kSignalled + signal, !saves_soon && heard.in_run >= kAsked);
  }
  return false;
}

void Interruption::between_steps(Communicator& communicator, bool saves_soon) {
  since_ += kStepWork;
  if (waiting_ != 0 || communicator.has_all_ranks() || since_ >= until_) {
    stop(communicator, saves_soon, {.signal = noted});
  }
}

void Interruption::before_statement(Communicator& communicator) {
  between_steps(communicator, /*saves_soon=*/false);
}

void Interruption::before_run(Communicator& communicator, bool saves_soon) {
  in_run_ = 0;
  begun_ = Clock::now();
  between_steps(communicator, saves_soon);
}

bool Interruption::asks_in_run(const Communicator& communicator) const {
  if (!communicator.has_all_ranks()) {
    return in_run_ >= until_;
  }
  return deadline_ || (noted != 0 && seconds_between(begun_, Clock::now()) >= kAsked);
}

void Interruption::before_step(Communicator& communicator, const SpmdProgram& program,
                               std::size_t step, double work, bool saves_soon) {
  last_step_ = place_of(program, step);
  since_ += work + kStepWork;
  in_run_ += work + kStepWork;
  if (!asks_in_run(communicator)) {
    return;
  }
  const auto now = Clock::now();
  const double in_run = seconds_between(begun_, now);
  const bool is_noted_anyway = communicator.has_all_ranks() && in_run < kAsked;
  if (stop(communicator, saves_soon,
           {.signal = is_noted_anyway ? 0 : noted,
            .is_late = deadline_ && now > *deadline_,
            .in_run = in_run})) {
    throw time_is_over(place_in(program, step));
  }
}

}  // namespace mtf
