// The time that work takes on all ranks of a run at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/ranks/communicator.h"

namespace mtf {

class RankClock {
 public:
  // `world`: the ranks that measure together, all on this machine; null: this process alone.
  explicit RankClock(Communicator* world);

  // Seconds in which all ranks have run it once, measured until two measurements agree; on all
  // ranks the same. Collective.
  [[nodiscard]] double seconds_of(const std::function<void()>& work);

  // What `more` takes beyond `less`, which is a part of it: the median of what one takes after the
  // other, so that what disturbs a while disturbs both.
  [[nodiscard]] double seconds_beyond(const std::function<void()>& less,
                                      const std::function<void()>& more);

  // Whether measurements have agreed since this was asked before.
  [[nodiscard]] bool trusts_since();

  // Where measurements do not agree, it measures no more than twice once it has been patient for
  // long.
  void has_patience_again() { impatient_at_ = spent_ + kPatience; }

  // Seconds that all measurements have taken, on all ranks the same.
  [[nodiscard]] double spent() const { return spent_; }

 private:
  // Seconds between the first rank's start and the last one's end: where ranks share a core, one
  // may have ended before another begins.
  double from_first_to_last(double start, double end);
  double once(const std::function<void()>& work, std::int64_t runs);

  [[nodiscard]] std::int64_t runs_of(const std::function<void()>& work);
  // Of several samples the one with that number from the least, taken until two such agree.
  double agreed(const std::function<double()>& sample, std::size_t taken);

  static constexpr double kPatience = 15;  // seconds

  Communicator* world_;
  double repeat_seconds_;  // that one measurement should take
  double spent_ = 0;
  double impatient_at_ = kPatience;  // when so much is spent
  bool trusts_ = true;
};

}  // namespace mtf
