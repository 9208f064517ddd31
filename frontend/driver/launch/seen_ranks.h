// The ranks of this machine, as they come and go below mpirun. Which one went first is known only
// to who looks before mpirun has ended the others, for which it takes a second or more.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <sys/types.h>

namespace mtf {

class SeenRanks {
 public:
  // Its children as they are now, those included that have ended and were not asked how.
  void look(std::span<const pid_t> children);

  // In how many looks none has come, and there were some; 0: there are none, or one came just now.
  [[nodiscard]] int looks_without_new() const { return looks_without_new_; }
  // The only one that was gone while others were still there, the first time that any was.
  [[nodiscard]] std::optional<std::int64_t> first_gone() const { return first_gone_; }

 private:
  std::map<pid_t, std::int64_t> ranks_;  // of those that were ever there; -1: it is no rank
  int looks_without_new_ = 0;
  bool has_any_gone_ = false;
  std::optional<std::int64_t> first_gone_;
};

}  // namespace mtf
