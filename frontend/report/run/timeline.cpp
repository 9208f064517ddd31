// Samples are kept of every run at first; whenever there are too many, every second one goes, and
// from then on only half as many are taken.

#include "frontend/report/run/timeline.h"

#include <algorithm>
#include <utility>

namespace mtf {
namespace {

void keep_every_second(Stopwatch& watch) {
  std::vector<TimeSpan> kept;
  for (std::size_t i = 0; i < watch.sampled.size(); i += 2) {
    kept.push_back(watch.sampled[i]);
  }
  watch.sampled = std::move(kept);
}

bool counts_steps(const TimedUnit& unit) {
  return unit.kind == RunKind::kEntry || unit.kind == RunKind::kStatement;
}

}  // namespace

void Stopwatch::add(TimeSpan time, bool sample) {
  constexpr std::size_t kMost = 4096;  // a run with loops does a step as often as it likes
  ++calls;
  nanoseconds += time.length();
  is_sampled = sample && sampled.size() < kMost;
  if (is_sampled) {
    sampled.push_back(time);
  }
}

void Stopwatch::resume(TimeSpan time) {
  nanoseconds += time.length();
  if (is_sampled) {
    sampled.back().end += time.length();
  }
}

void Timeline::start(Communicator& communicator) {
  constexpr std::int64_t kSamples = 4096;  // over all ranks, which the first one puts together
  constexpr std::int64_t kFewest = 16;
  constexpr std::int64_t kMost = 1024;
  communicator_ = &communicator;
  samples_ = static_cast<std::size_t>(std::clamp(kSamples / communicator.ranks(), kFewest, kMost));
  // Every rank drops the same ones.
  most_events_ = most_events_ / communicator.ranks() *
                 static_cast<std::int64_t>(communicator.local_ranks().size());
  before_ = read_clocks(communicator);
  whole_.begin = nanoseconds_now();
}

void Timeline::stop() {
  if (running_ != nullptr) {
    end_run();
  }
  whole_.end = nanoseconds_now();
  after_ = read_clocks(*communicator_);
}

std::size_t Timeline::add(RunKind kind, std::string name, const SpmdProgram& program) {
  TimedUnit& unit = units_.emplace_back(
      TimedUnit{.kind = kind, .name = std::move(name), .program = program, .whole = {}});
  unit.steps.assign(communicator_->local_ranks().size(),
                    std::vector<Stopwatch>(program.steps.size() + 1));
  planned_ = true;
  return units_.size() - 1;
}

std::int64_t Timeline::most_runs() const {
  std::int64_t most = 0;
  for (const TimedUnit& unit : units_) {
    most = counts_steps(unit) ? std::max(most, unit.whole.calls) : most;
  }
  return most;
}

void Timeline::begin_run(std::size_t unit) {
  running_ = &units_[unit];
  running_number_ = static_cast<std::int64_t>(unit);
  if (running_->whole.sampled.size() == samples_) {
    running_->stride *= 2;
    keep_every_second(running_->whole);
    for (std::vector<Stopwatch>& rank : running_->steps) {
      std::ranges::for_each(rank, keep_every_second);
    }
  }
  sampling_ = running_->whole.calls % running_->stride == 0;
  if (counts_steps(*running_)) {
    const std::int64_t step = running_->whole.calls;
    is_kept_ = steps_.begin <= step && step < steps_.end;
  }
  run_began_ = nanoseconds_now();
}

void Timeline::step(const StepTime& time) {
  Stopwatch& stopwatch = running_->steps[time.rank][time.step];
  time.resumes ? stopwatch.resume(time.time) : stopwatch.add(time.time, sampling_);
  stopwatch.hidden += time.hidden;
  const bool agreed = time.step == running_->program.steps.size();
  keep({.what = agreed ? TimedEvent::What::kAgree : TimedEvent::What::kStep,
        .rank = static_cast<std::int64_t>(time.rank),
        .unit = running_number_,
        .step = static_cast<std::int64_t>(time.step),
        .call = running_->whole.calls + 1,
        .time = time.time,
        .starts = time.is_async && !time.resumes ? 1 : 0,
        .finishes = time.is_async && time.resumes ? 1 : 0});
}

void Timeline::end_run() {
  const TimeSpan time{.begin = run_began_, .end = nanoseconds_now()};
  running_->whole.add(time, sampling_);
  // It encloses steps that are kept.
  const bool is_begun = !events_.empty() && events_.back().time.end >= run_began_;
  keep_for_all({.what = TimedEvent::What::kRun,
                .unit = running_number_,
                .call = running_->whole.calls,
                .time = time},
               is_begun);
  running_ = nullptr;
}

void Timeline::host(HostWork work, TimeSpan time) {
  const bool plan = work == HostWork::kPlan;
  (plan ? planning_ : gathering_).add(time, false);
  const bool planned = plan && std::exchange(planned_, false);
  keep_for_all({.what = plan ? TimedEvent::What::kPlan : TimedEvent::What::kGather,
                .unit = planned ? static_cast<std::int64_t>(units_.size()) - 1 : TimedEvent::kNone,
                .time = time},
               /*always=*/false);
}

void Timeline::ahead(TimeSpan work, TimeSpan waited) {
  ahead_.add(work, false);
  awaited_.add(waited, false);
}

void Timeline::keep(const TimedEvent& event, bool always) {
  if (most_events_ == 0 || !is_kept_) {
    return;
  }
  if (always || static_cast<std::int64_t>(events_.size()) < most_events_) {
    events_.push_back(event);
  } else {
    ++dropped_;
  }
}

void Timeline::keep_for_all(TimedEvent event, bool always) {
  const auto ranks = static_cast<std::int64_t>(communicator_->local_ranks().size());
  for (event.rank = 0; event.rank < ranks; ++event.rank) {
    keep(event, always);
  }
}

std::int64_t Timeline::on_first_clock(std::size_t rank, std::int64_t own) const {
  return mtf::on_first_clock(before_[rank], after_[rank], own);
}

std::int64_t median_length(const std::vector<TimeSpan>& sampled) {
  if (sampled.empty()) {
    return 0;
  }
  std::vector<std::int64_t> lengths;
  std::ranges::transform(sampled, std::back_inserter(lengths), &TimeSpan::length);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

}  // namespace mtf
