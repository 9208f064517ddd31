#include "frontend/driver/calibrate/rank_clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "frontend/driver/calibrate/figure.h"

namespace mtf {
namespace {

constexpr int kRepeats = 5;
constexpr int kTaken = 1;                // the second fastest: others may be using the machine
constexpr double kRepeatSeconds = 4e-3;  // that one repeat should take
constexpr int kMostMeasurements = 6;
constexpr double kPatience = 15;  // seconds, after which no figure is measured more than twice
constexpr std::int64_t kMostRuns = 20'000;

Mesh line(std::int64_t ranks) {
  return {.name = "line", .axes = {{.name = "r", .size = ranks}}, .profile = "", .span = {}};
}

// Seconds, on all ranks of a machine from the same moment on.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double RankClock::from_first_to_last(double start, double end) {
  if (world_ == nullptr) {
    return end - start;
  }
  const Group& all = world_->group(line(world_->ranks()), {0});
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
  return from_first_to_last(start, now()) / static_cast<double>(runs);
}

double RankClock::seconds_of(const std::function<void()>& work) {
  const double first = std::min(once(work, 1), once(work, 1));
  const auto runs = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(kRepeatSeconds / std::max(first, 1e-9)), 1, kMostRuns);
  const auto measure = [&] {
    std::array<double, kRepeats> times{};
    for (double& time : times) {
      time = once(work, runs);
      spent_ += time * static_cast<double>(runs);
    }
    std::ranges::nth_element(times, times.begin() + kTaken);
    return times[kTaken];
  };
  const Figure figure = agreed_figure(measure, spent_ < kPatience ? kMostMeasurements : 2);
  trusts_ = trusts_ && figure.is_trusted;
  return figure.value;
}

bool RankClock::trusts_since() {
  return std::exchange(trusts_, true);
}

}  // namespace mtf
