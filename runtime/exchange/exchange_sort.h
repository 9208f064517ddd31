// A sort over ranks (lowering/rounds/sort_rounds.h): each has a sorted part of every line along a
// dim, and gets its part of what all have, sorted.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/rounds/sort_rounds.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;
struct Staging;

class SortExchange {
 public:
  SortExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
               std::span<const std::int64_t> ranks);

  void run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
           Outs to) const;

 private:
  // Elements of each line, between this rank and another of the group.
  struct Run {
    std::int64_t member = 0;
    std::int64_t begin = 0;  // in the part as the rounds leave it; or in the part that it becomes
    std::int64_t count = 0;
  };
  struct OnRank {
    std::vector<SortRound> rounds;
    std::vector<Run> sent;      // in the end, to others
    std::vector<Run> received;  // … from others
    std::vector<SortedRun> own;
    std::int64_t lines = 0;
  };

  [[nodiscard]] std::int64_t line_bytes() const { return entries_ * entry_bytes_; }
  [[nodiscard]] std::int64_t bytes(const OnRank& here) const { return here.lines * line_bytes(); }
  void swap_round(Communicator& communicator, const Group& group, Staging& staging,
                  std::size_t round, Outs to) const;
  void merge(const OnRank& here, bool keeps_low, const std::byte* own, const std::byte* came,
             std::byte* out) const;
  void settle(Communicator& communicator, const Group& group, Staging& staging, Outs to) const;
  void copy_lines(const OnRank& here, const std::byte* from, std::int64_t from_step, std::byte* to,
                  std::int64_t to_step, std::int64_t bytes) const;

  DType dtype_;
  std::int64_t width_ = 1;  // numbers of an entry
  std::int64_t entry_bytes_ = 1;
  std::int64_t entries_ = 0;  // of a line on each rank
  bool settles_ = false;
  std::vector<OnRank> ranks_;
};

}  // namespace mtf
