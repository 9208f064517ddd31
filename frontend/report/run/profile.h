// Where the time of a run went, over all ranks: `mtf run --profile`.
//
// Seconds are those of one rank. Ranks simulated in one process take turns: what they do together
// counts in equal parts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/report/run/timeline.h"
#include "ir/layout/hardware.h"

namespace mtf {

// Seconds, one number per rank.
struct PerRank {
  std::vector<double> seconds;

  [[nodiscard]] double least() const;
  [[nodiscard]] double mean() const;
  [[nodiscard]] double most() const;
  void add(const PerRank& more);
  void subtract(const PerRank& part);
  void level();  // all ranks take the mean
};

struct StepProfile {
  std::int64_t calls = 0;
  PerRank seconds;                  // of all calls
  double median = 0;                // of one call, mean over ranks
  std::optional<PerRank> waited;    // part of `seconds`: until the last rank of the group came
  std::optional<PerRank> hidden;    // beside `seconds`: on its way while other steps were done
  std::optional<double> predicted;  // seconds of one call
};

// An entry, or whatever else was lowered and run.
struct UnitProfile {
  const TimedUnit* unit = nullptr;
  std::int64_t calls = 0;
  PerRank seconds;
  double median = 0;
  std::vector<StepProfile> steps;
  StepProfile agreeing;             // that all is well, after kernels that may fail
  std::optional<double> predicted;  // seconds of one call: the sum of the steps
};

struct Profile {
  Mesh mesh;
  std::string layout;
  std::int64_t ranks = 1;
  bool simulated = false;  // all ranks in one process
  std::vector<UnitProfile> units;
  PerRank planning;
  PerRank gathering;  // of tensors that are shown
  std::int64_t ahead_calls = 0;
  PerRank ahead;    // of runs that were done beside others, on a thread of their own
  PerRank awaited;  // until they were done; part of the seconds of their units
  PerRank whole;
};

// Collective, after `stop`. The profile is complete on the first rank, and refers to the timeline.
[[nodiscard]] Profile profile_of(const Timeline& timeline, const Layout& layout,
                                 Communicator& communicator);

void add_predictions(Profile& profile, const Hardware& hardware);

// ---- sums over steps ----

// Steps of one family, or collectives of one kind over one set of axes.
struct StepGroup {
  std::string name;
  std::int64_t calls = 0;
  double flops = 0;  // of one rank, as are the bytes
  double bytes = 0;  // received by collectives, touched by kernels
  PerRank seconds;
  std::optional<PerRank> waited;
  std::optional<PerRank> hidden;
  std::optional<double> predicted;  // of all calls
};

[[nodiscard]] std::vector<StepGroup> kernels_by_family(const Profile& profile);
[[nodiscard]] std::vector<StepGroup> collectives_by_kind(const Profile& profile);

}  // namespace mtf
