#include "frontend/driver/calibrate/rank_clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "frontend/driver/calibrate/figure.h"
#include "frontend/driver/launch/cores.h"
#include "ir/layout/line.h"

namespace mtf {
namespace {

constexpr std::size_t kRepeats = 5;
constexpr std::size_t kSecondFastest = 1;  // others may be using the machine
constexpr double kShort = 4e-3;            // seconds
constexpr double kManyTurns = 20e-3;       // in which ranks that share a core take turns often
constexpr int kMostMeasurements = 6;
constexpr std::int64_t kMostRuns = 20'000;

// Seconds, on all ranks of a machine from the same moment on.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RankClock::RankClock(Communicator* world)
    : world_(world),
      repeat_seconds_(world != nullptr && world->ranks() > cores_of_this_process() ? kManyTurns
                                                                                   : kShort) {}

double RankClock::from_first_to_last(double start, double end) {
  if (world_ == nullptr) {
    return end - start;
  }
  const Group& all = world_->group(all_in_line(world_->ranks()), {0});
  const std::array<double, 2> own = {-start, end};
  std::array<double, 2> most = own;
  const std::array<const void*, 1> in = {own.data()};
  const std::array<void*, 1> out = {most.data()};
  world_->all_reduce(all, {.combine = Combine::kMax, .dtype = DType::kF64}, 2, in, out);
  return most[1] + most[0];
}

double RankClock::once(const std::function<void()>& work, std::int64_t runs) {
  if (world_ != nullptr) {
    world_->barrier();
  }
  const double start = now();
  for (std::int64_t i = 0; i < runs; ++i) {
    work();
  }
  const double seconds = from_first_to_last(start, now());
  spent_ += seconds;
  return seconds / static_cast<double>(runs);
}

double RankClock::seconds_of(const std::function<void()>& work) {
  const std::int64_t runs = runs_of(work);
  return agreed([&] { return once(work, runs); }, kSecondFastest);
}

double RankClock::seconds_beyond(const std::function<void()>& less,
                                 const std::function<void()>& more) {
  const std::int64_t runs = runs_of(more);
  const auto sample = [&] {
    const double whole = once(more, runs);
    return without(once(less, runs), whole);
  };
  return agreed(sample, kRepeats / 2);
}

std::int64_t RankClock::runs_of(const std::function<void()>& work) {
  const double first = std::min(once(work, 1), once(work, 1));
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(repeat_seconds_ / std::max(first, 1e-9)), 1, kMostRuns);
}

double RankClock::agreed(const std::function<double()>& sample, std::size_t taken) {
  const auto measure = [&] {
    std::array<double, kRepeats> times{};
    std::ranges::generate(times, sample);
    std::ranges::sort(times);
    return times[taken];
  };
  const Figure figure = agreed_figure(measure, spent_ < impatient_at_ ? kMostMeasurements : 2);
  trusts_ = trusts_ && figure.is_trusted;
  return figure.value;
}

bool RankClock::trusts_since() {
  return std::exchange(trusts_, true);
}

}  // namespace mtf
