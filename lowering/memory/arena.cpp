#include "lowering/memory/arena.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "lowering/memory/by_step.h"

namespace mtf {
namespace {

constexpr std::int64_t kWorthwhile = 128;    // a part of the whole that is worth a second try
constexpr std::size_t kMostBySize = 10'000;  // blocks

// Free gaps as time passes, joined again when memory is given back. There are few at a time,
// however many blocks come and go: lists in order take less time than trees, and no memory of their
// own for each gap.
class Gaps {
 public:
  // The smallest that is large enough, the first of several.
  std::int64_t take(std::int64_t need) {
    if (const auto best = std::ranges::lower_bound(by_size_, Sized{need, 0});
        best != by_size_.end()) {
      const auto [size, offset] = *best;
      const auto gap = std::ranges::lower_bound(gaps_, offset, {}, &Gap::offset);
      size > need ? change(gap, {.offset = offset + need, .bytes = size - need}) : remove(gap);
      return offset;
    }
    // The last gap may reach the end: it only has to grow.
    std::int64_t offset = size_;
    if (!gaps_.empty() && gaps_.back().end() == size_) {
      offset = gaps_.back().offset;
      remove(std::prev(gaps_.end()));
    }
    size_ = offset + need;
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) {
      return;
    }
    Gap gap{.offset = offset, .bytes = bytes};
    auto next = std::ranges::lower_bound(gaps_, offset, {}, &Gap::offset);
    const bool joins_next = next != gaps_.end() && gap.end() == next->offset;
    if (joins_next) {
      gap.bytes += next->bytes;
    }
    if (next != gaps_.begin() && std::prev(next)->end() == offset) {
      const auto before = std::prev(next);
      gap = {.offset = before->offset, .bytes = before->bytes + gap.bytes};
      if (joins_next) {
        remove(next);
      }
      change(before, gap);
    } else if (joins_next) {
      change(next, gap);
    } else {
      gaps_.insert(next, gap);
      by_size_.insert(std::ranges::lower_bound(by_size_, sized(gap)), sized(gap));
    }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  struct Gap {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    [[nodiscard]] std::int64_t end() const { return offset + bytes; }
  };
  using Sized = std::pair<std::int64_t, std::int64_t>;  // bytes and offset

  static Sized sized(const Gap& gap) { return {gap.bytes, gap.offset}; }

  // A gap between the same others: all between its old place by size and its new one move by one.
  void change(std::vector<Gap>::iterator gap, Gap to) {
    const auto from = std::ranges::lower_bound(by_size_, sized(*gap));
    const auto place = std::ranges::lower_bound(by_size_, sized(to));
    *from = sized(to);
    if (place > from) {
      std::rotate(from, std::next(from), place);
    } else {
      std::rotate(place, from, std::next(from));
    }
    *gap = to;
  }
  void remove(std::vector<Gap>::iterator gap) {
    by_size_.erase(std::ranges::lower_bound(by_size_, sized(*gap)));
    gaps_.erase(gap);
  }

  std::vector<Gap> gaps_;  // by offset; never two that touch
  std::vector<Sized> by_size_;
  std::int64_t size_ = 0;
};

// The numbers of the blocks that another one may come behind, by the step at which they end.
ByStep<std::size_t> by_end(std::span<const ArenaBlock> blocks) {
  const std::int32_t end = blocks.empty() ? 0 : blocks.back().first;  // nothing begins behind it
  ByStep<std::size_t> ends(static_cast<std::size_t>(end));
  const auto each = [&](const auto& body) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].is_in_arena() && blocks[i].last < end) {
        body(static_cast<std::size_t>(blocks[i].last), i);
      }
    }
  };
  each([&ends](std::size_t step, std::size_t /*block*/) { ends.count(step); });
  ends.start();
  each([&ends](std::size_t step, std::size_t block) { ends.add(step, block); });
  return ends;
}

std::int64_t place_by_time(std::span<ArenaBlock> blocks) {
  Gaps gaps;
  const ByStep<std::size_t> by_step = by_end(blocks);
  const std::span<const std::size_t> ends = by_step.all();
  auto next = ends.begin();
  for (ArenaBlock& block : blocks) {
    if (!block.is_in_arena()) {
      continue;
    }
    for (; next != ends.end() && blocks[*next].last < block.first; ++next) {
      gaps.give_back(blocks[*next].offset, rounded(blocks[*next].bytes));
    }
    block.offset = gaps.take(rounded(block.bytes));
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
