#include "lowering/memory/arena.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace mtf {
namespace {

constexpr std::int64_t kWorthwhile = 128;    // a part of the whole that is worth a second try
constexpr std::size_t kMostBySize = 10'000;  // blocks

// Free gaps as time passes, joined again when memory is given back.
class Gaps {
 public:
  // The smallest that is large enough, the first of several.
  std::int64_t take(std::int64_t need) {
    if (const auto best = by_size_.lower_bound({need, 0}); best != by_size_.end()) {
      const auto [size, offset] = *best;
      const auto gap = gaps_.find(offset);
      size > need ? change(gap, offset + need, size - need) : remove(gap);
      return offset;
    }
    // The last gap may reach the end: it only has to grow.
    if (!gaps_.empty()) {
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == size_) {
        const std::int64_t offset = last->first;
        remove(last);
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
    const auto next = gaps_.lower_bound(offset);
    const auto before = next == gaps_.begin() ? gaps_.end() : std::prev(next);
    const bool joins_before = before != gaps_.end() && before->first + before->second == offset;
    const bool joins_next = next != gaps_.end() && offset + bytes == next->first;
    if (joins_before && joins_next) {
      bytes += next->second;
      remove(next);
    }
    if (joins_before) {
      change(before, before->first, before->second + bytes);
    } else if (joins_next) {
      change(next, offset, bytes + next->second);
    } else {
      gaps_.emplace_hint(next, offset, bytes);
      by_size_.emplace(bytes, offset);
    }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  using Sizes = std::map<std::int64_t, std::int64_t>;

  // A gap between the same others; gaps come and go, and take their memory with them.
  void change(Sizes::iterator gap, std::int64_t offset, std::int64_t bytes) {
    auto sized = by_size_.extract({gap->second, gap->first});
    sized.value() = {bytes, offset};
    by_size_.insert(std::move(sized));
    auto placed = gaps_.extract(gap);
    placed.key() = offset;
    placed.mapped() = bytes;
    gaps_.insert(std::move(placed));
  }
  void remove(Sizes::iterator gap) {
    by_size_.erase({gap->second, gap->first});
    gaps_.erase(gap);
  }

  Sizes gaps_;                                               // by offset; never two that touch
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // with their offsets
  std::int64_t size_ = 0;
};

std::int64_t place_by_time(std::span<ArenaBlock> blocks) {
  Gaps gaps;
  const auto ends_later = [](const ArenaBlock* a, const ArenaBlock* b) {
    return a->last > b->last;
  };
  std::priority_queue<const ArenaBlock*, std::vector<const ArenaBlock*>, decltype(ends_later)> used(
      ends_later);
  for (ArenaBlock& block : blocks) {
    if (!block.is_in_arena()) {
      continue;
    }
    for (; !used.empty() && used.top()->last < block.first; used.pop()) {
      gaps.give_back(used.top()->offset, rounded(used.top()->bytes));
    }
    block.offset = gaps.take(rounded(block.bytes));
    used.push(&block);
  }
  return gaps.size();
}

// Blocks with an offset, by offset, found by the time at which they are used. Most are in use for a
// moment: they are in the lists of the stretches of time around it, and only the others are looked
// at for every block.
class Placed {
 public:
  explicit Placed(std::span<const ArenaBlock> all)
      : stretches_(all.empty() ? 0 : stretch_of(all.back().first) + 1) {}

  void add(const ArenaBlock& block) {
    const Used used{.begin = block.offset,
                    .end = block.offset + rounded(block.bytes),
                    .first = block.first,
                    .last = block.last};
    insert(used, all_);
    if (is_long(block)) {
      insert(used, long_);
      return;
    }
    const std::size_t first = stretch_of(block.first);
    for (std::size_t i = first == 0 ? 0 : first - 1;
         i <= stretch_of(block.last) && i < stretches_.size(); ++i) {
      insert(used, stretches_[i]);
    }
  }

  // The smallest gap between those that are used at the block's time; behind them if it fits none.
  [[nodiscard]] std::int64_t best_offset(const ArenaBlock& block) {
    if (is_long(block)) {
      return best_offset(all_, block);
    }
    const std::vector<Used>& near = stretches_[stretch_of(block.first)];
    both_.resize(near.size() + long_.size());
    std::ranges::merge(near, long_, both_.begin(), {}, &Used::begin, &Used::begin);
    return best_offset(both_, block);
  }

 private:
  static constexpr std::int32_t kStretch = 64;  // steps

  // Bytes, from one step to another.
  struct Used {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int32_t first = 0;
    std::int32_t last = 0;
  };

  // Stretch i is of the steps from i * kStretch on, and those of the next one: so a block that is
  // not long is in the one that it begins in.
  [[nodiscard]] static std::size_t stretch_of(std::int32_t step) {
    return static_cast<std::size_t>(step / kStretch);
  }
  [[nodiscard]] static bool is_long(const ArenaBlock& block) {
    return block.last - block.first > kStretch;
  }

  static void insert(const Used& used, std::vector<Used>& by_place) {
    by_place.insert(std::ranges::upper_bound(by_place, used.begin, {}, &Used::begin), used);
  }

  static std::int64_t best_offset(std::span<const Used> by_place, const ArenaBlock& block) {
    const std::int64_t need = rounded(block.bytes);
    std::int64_t end = 0;  // of what was met so far
    std::int64_t best = -1;
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
    for (const Used& used : by_place) {
      // All bits, or none; without a branch, which nobody could foretell.
      const std::int64_t misses =
          ((std::int64_t{used.last} - block.first) | (std::int64_t{block.last} - used.first)) >> 63;
      const std::int64_t gap = (used.begin | misses) - end;
      if (gap >= need && gap < best_gap) {
        best = end;
        best_gap = gap;
        if (gap == need) {  // none fits better
          break;
        }
      }
      end = std::max(end, used.end & ~misses);
    }
    return best < 0 ? end : best;
  }

  std::vector<Used> all_;
  std::vector<Used> long_;
  std::vector<std::vector<Used>> stretches_;  // of the others
  std::vector<Used> both_;
};

// The numbers of blocks, the largest first.
std::vector<std::size_t> by_size(std::span<const ArenaBlock> blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return blocks[i].bytes; });
  return order;
}

// Gives up where it needs `limit` or more.
std::int64_t place_by_size(std::span<ArenaBlock> blocks, std::int64_t limit) {
  const std::vector<std::size_t> order = by_size(blocks);
  Placed placed(blocks);
  std::int64_t size = 0;
  for (const std::size_t i : order) {
    ArenaBlock& block = blocks[i];
    if (!block.is_in_arena()) {
      continue;
    }
    block.offset = placed.best_offset(block);
    size = std::max(size, block.offset + rounded(block.bytes));
    if (size >= limit) {
      return size;
    }
    placed.add(block);
  }
  return size;
}

}  // namespace

