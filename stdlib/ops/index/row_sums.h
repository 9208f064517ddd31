// Sums of the rows that go to one place of a table, in the order that `scatter_add` promises.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernels/tree.h"
#include "stdlib/ops/order/keys.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {

// One row to add: where it begins in the result, the canonical block it is in, and where it begins.
struct Entry {
  std::int64_t to = 0;
  std::int64_t block = 0;
  std::int64_t from = 0;
};

// The elements of one row, as offsets in the rows and in the table.
struct RowMap {
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
};

template <typename T>
[[nodiscard]] T plus(T a, T b) {
  return static_cast<T>(to_wrapping(a) + to_wrapping(b));
}

// So many are added one behind the other: in a chain of a million the errors of f32 would show.
inline constexpr std::size_t kChain = 64;

// The rows, sorted by where they go and their blocks, others as they came.
class SortedRows {
 public:
  explicit SortedRows(std::int64_t blocks) : blocks_(blocks) {}

  void add(const Entry& entry) {
    sorted_.push_back({.key = static_cast<std::uint64_t>(entry.to * blocks_ + entry.block),
                       .at = static_cast<std::uint64_t>(entry.from)});
  }
  void sort() {
    std::vector<Keyed<std::uint64_t>> room;
    sort_keys(sorted_, room);
  }

  [[nodiscard]] std::size_t size() const { return sorted_.size(); }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  [[nodiscard]] std::int64_t to(std::size_t i) const { return key(i) / blocks_; }
  [[nodiscard]] std::int64_t block(std::size_t i) const { return key(i) % blocks_; }
  [[nodiscard]] std::int64_t from(std::size_t i) const {
    return static_cast<std::int64_t>(sorted_[i].at);
  }

  // The end of those that go where the first one of them does.
  [[nodiscard]] std::size_t end_of(std::size_t first) const {
    const auto end = static_cast<std::uint64_t>((to(first) + 1) * blocks_);
    std::size_t i = first;
    while (i < size() && sorted_[i].key < end) {
      ++i;
    }
    return i;
  }
  // The first of [begin, end), which go to one place, that is in a block from `block` on.
  [[nodiscard]] std::size_t first_from(std::size_t begin, std::size_t end,
                                       std::int64_t block) const {
    const auto key = static_cast<std::uint64_t>(to(begin) * blocks_ + block);
    const auto rows = std::span(sorted_).subspan(begin, end - begin);
    return begin +
           static_cast<std::size_t>(
               std::ranges::lower_bound(rows, key, {}, &Keyed<std::uint64_t>::key) - rows.begin());
  }

 private:
  [[nodiscard]] std::int64_t key(std::size_t i) const {
    return static_cast<std::int64_t>(sorted_[i].key);
  }

  std::int64_t blocks_;
  std::vector<Keyed<std::uint64_t>> sorted_;
};

// Sums of rows that go to one place.
template <typename T>
class RowSums {
 public:
  RowSums(const SortedRows& rows, const T* x, const RowMap& map) : rows_(rows), x_(x), map_(map) {}

  // The rows [begin, end), over blocks [first, last) in a tree.
  void tree(std::size_t begin, std::size_t end, std::int64_t first, std::int64_t last,
            std::span<T> total) const {
    if (rows_.block(begin) == rows_.block(end - 1)) {
      return chains(begin, end, total);
    }
    const std::int64_t middle = first + tree_split(last - first);
    const std::size_t split = rows_.first_from(begin, end, middle);
    if (split == begin || split == end) {
      return split == begin ? tree(begin, end, middle, last, total)
                            : tree(begin, end, first, middle, total);
    }
    tree(begin, split, first, middle, total);
    add_behind(total, [&](std::span<T> upper) { tree(split, end, middle, last, upper); });
  }

 private:
  // Those of one block.
  void chains(std::size_t begin, std::size_t end, std::span<T> total) const {
    if (end - begin > kChain) {
      const std::size_t middle = begin + (end - begin) / 2;
      chains(begin, middle, total);
      return add_behind(total, [&](std::span<T> upper) { chains(middle, end, upper); });
    }
    for (std::size_t e = 0; e < total.size(); ++e) {
      total[e] = x_[rows_.from(begin) + map_.from[e]];
    }
    for (std::size_t i = begin + 1; i < end; ++i) {
      const T* const row = x_ + rows_.from(i);
      for (std::size_t e = 0; e < total.size(); ++e) {
        total[e] = plus(total[e], row[map_.from[e]]);
      }
    }
  }

  template <typename F>
  void add_behind(std::span<T> total, const F& f) const {
    if (total.size() == 1) {
      T upper = {};
      f(std::span<T>(&upper, 1));
      total[0] = plus(total[0], upper);
      return;
    }
    std::vector<T> upper(total.size());
    f(std::span<T>(upper));
    std::ranges::transform(total, upper, total.begin(), plus<T>);
  }

  const SortedRows& rows_;
  const T* x_;
  const RowMap& map_;
};

}  // namespace mtf::ops
