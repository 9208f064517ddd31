// Ranks tell each other numbers only: which steps they belong to, all of them know.

#include "frontend/report/run/profile.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "lowering/price/price.h"

namespace mtf {
namespace {

// ---- what one rank tells ----

void put(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put(std::string& bytes, const Stopwatch& watch) {
  put(bytes, watch.calls);
  put(bytes, watch.nanoseconds);
  put(bytes, median_length(watch.sampled));
}

std::string told_by(const Timeline& timeline, std::size_t rank) {
  std::string bytes;
  for (const TimedUnit& unit : timeline.units()) {
    put(bytes, unit.whole);
    for (std::size_t s = 0; s < unit.steps[rank].size(); ++s) {
      const Stopwatch& watch = unit.steps[rank][s];
      put(bytes, watch);
      put(bytes, watch.hidden);
      const bool many = s < unit.program.steps.size() && is_collective(unit.program.steps[s].kind);
      put(bytes, many ? static_cast<std::int64_t>(watch.sampled.size()) : 0);
      for (std::size_t i = 0; many && i < watch.sampled.size(); ++i) {
        put(bytes, watch.sampled[i].begin);
        put(bytes, watch.sampled[i].end);
      }
    }
  }
  put(bytes, timeline.host(HostWork::kPlan));
  put(bytes, timeline.host(HostWork::kGather));
  put(bytes, timeline.ahead());
  put(bytes, timeline.awaited());
  put(bytes, timeline.whole().length());
  return bytes;
}

// ---- what the first rank makes of it ----

class Told {
 public:
  explicit Told(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }

 private:
  std::string_view bytes_;
};

struct RankWatch {
  std::int64_t calls = 0;
  double seconds = 0;
  double median = 0;
  double hidden = 0;
};

class Joiner {
 public:
  Joiner(const Timeline& timeline, const std::vector<std::string>& all, std::size_t local_ranks)
      : timeline_(timeline), told_(all.begin(), all.end()), local_ranks_(local_ranks) {}

  UnitProfile unit(const TimedUnit& unit) {
    UnitProfile result{.unit = &unit};
    const std::vector<RankWatch> whole = watches(/*shared=*/true);
    result.calls = whole.front().calls;
    result.seconds = over_ranks(whole);
    result.median = median(whole);
    const std::size_t steps = unit.program.steps.size();
    steps_.assign(steps + 1, std::vector<RankWatch>(told_.size()));
    samples_.assign(steps + 1, std::vector<std::vector<TimeSpan>>(told_.size()));
    for (std::size_t rank = 0; rank < told_.size(); ++rank) {
      read_steps(unit, rank);
    }
    for (std::size_t s = 0; s < steps; ++s) {
      result.steps.push_back(step(unit.program, s));
    }
    result.agreeing = watched(steps);
    return result;
  }

  PerRank host() { return over_ranks(watches(/*shared=*/true)); }

  PerRank whole() {
    std::vector<double> seconds;
    for (Told& told : told_) {
      seconds.push_back(static_cast<double>(told.number()) * 1e-9 /
                        static_cast<double>(local_ranks_));
    }
    return {.seconds = std::move(seconds)};
  }

 private:
  // `shared`: between the local ranks of a process, each of which tells it whole.
  RankWatch watch(Told& told, bool shared) const {
    const double part = shared ? 1.0 / static_cast<double>(local_ranks_) : 1.0;
    RankWatch watch{.calls = told.number()};
    watch.seconds = static_cast<double>(told.number()) * 1e-9 * part;
    watch.median = static_cast<double>(told.number()) * 1e-9 * part;
    return watch;
  }

  std::vector<RankWatch> watches(bool shared) {
    std::vector<RankWatch> result;
    for (Told& told : told_) {
      result.push_back(watch(told, shared));
    }
    return result;
  }

  static PerRank over_ranks(const std::vector<RankWatch>& watches) {
    PerRank result;
    std::ranges::transform(watches, std::back_inserter(result.seconds), &RankWatch::seconds);
    return result;
  }
  static std::optional<PerRank> hidden(const std::vector<RankWatch>& watches) {
    PerRank result;
    std::ranges::transform(watches, std::back_inserter(result.seconds), &RankWatch::hidden);
    return result.most() > 0 ? std::optional(result) : std::nullopt;
  }

  static double median(const std::vector<RankWatch>& watches) {
    double sum = 0;
    for (const RankWatch& watch : watches) {
      sum += watch.median;
    }
    return sum / static_cast<double>(watches.size());
  }

  void read_steps(const TimedUnit& unit, std::size_t rank) {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const bool alone =
          s < unit.program.steps.size() && unit.program.steps[s].kind == StepKind::kKernel;
      steps_[s][rank] = watch(told_[rank], /*shared=*/!alone);
      steps_[s][rank].hidden = static_cast<double>(told_[rank].number()) * 1e-9;
      for (std::int64_t left = told_[rank].number(); left > 0; --left) {
        const std::int64_t begin = timeline_.on_first_clock(rank, told_[rank].number());
        const std::int64_t end = timeline_.on_first_clock(rank, told_[rank].number());
        samples_[s][rank].push_back({.begin = begin, .end = end});
      }
    }
  }

  [[nodiscard]] StepProfile watched(std::size_t s) const {
    return {.calls = steps_[s].front().calls,
            .seconds = over_ranks(steps_[s]),
            .median = median(steps_[s])};
  }

  [[nodiscard]] StepProfile step(const SpmdProgram& program, std::size_t s) const {
    StepProfile result = watched(s);
    // Who sends to whom in a permute is another question than who came last.
    const StepKind kind = program.steps[s].kind;
    const bool meets = is_collective(kind) && !program.steps[s].with_next;
    if (local_ranks_ == 1) {
      result.hidden = hidden(steps_[s]);
    }
    // Of what was begun before, what is left may be anything but waiting for ranks to come.
    if (meets && kind != StepKind::kPermute && local_ranks_ == 1 && !result.hidden) {
      result.waited = waited(program, s);
    }
    return result;
  }

  [[nodiscard]] PerRank waited(const SpmdProgram& program, std::size_t s) const {
    std::vector<double> seconds;
    for (std::size_t rank = 0; rank < told_.size(); ++rank) {
      const std::vector<std::int64_t> group =
          program.mesh.group_of(static_cast<std::int64_t>(rank), program.steps[s].axes);
      std::int64_t waited = 0;
      std::int64_t sampled = 0;
      for (std::size_t i = 0; i < samples_[s][rank].size(); ++i) {
        const TimeSpan& mine = samples_[s][rank][i];
        std::int64_t last = mine.begin;
        for (const std::int64_t member : group) {
          last = std::max(last, samples_[s][static_cast<std::size_t>(member)][i].begin);
        }
        waited += std::min(last, mine.end) - mine.begin;
        sampled += mine.length();
      }
      const double part =
          sampled == 0 ? 0 : static_cast<double>(waited) / static_cast<double>(sampled);
      seconds.push_back(part * steps_[s][rank].seconds);
    }
    return {.seconds = std::move(seconds)};
  }

  const Timeline& timeline_;
  std::vector<Told> told_;
  std::size_t local_ranks_;
  std::vector<std::vector<RankWatch>> steps_;                // of the unit at hand, per rank
  std::vector<std::vector<std::vector<TimeSpan>>> samples_;  // of its collectives, aligned
};

}  // namespace

double PerRank::least() const {
  return seconds.empty() ? 0 : *std::ranges::min_element(seconds);
}

double PerRank::mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(seconds.size(), 1));
}

