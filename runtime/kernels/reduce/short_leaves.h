// Leaves of short runs that lie behind each other: whole rows of them are added to each other, then
// halves of all leaves to their other halves, in registers. The order is that of one leaf after the
// other (reduce_kernel.h).

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/kernels/reduce/leaf_joins.h"
#include "runtime/kernels/reduce/piece_tree.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/reduce/stored_rows.h"

namespace mtf {

inline constexpr std::int64_t kRowRoom = 2048;  // elements of all rows of a group that wait

// Where the plan's leaves are such, of ordered sums and products.
[[nodiscard]] std::optional<ShortLeaves> short_leaves_of(const ReductionPlan& plan);

template <typename Op, typename T>
constexpr bool has_short_leaves() {
  return std::is_floating_point_v<T> && !Op::kIsExtreme;
}

// Works on one group at a time.
template <typename Op, typename S, typename T>
class LeafGroup {
 public:
  explicit LeafGroup(const ShortLeaves& leaves)
      : leaves_(leaves),
        lanes_(leaves.lanes()),
        width_(leaves.count * lanes_),
        kinds_(kReduceLanes / lanes_),
        join_(row_joiner<Op, T>(std::min(leaves.count, kMostJoined),
                                leaves.count > kMostJoined ? 1 : lanes_)) {
    if (leaves.is_spread()) {
      std::fill_n(lanes_of_.begin(), width_, Op::identity());
    }
    if (leaves.row_count <= kinds_ || leaves.length > lanes_) {
      for_each(leaves.rows, 0, 0, [this](std::int64_t at, std::int64_t) { rows_.push_back(at); });
    }
    is_plain_ = leaves.row_count == 1 && leaves.length == lanes_;
  }

  // What the leaves at `x` come to.
  [[nodiscard]] T joined(const S* x) {
    if constexpr (std::is_same_v<S, T>) {
      if (is_plain_) {
        return join_all(x);
      }
    }
    if (leaves_.is_spread()) {
      spread(x);
      return join_(lanes_of_.data());
    }
    join_rows(x);
    return pieces_.empty() ? join_all(lanes_of_.data()) : joined_pieces();
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

  // The rows of all leaves to one, a lane for each element. Leaves that are trees of pieces end up
  // in those.
  void join_rows(const S* x) {
    const auto rows = static_cast<std::int64_t>(rows_.size());
    if (leaves_.length > lanes_) {
      for (std::int64_t row = 0; row < rows; ++row) {
        add_long_runs(x + rows_[static_cast<std::size_t>(row)], row == 0);
      }
    } else if (rows == 0) {
      add_rows(x);
    } else {
      halve_first(x, rows);
    }
  }

  // Rows that have lanes of their own each are halved until there is one.
  void halve_first(const S* x, std::int64_t rows) {
    const auto covering =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
    const std::int64_t half = std::max<std::int64_t>(covering / 2, 1);
    for (std::int64_t r = 0; r < half; ++r) {
      T* const lanes = lanes_of_.data() + r * width_;
      const S* const row = x + rows_[static_cast<std::size_t>(r)];
      if (r + half < rows) {
        const S* const other = x + rows_[static_cast<std::size_t>(r + half)];
        make_row<S>(width_, lanes, [row, other](std::int64_t j, auto zero) {
          using V = decltype(zero);
          return mtf::joined<Op>(widened<V>(row + j), widened<V>(other + j));
        });
      } else {
        take_row(row, width_, lanes);
      }
    }
    halve_rows(half);
  }

  // Of a row, runs of some times all lanes.
  void add_long_runs(const S* x, bool is_first) {
    T* lanes = lanes_of_.data();
    for (std::int64_t leaf = 0; leaf < leaves_.count; ++leaf, lanes += kReduceLanes) {
      if (is_first) {
        take_row(x, kReduceLanes, lanes);
      }
      add_run<Op>(x + (is_first ? kReduceLanes : 0), x + leaves_.length, lanes);
      x += leaves_.length;
    }
  }

  // Leaves to one element each, and then to those that are joined in registers.
  T join_all(const T* row) {
    if (leaves_.count <= kMostJoined) {
      return join_(row);
    }
    std::int64_t length = lanes_;
    for (std::int64_t elements = width_; elements > kMostJoined; elements /= 2) {
      join_halves_of_leaves<Op>(row, elements, length, lanes_of_.data());
      length = std::max<std::int64_t>(length / 2, 1);
      row = lanes_of_.data();
    }
    return join_(row);
  }

  // Rows whose runs begin at the same lane are added to each other, many at once where rows lie
  // behind each other; then they are halved.
  void add_rows(const S* x) {
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
        const std::int64_t lane = row & (kinds_ - 1);  // a division would take long
        const std::int64_t together =
            last.in == width_ ? std::min(kinds_ - lane, last.extent - i) : 1;
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
    T* lanes = lanes_of_.data() + (row & (kinds_ - 1)) * width_;
    if (row < kinds_) {  // the identity is joined to what all come to, which has the same bits
      take_row(x, elements, lanes);
    } else {
      accumulate<Op>(x, elements, lanes);
    }
  }

  void halve_rows(std::int64_t rows) {
    const std::int64_t used = std::min(kinds_, rows);
    for (std::int64_t half = kinds_ / 2; half > 0; half /= 2) {
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
  std::int64_t lanes_;              // of a leaf, in a row
  std::int64_t width_;              // of a row
  std::int64_t kinds_;              // of rows, by the lane at which their runs begin
  std::vector<std::int64_t> rows_;  // where they are, unless they are added to each other
  bool is_plain_ = false;           // one row, which is joined as it is
  JoinRow<T> join_;
  alignas(64) std::array<T, kRowRoom> lanes_of_;  // of rows, kind by kind
  std::vector<PieceTree<Op, T>> pieces_;          // of each leaf, where these have several
};

}  // namespace mtf
