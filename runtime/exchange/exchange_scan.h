// An exclusive scan over ranks (lowering/rounds/scan_rounds.h): every rank of a group gets the
// join of what those before it have. Where there is nothing before a rank, it gets zeros, which
// mean nothing.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/rounds/scan_rounds.h"
#include "runtime/kernels/scan/scan.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;
struct Staging;

class ScanExchange {
 public:
  ScanExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
               std::span<const std::int64_t> ranks);

  void run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
           Outs to) const;

 private:
  struct OnRank {
    std::vector<ScanRound> rounds;  // partners as members of the group
    std::vector<char> partner_has;  // per round, whether the partner's subtree has any elements
    std::vector<char> own_has;      // and this rank's
    std::int64_t bytes = 0;         // of the slice
  };
  // Where the subtrees of a rank are on the way.
  struct Way {
    std::byte* joined = nullptr;  // the one that it is part of
    std::byte* came = nullptr;    // those of its partners, one behind the other
    std::int64_t bytes = 0;       // of each
  };

  [[nodiscard]] Mail mail(const OnRank& here, std::size_t round, const Way& way) const;
  void join(const OnRank& here, std::size_t round, const Way& way) const;
  void finish(const OnRank& here, const Way& way, std::byte* to) const;
  void join(const OnRank& here, const std::byte* before, const std::byte* behind,
            std::byte* out) const;

  DigestJoin how_;
  std::int64_t line_bytes_ = 1;
  std::size_t rounds_ = 0;
  std::vector<OnRank> ranks_;
};

}  // namespace mtf
