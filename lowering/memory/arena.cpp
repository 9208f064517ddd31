#include "lowering/memory/arena.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

namespace mtf {
namespace {

constexpr std::int64_t kWorthwhile = 128;    // a part of the whole that is worth a second try
constexpr std::size_t kMostBySize = 10'000;  // blocks: the time grows with their square

// Free gaps as time passes, joined again when memory is given back.
class Gaps {
 public:
  std::int64_t take(std::int64_t need) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->second >= need && (best == gaps_.end() || gap->second < best->second)) {
        best = gap;
      }
    }
    if (best != gaps_.end()) {
      const auto [offset, size] = *best;
      gaps_.erase(best);
      if (size > need) {
        gaps_.emplace(offset + need, size - need);
      }
      return offset;
    }
    // The last gap may reach the end: it only has to grow.
    if (!gaps_.empty()) {
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == size_) {
        const std::int64_t offset = last->first;
        gaps_.erase(last);
        size_ = offset + need;
        return offset;
      }
    }
    const std::int64_t offset = size_;
    size_ += need;
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) {
      return;
    }
    const auto here = gaps_.emplace(offset, bytes).first;
    const auto next = std::next(here);
    if (next != gaps_.end() && here->first + here->second == next->first) {
      here->second += next->second;
      gaps_.erase(next);
    }
    if (here != gaps_.begin()) {
      const auto before = std::prev(here);
      if (before->first + before->second == here->first) {
        before->second += here->second;
        gaps_.erase(here);
      }
    }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  std::map<std::int64_t, std::int64_t> gaps_;  // offset -> bytes; never two that touch
  std::int64_t size_ = 0;
};

std::int64_t place_by_time(std::span<ArenaBlock> blocks) {
  Gaps gaps;
  std::multimap<std::int32_t, const ArenaBlock*> ends;
  for (ArenaBlock& block : blocks) {
    while (!ends.empty() && ends.begin()->first < block.first) {
      const ArenaBlock* gone = ends.begin()->second;
      gaps.give_back(gone->offset, rounded(gone->bytes));
      ends.erase(ends.begin());
    }
    block.offset = gaps.take(rounded(block.bytes));
    ends.emplace(block.last, &block);
  }
  return gaps.size();
}

// The smallest gap between those of `placed`, by offset, that are used at the block's time; behind
// them if it fits none.
std::int64_t best_offset(std::span<const ArenaBlock> placed, const ArenaBlock& block) {
  const std::int64_t need = rounded(block.bytes);
  std::int64_t end = 0;  // of what was met so far
  std::int64_t best = -1;
  std::int64_t best_gap = 0;
  for (const ArenaBlock& other : placed) {
    if (other.last < block.first || block.last < other.first) {
      continue;
    }
    const std::int64_t gap = other.offset - end;
    if (gap == need) {  // none fits better
      return end;
    }
    if (gap > need && (best < 0 || gap < best_gap)) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, other.offset + rounded(other.bytes));
  }
  return best < 0 ? end : best;
}

// Gives up where it needs `limit` or more.
std::int64_t place_by_size(std::span<ArenaBlock> blocks, std::int64_t limit) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return blocks[i].bytes; });
  std::vector<ArenaBlock> placed;
  std::int64_t size = 0;
  for (const std::size_t i : order) {
    ArenaBlock& block = blocks[i];
    block.offset = best_offset(placed, block);
    size = std::max(size, block.offset + rounded(block.bytes));
    if (size >= limit) {
      return size;
    }
    placed.insert(std::ranges::upper_bound(placed, block.offset, {}, &ArenaBlock::offset), block);
  }
  return size;
}

}  // namespace

std::int64_t most_at_once(std::span<const ArenaBlock> blocks) {
  if (blocks.empty()) {
    return 0;
  }
  const std::int32_t end = blocks.back().first;  // nothing begins behind it
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 2, 0);  // in use, by step
  for (const ArenaBlock& block : blocks) {
    change[static_cast<std::size_t>(block.first)] += rounded(block.bytes);
    change[static_cast<std::size_t>(std::min(block.last, end)) + 1] -= rounded(block.bytes);
  }
  std::int64_t bytes = 0;
  std::int64_t most = 0;
  for (const std::int64_t by : change) {
    bytes += by;
    most = std::max(most, bytes);
  }
  return most;
}

std::int64_t place(std::span<ArenaBlock> blocks) {
  const std::int64_t by_time = place_by_time(blocks);
  const std::int64_t least = most_at_once(blocks);
  if (blocks.size() > kMostBySize || by_time - least <= least / kWorthwhile) {
    return by_time;
  }
  std::vector<ArenaBlock> others(blocks.begin(), blocks.end());
  const std::int64_t by_size = place_by_size(others, by_time);
  if (by_size >= by_time) {
    return by_time;
  }
  std::ranges::copy(others, blocks.begin());
  return by_size;
}

}  // namespace mtf
