// Leaves of short runs that lie behind each other: whole rows of them are added to each other, then
// halves of all leaves to their other halves, in registers. The order is that of one leaf after the
// other (reduce_kernel.h).

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/kernels/reduce/piece_tree.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_run.h"
#include "runtime/kernels/reduce/reduction_plan.h"

namespace mtf {

inline constexpr std::int64_t kMostShortLength = 31;
inline constexpr std::int64_t kFewestShortLeaves = 2;
inline constexpr std::int64_t kMostShortLeaves = 16;

// Where the plan's leaves are such, of ordered sums and products.
[[nodiscard]] std::optional<ShortLeaves> short_leaves_of(const ReductionPlan& plan);

template <typename Op, typename T>
constexpr bool has_short_leaves() {
  return std::is_floating_point_v<T> && !Op::kIsExtreme;
}

// In two vectors behind each other, the first halves of all segments of 2 * kHalf, or the second.
template <typename V, std::size_t kHalf, std::size_t kFrom, std::size_t... kLane>
V halves_of(const V& x, const V& y, std::index_sequence<kLane...> /*lanes*/) {
  return __builtin_shufflevector(x, y, (kLane / kHalf * 2 * kHalf + kLane % kHalf + kFrom)...);
}

// kElements, in segments of kLength that are leaves, to one: halves of leaves, then neighbours.
// Inlined, for what is in registers to stay there.
template <typename Op, typename T, std::size_t kElements, std::size_t kLength>
[[gnu::always_inline]] inline T join_segments(const Vector<T>* x) {
  if constexpr (kElements == 1) {
    return (*x)[0];
  } else {
    constexpr std::size_t kWide = kTogether<T>;
    constexpr std::size_t kHalf = std::max<std::size_t>(kLength / 2, 1);
    constexpr std::size_t kVectors = std::max<std::size_t>(kElements / 2 / kWide, 1);
    constexpr auto kLanes = std::make_index_sequence<kWide>();
    std::array<Vector<T>, kVectors> joined{};
    for (std::size_t v = 0; v < kVectors; ++v) {
      if constexpr (kHalf >= kWide) {
        constexpr std::size_t kApart = kHalf / kWide;
        const std::size_t first = v / kApart * 2 * kApart + v % kApart;
        joined[v] = x[first];
        PlainLanes<Op, T>::join(joined[v], x[first + kApart]);
      } else {
        const Vector<T>& lower = x[2 * v];
        const Vector<T>& upper = x[kElements > kWide ? 2 * v + 1 : 0];
        joined[v] = halves_of<Vector<T>, kHalf, 0>(lower, upper, kLanes);
        PlainLanes<Op, T>::join(joined[v],
                                halves_of<Vector<T>, kHalf, kHalf>(lower, upper, kLanes));
      }
    }
    return join_segments<Op, T, kElements / 2, kHalf>(joined.data());
  }
}

// A row of kLeaves runs, each a lane for each element.
template <typename Op, typename T, std::size_t kLeaves, std::size_t kLength>
T join_row(const T* row) {
  constexpr std::size_t kElements = kLeaves * kLength;
  constexpr std::size_t kVectors = std::max<std::size_t>(kElements / kTogether<T>, 1);
  constexpr std::size_t kBytes = std::min(sizeof(Vector<T>), kElements * sizeof(T));
  std::array<Vector<T>, kVectors> lanes{};
  for (std::size_t v = 0; v < kVectors; ++v) {  // one by one: a vector is not to be pieced together
    Vector<T> loaded{};
    std::memcpy(&loaded, row + v * kTogether<T>, kBytes);
    lanes[v] = Vector<T>{} + Op::identity();
    PlainLanes<Op, T>::join(lanes[v], loaded);
  }
  return join_segments<Op, T, kElements, kLength>(lanes.data());
}

template <typename T>
using JoinRow = T (*)(const T* row);

// For runs that have a power of two up to 16.
template <typename Op, typename T, std::size_t kLeaves>
JoinRow<T> row_joiner(std::int64_t length) {
  constexpr std::array<JoinRow<T>, 5> kByLength = {
      join_row<Op, T, kLeaves, 1>, join_row<Op, T, kLeaves, 2>, join_row<Op, T, kLeaves, 4>,
      join_row<Op, T, kLeaves, 8>, join_row<Op, T, kLeaves, 16>};
  return kByLength[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(length)))];
}

template <typename Op, typename T>
JoinRow<T> row_joiner(std::int64_t leaves, std::int64_t length) {
  constexpr std::array<JoinRow<T> (*)(std::int64_t), 4> kByLeaves = {
      row_joiner<Op, T, 2>, row_joiner<Op, T, 4>, row_joiner<Op, T, 8>, row_joiner<Op, T, 16>};
  const int log = std::countr_zero(static_cast<std::uint64_t>(leaves / kFewestShortLeaves));
  return kByLeaves[static_cast<std::size_t>(log)](length);
}

