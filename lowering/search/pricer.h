// What a candidate costs: its programs are planned as they would be run, and the plans are priced.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/layout/hardware.h"
#include "lowering/lower.h"
#include "lowering/plan_cache.h"
#include "lowering/search/layers/layers.h"
#include "lowering/search/space/space.h"
#include "lowering/spmd.h"

namespace mtf {

// Why a plan is not to be had, "" for none, and by what part of what is allowed it is beyond that.
struct Refusal {
  std::string why;
  double beyond = 0;
};

// Of one step of every entry together; the most memory that one of them takes. Per rank.
struct Priced {
  LayoutCandidate candidate;
  bool is_legal = false;
  std::string obstacle;  // of what is not: the first error, in one line
  // Of that, if there is a plan which is refused: how far beyond what is allowed.
  double beyond = std::numeric_limits<double>::infinity();
  double seconds = 0;
  double communication = 0;  // of them in collectives
  std::int64_t peak_bytes = 0;
  // Where a few layers say that peak: what the plan of the whole takes at least, by what each layer
  // has at rest, and what the few have computed besides.
  std::int64_t least_bytes = 0;
  std::int64_t received_bytes = 0;
  bool gathers = false;  // some plan has an all-gather, which may pass otherwise
  Axes axes = {};        // of the mesh, without those of one rank
};

struct PricerOptions {
  OpTable ops;
  bool exact = true;
  std::function<Hardware(const Mesh&)> hardware;
  // What an `expect` says. None where there is none.
  std::function<Refusal(std::size_t entry, const SpmdProgram&)> refuses;
};

class Pricer {
 public:
  // `programs`: the entries on a mesh, simplified.
  using Programs = std::function<std::span<const Program>(std::size_t mesh)>;

  Pricer(const SearchSpace& space, Programs programs, PricerOptions options);

  // Each candidate is priced once; where layers repeat each other, by plans of a few of them.
  const Priced& price(const LayoutCandidate& candidate);
  [[nodiscard]] bool knows(const LayoutCandidate& candidate) const {
    return known_.contains(candidate);
  }
  // By the plans of the whole programs, as they would be run. What a few layers say of the time is
  // that; of the peak memory it is near, mostly: all gradients that a norm is taken of are held at
  // once where they are few.
  const Priced& price_whole(const LayoutCandidate& candidate);
  // By the plan of the whole, where there is one.
  [[nodiscard]] const Priced& closest(const Priced& priced) const;
  // What a plan of the whole may say at best: that, where there is one.
  [[nodiscard]] Priced least_whole(const Priced& priced);
  // Every candidate so far.
  [[nodiscard]] const std::map<LayoutCandidate, Priced>& known() const { return known_; }
  // What the work so far is measured in: values that were lowered, and what was looked at for their
  // plans and without one, as values of the same time.
  [[nodiscard]] std::int64_t work() const { return lowered_ + work_of_looks(); }
  [[nodiscard]] std::int64_t work_of_looks() const { return looks_ / kLooksOfValue; }
  void add_looks(std::int64_t looks) { looks_ += looks; }
  // Of a plan, on average.
  [[nodiscard]] std::int64_t work_of_plan() const {
    return (lowered_ + planning_looks_ / kLooksOfValue) /
           std::max<std::int64_t>(1, std::ssize(known_));
  }
  [[nodiscard]] const Hardware& hardware(std::size_t mesh) const { return hardware_[mesh]; }
  [[nodiscard]] bool is_exact() const { return options_.exact; }
  // Those that a candidate is about.
  [[nodiscard]] std::span<const Program> programs(const LayoutCandidate& candidate);

 private:
  // Programs that are planned for a price, each with the number of times that it counts.
  struct Sample {
    const Program* program = nullptr;
    double weight = 1;
  };
  struct Samples {
    std::vector<LayerSamples> owned;
    std::vector<std::vector<Sample>> entries;
  };

  [[nodiscard]] const Samples& samples(const LayoutCandidate& candidate);
  [[nodiscard]] LowerOptions options(bool is_whole);
  // A plan of one of them, whose work is counted.
  [[nodiscard]] std::optional<SpmdProgram> planned(const Program& program, const Layout& layout,
                                                   const LowerOptions& options, DiagSink& diags);
  // What plans of the samples say of all, each as often as it counts: bytes.
  struct SampledPeak {
    double peak = 0;
    double at_rest = 0;
    double packed = 0;               // in buckets
    std::int64_t most_computed = 0;  // beside what is at rest, by one of the plans
  };
  // Where buckets matter, by plans without them and one bucket beside these.
  [[nodiscard]] double peak_of_all(const std::vector<Sample>& samples, const Layout& layout,
                                   const SampledPeak& sampled);
  [[nodiscard]] Priced priced(const LayoutCandidate& candidate,
                              std::span<const std::vector<Sample>> entries);
  // "" or why there is no plan.
  [[nodiscard]] std::string add_entry(std::size_t entry, const std::vector<Sample>& samples,
                                      const Layout& layout, Priced& result);

  const SearchSpace& space_;
  Programs programs_;
  PricerOptions options_;
  std::vector<Hardware> hardware_;                       // per mesh
  std::map<const Program*, std::vector<Program>> kept_;  // without recomputation, by the first
  std::map<const Program*, Samples> samples_;            // by the first entry
  std::map<LayoutCandidate, Priced> known_;
  std::map<LayoutCandidate, Priced> whole_;  // of those that were asked for
  PlanCache cache_;
  static constexpr std::int64_t kLooksOfValue = 8;
  std::int64_t lowered_ = 0;
  std::int64_t looks_ = 0;           // of plans, and ways to split the loops of an operation
  std::int64_t planning_looks_ = 0;  // those of plans
};

}  // namespace mtf