double PerRank::most() const {
  return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
}

void PerRank::add(const PerRank& more) {
  seconds.resize(std::max(seconds.size(), more.seconds.size()));
  for (std::size_t rank = 0; rank < more.seconds.size(); ++rank) {
    seconds[rank] += more.seconds[rank];
  }
}

void PerRank::subtract(const PerRank& part) {
  for (std::size_t rank = 0; rank < part.seconds.size(); ++rank) {
    seconds[rank] -= part.seconds[rank];
  }
}

void PerRank::level() {
  std::ranges::fill(seconds, mean());
}

Profile profile_of(const Timeline& timeline, const Layout& layout, Communicator& communicator) {
  const std::size_t local_ranks = communicator.local_ranks().size();
  std::vector<std::string> local;
  for (std::size_t rank = 0; rank < local_ranks; ++rank) {
    local.push_back(told_by(timeline, rank));
  }
  const std::vector<std::string> all = communicator.share(local);
  Profile profile{.mesh = layout.mesh,
                  .layout = layout.name,
                  .ranks = communicator.ranks(),
                  .simulated = local_ranks > 1};
  if (!communicator.has_first_rank()) {
    return profile;
  }
  Joiner joiner(timeline, all, local_ranks);
  for (const TimedUnit& unit : timeline.units()) {
    profile.units.push_back(joiner.unit(unit));
  }
  profile.planning = joiner.host();
  profile.gathering = joiner.host();
  profile.ahead = joiner.host();
  profile.awaited = joiner.host();
  profile.ahead_calls = timeline.ahead().calls;
  profile.whole = joiner.whole();
  return profile;
}

void add_predictions(Profile& profile, const Hardware& hardware) {
  for (UnitProfile& unit : profile.units) {
    const Prices prices = price(unit.unit->program, hardware);
    unit.predicted = prices.seconds();
    for (std::size_t s = 0; s < unit.steps.size(); ++s) {
      // All of a message is timed where it is sent.
      const bool goes_on = s > 0 && unit.unit->program.steps[s - 1].with_next;
      const double before = goes_on ? *std::exchange(unit.steps[s - 1].predicted, 0.0) : 0.0;
      unit.steps[s].predicted = before + prices.steps[s];
    }
    if (unit.unit->program.totals.loops > 0 && unit.calls > 0) {  // a call had several trips
      double all = 0;
      for (const StepProfile& step : unit.steps) {
        all += step.predicted.value_or(0) * static_cast<double>(step.calls);
      }
      unit.predicted = all / static_cast<double>(unit.calls);
    }
  }
}

}  // namespace mtf