// Works on one group at a time.
template <typename Op, typename S, typename T>
class LeafGroup {
 public:
  explicit LeafGroup(const ShortLeaves& leaves)
      : leaves_(leaves),
        lanes_(std::min<std::int64_t>(
            static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(leaves.length))),
            kReduceLanes)),
        width_(leaves.count * lanes_),
        join_(row_joiner<Op, T>(leaves.count, lanes_)) {
    lanes_of_.fill(Op::identity());
  }

  // What the leaves at `x` come to.
  [[nodiscard]] T joined(const S* x) {
    if (lanes_ != leaves_.length) {
      spread(x);
    } else if (leaves_.row_count > 1) {
      add_rows(x);
      if (!pieces_.empty()) {
        return joined_pieces();
      }
    } else if constexpr (std::is_same_v<S, T>) {
      return join_(x);
    } else {
      std::transform(x, x + width_, lanes_of_.begin(), [](S e) { return static_cast<T>(e); });
    }
    return join_(lanes_of_.data());
  }

 private:
  // A run that is no power of two, to so many lanes: those behind its end stay the identity.
  void spread(const S* x) {
    for (std::int64_t leaf = 0; leaf < leaves_.count; ++leaf) {
      T* lanes = lanes_of_.data() + leaf * lanes_;
      const S* run = x + leaf * leaves_.length;
      const std::int64_t first = std::min<std::int64_t>(leaves_.length, lanes_);
      for (std::int64_t i = 0; i < first; ++i) {
        lanes[i] = Op::apply(Op::identity(), static_cast<T>(run[i]));
      }
      for (std::int64_t i = first; i < leaves_.length; ++i) {
        lanes[i - first] = Op::apply(lanes[i - first], static_cast<T>(run[i]));
      }
    }
  }

  // Rows whose runs begin at the same lane are added to each other, many at once where rows lie
  // behind each other; then they are halved. Leaves that are trees of pieces end up in those.
  void add_rows(const S* x) {
    const std::int64_t kinds = kReduceLanes / lanes_;
    const std::int64_t rows_of_piece = kLongestLeaf / lanes_;
    const ReduceLoop& last = leaves_.rows.back();
    const std::span<const ReduceLoop> others(leaves_.rows.data(), leaves_.rows.size() - 1);
    std::int64_t row = 0;  // of the piece
    for_each(others, 0, 0, [&](std::int64_t at, std::int64_t) {
      for (std::int64_t i = 0; i < last.extent;) {
        if (row == rows_of_piece) {
          finish_piece(row);
          row = 0;
        }
        const std::int64_t lane = row & (kinds - 1);  // a division would take long
        const std::int64_t together =
            last.in == width_ ? std::min(kinds - lane, last.extent - i) : 1;
        add_to_lanes(x + at + i * last.in, together * width_, row);
        row += together;
        i += together;
      }
    });
    if (pieces_.empty()) {
      halve_rows(row);
    } else {
      finish_piece(row);
    }
  }

  // Elements of rows from `row` of the piece on.
  void add_to_lanes(const S* x, std::int64_t elements, std::int64_t row) {
    const std::int64_t kinds = kReduceLanes / lanes_;
    T* lanes = lanes_of_.data() + (row & (kinds - 1)) * width_;
    if (row < kinds) {  // the identity is joined to what all come to, which has the same bits
      std::transform(x, x + elements, lanes, [](S element) { return static_cast<T>(element); });
    } else {
      std::transform(lanes, lanes + elements, x, lanes,
                     [](T lane, S element) { return Op::apply(lane, static_cast<T>(element)); });
    }
  }

  void halve_rows(std::int64_t rows) {
    const std::int64_t kinds = kReduceLanes / lanes_;
    const std::int64_t used = std::min(kinds, rows);
    for (std::int64_t half = kinds / 2; half > 0; half /= 2) {
      for (std::int64_t r = 0; r < half && r + half < used; ++r) {
        T* lanes = lanes_of_.data() + r * width_;
        const T* other = lanes + half * width_;
        std::transform(lanes, lanes + width_, other, lanes, Op::apply);
      }
    }
  }

  // Of all leaves. Not inlined into the loop over rows, whose counters would leave their registers.
  [[gnu::noinline]] void finish_piece(std::int64_t rows) {
    halve_rows(rows);
    pieces_.resize(static_cast<std::size_t>(leaves_.count));
    T* lanes = lanes_of_.data();
    for (PieceTree<Op, T>& leaf : pieces_) {
      leaf.add(joined_run(lanes));
      lanes += lanes_;
    }
  }

  T joined_pieces() {
    PieceTree<Op, T> leaves;
    for (const PieceTree<Op, T>& leaf : pieces_) {
      leaves.add(leaf.joined());
    }
    pieces_.clear();
    return Op::apply(Op::identity(), leaves.joined());
  }

  // What the lanes of one leaf in one row come to; of no use afterwards.
  T joined_run(T* lanes) const {
    for (std::int64_t half = lanes_ / 2; half > 0; half /= 2) {
      std::transform(lanes, lanes + half, lanes + half, lanes, Op::apply);
    }
    return lanes[0];
  }

  const ShortLeaves& leaves_;
  std::int64_t lanes_;  // of a leaf, in a row
  std::int64_t width_;  // of a row
  JoinRow<T> join_;
  alignas(64) std::array<T, kReduceLanes * kMostShortLeaves> lanes_of_{};
  std::vector<PieceTree<Op, T>> pieces_;  // of each leaf, where these have several
};

}  // namespace mtf