std::size_t place_in_spare(std::span<ArenaBlock> blocks, std::span<const SpareMemory> spare) {
  std::vector<std::size_t> smallest_first(spare.size());
  std::iota(smallest_first.begin(), smallest_first.end(), std::size_t{0});
  std::ranges::stable_sort(smallest_first, {}, [&](std::size_t i) { return spare[i].bytes; });
  std::vector<Placed> placed(spare.size(), Placed(blocks));
  std::size_t moved = 0;
  for (const std::size_t i : by_size(blocks)) {
    ArenaBlock& block = blocks[i];
    for (const std::size_t s : smallest_first) {
      if (block.last >= spare[s].until || block.bytes > spare[s].bytes) {
        continue;
      }
      const std::int64_t offset = placed[s].best_offset(block);
      if (offset + block.bytes <= spare[s].bytes) {
        block.offset = offset;
        block.spare = static_cast<std::int32_t>(s);
        placed[s].add(block);
        ++moved;
        break;
      }
    }
  }
  return moved;
}

std::int64_t most_at_once(std::span<const ArenaBlock> blocks) {
  if (blocks.empty()) {
    return 0;
  }
  const std::int32_t end = blocks.back().first;  // nothing begins behind it
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 2, 0);  // in use, by step
  for (const ArenaBlock& block : blocks) {
    if (!block.is_in_arena()) {
      continue;
    }
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
