#include "lowering/rounds/scan_rounds.h"

#include <algorithm>
#include <bit>

namespace mtf {
namespace {

// Whether the rank needs what its partner of the round has: what comes before it, or the rest of a
// subtree that others come behind.
bool needs(std::int64_t ranks, std::int64_t place, int round) {
  const bool is_behind = ((place >> round) & 1) != 0;
  return is_behind || (((place >> (round + 1)) + 1) << (round + 1)) < ranks;
}

int rounds_of(std::int64_t ranks) {
  return static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(ranks, 1) - 1)));
}

}  // namespace

std::vector<ScanRound> scan_rounds(std::int64_t ranks, std::int64_t place) {
  std::vector<ScanRound> rounds;
  for (int k = 0; k < rounds_of(ranks); ++k) {
    const std::int64_t partner = place ^ (std::int64_t{1} << k);
    const bool is_there = partner < ranks;
    rounds.push_back({.partner = partner,
                      .sends = is_there && needs(ranks, partner, k),
                      .receives = is_there && needs(ranks, place, k),
                      .before = partner < place});
  }
  return rounds;
}

std::int64_t scan_messages(std::int64_t ranks, std::int64_t place) {
  std::int64_t messages = 0;
  for (int k = 0; k < rounds_of(ranks); ++k) {
    const std::int64_t partner = place ^ (std::int64_t{1} << k);
    messages += partner < ranks && needs(ranks, place, k) ? 1 : 0;
  }
  return messages;
}

// The rank that is behind in all of its first rounds receives as much as any.
std::int64_t most_scan_messages(std::int64_t ranks) {
  std::int64_t most = 0;
  for (int k = 0; k <= rounds_of(ranks); ++k) {
    const std::int64_t place = (std::int64_t{1} << k) - 1;
    if (place < ranks) {
      most = std::max(most, scan_messages(ranks, place));
    }
  }
  return most;
}

}  // namespace mtf
