// A rank that has waited for others for long says for whom, and where: one rank of each machine,
// for all of them. With whom others are at fault is seen best from afar: it is who is waited for,
// and waits for nobody.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/ranks/communicator.h"

namespace mtf {

// One wait, from its beginning to its end.
class LongWait {
 public:
  // Gives the ranks whose messages have not come; none: it is not known which.
  using Missing = std::function<std::vector<std::int64_t>()>;

  // `patience` outlives it.
  LongWait(const Patience& patience, std::int64_t rank) : patience_(patience), rank_(rank) {}
  ~LongWait();
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;
  LongWait(LongWait&&) = delete;
  LongWait& operator=(LongWait&&) = delete;

  // To be called again and again while it lasts. Costs next to nothing.
  template <typename F>
  void look(F&& missing) {
    constexpr std::uint32_t kLooks = 64;  // to one at the clock
    if (patience_.limit.count() > 0 && ++looks_ % kLooks == 0) {
      look_at_clock(missing);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  void look_at_clock(const Missing& missing);
  void tell_others(const std::vector<std::int64_t>& missing);
  void say(const std::vector<std::int64_t>& missing);

  const Patience& patience_;
  std::int64_t rank_;
  std::uint32_t looks_ = 0;
  std::optional<Clock::time_point> begun_;
  bool has_told_ = false;
  bool speaks_ = false;  // for the ranks of this machine
  bool has_said_ = false;
};

}  // namespace mtf
