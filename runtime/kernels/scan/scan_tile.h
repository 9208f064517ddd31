// Lines of a scan that are done together: ways to join what is known of them, and a tile of
// lines, block by block.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/op.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/thread_team.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/vector_math.h"

namespace mtf {

inline constexpr std::size_t kScanTile = 64;  // lines at a time

// The number of lines of a tile: fixed, so that a few are kept in registers, or counted.
template <std::size_t kCount>
struct FewScanLines {
  static constexpr std::size_t kMost = kCount;
  static constexpr std::size_t count() { return kCount; }
};
struct ScanLines {
  static constexpr std::size_t kMost = kScanTile;
  std::size_t number;
  [[nodiscard]] std::size_t count() const { return number; }
};

// Calls `f` with the number of lines of a tile, which is a power of two where it is below 16.
template <typename F>
void with_scan_lines(std::int64_t count, F&& f) {
  switch (count) {
    case 1:
      return f(FewScanLines<1>());
    case 2:
      return f(FewScanLines<2>());
    case 4:
      return f(FewScanLines<4>());
    case 8:
      return f(FewScanLines<8>());
    default:
      return f(ScanLines{static_cast<std::size_t>(count)});
  }
}

// ---- ways to join ------------------------------------------------------------------------------

// Of lines that lie apart, element by element, some are done together as well: many short ones,
// which stay in the nearest cache so, and fewer of those for which it is worth reading them side by
// side, up to so many elements (a way's kLongest).
inline constexpr std::int64_t kShortScan = 64;
inline constexpr std::int64_t kApartAtOnce = 16;

// What is known of some lines, number by number.
template <typename T, std::size_t kWidth, typename N>
using ScanState = std::array<std::array<T, N::kMost>, kWidth>;

template <template <typename> typename Op, typename T>
struct JoinNumbers {
  using Type = T;
  static constexpr std::size_t kWidth = 1;
  static constexpr std::size_t kValue = 0;  // the number that the result has
  static constexpr std::int64_t kLongest =
      std::is_same_v<Op<T>, Max<T>> || std::is_same_v<Op<T>, Min<T>> ? 512 : 0;
  static T nothing() { return Op<T>::identity(); }
  template <typename N>
  void join(const ScanState<T, 1, N>& before, const ScanState<T, 1, N>& behind, N lines,
            ScanState<T, 1, N>& out) const {
    for (std::size_t i = 0; i < lines.count(); ++i) {
      out[0][i] = Op<T>::apply(before[0][i], behind[0][i]);
    }
  }
};

// log(exp(x) + exp(y)) = max + log(1 + exp(-|x - y|)).
template <typename T>
struct JoinLogSumExp {
  using Type = T;
  static constexpr std::size_t kWidth = 1;
  static constexpr std::size_t kValue = 0;
  static constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  static T nothing() { return -std::numeric_limits<T>::infinity(); }
  Isa isa;
  template <typename N>
  void join(const ScanState<T, 1, N>& before, const ScanState<T, 1, N>& behind, N lines,
            ScanState<T, 1, N>& out) const {
    const std::size_t n = lines.count();
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): all that is read is written here
    std::array<T, N::kMost> rest;
    for (std::size_t i = 0; i < n; ++i) {
      const T x = before[0][i];
      const T y = behind[0][i];
      rest[i] = x == y ? T(0) : -std::fabs(x - y);
    }
    vector_math(MathFn::kSoftplus, std::span<const T>(rest).first(n), isa,
                std::span<T>(rest).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      out[0][i] = (before[0][i] > behind[0][i] ? before[0][i] : behind[0][i]) + rest[i];
    }
  }
};

// y -> a y + b, the first one first.
template <typename T>
struct JoinRecurrence {
  using Type = T;
  static constexpr std::size_t kWidth = 2;
  static constexpr std::size_t kValue = 1;
  static constexpr std::int64_t kLongest = 0;
  static T nothing() { return T(0); }
  template <typename N>
  void join(const ScanState<T, 2, N>& before, const ScanState<T, 2, N>& behind, N lines,
            ScanState<T, 2, N>& out) const {
    for (std::size_t i = 0; i < lines.count(); ++i) {
      const T a = behind[0][i];
      out[1][i] = a * before[1][i] + behind[1][i];
      out[0][i] = before[0][i] * a;
    }
  }
};

// Calls `f` with the way to join numbers of the type, which is a `joined_dtype`.
template <typename T, typename F>
void with_scan_way(Combine combine, Isa isa, F&& f) {
  switch (combine) {
    case Combine::kSum:
      return f(JoinNumbers<Sum, T>());
    case Combine::kProd:
      return f(JoinNumbers<Prod, T>());
    case Combine::kMax:
      return f(JoinNumbers<Max, T>());
    case Combine::kMin:
      return f(JoinNumbers<Min, T>());
    case Combine::kLogSumExp:
    case Combine::kRecurrence:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    combine == Combine::kRecurrence ? f(JoinRecurrence<T>()) : f(JoinLogSumExp<T>{.isa = isa});
  }
}

// ---- one tile of lines -------------------------------------------------------------------------

// Rows of a slice: element k of each line that is scanned lies `step` behind element k - 1.
struct ScanRows {
  std::int64_t count = 0;   // of elements of a line
  std::int64_t blocks = 1;  // divides the count
  std::int64_t step = 0;    // negative: from the end
  std::int64_t apart = 1;   // elements from one line to the next
  bool exclusive = false;
};

// Of elements T, which are joined as the way has them.
template <typename T, typename Way, typename N>
class ScanTile {
 public:
  using State = ScanState<typename Way::Type, Way::kWidth, N>;

  // `in`: the first element of the first line, per operand; `out` null: the digest alone is wanted.
  ScanTile(const Way& way, const ScanRows& rows, std::span<const T* const> in, T* out, N lines)
      : way_(way), rows_(rows), out_(out), lines_(lines) {
    std::ranges::copy(in, in_.begin());
  }

  // `before`: of all that comes before the slice, null if nothing does.
  void run(const State* before, State& all) const {
    const auto visit = [this](std::int64_t block, const State* so_far, State& own) {
      run_block(block, so_far, own);
    };
    visit_blocks(0, rows_.blocks, before, all, visit);
  }

  // The same, where threads have blocks: first what each block joins, then, with what is before it,
  // its elements.
  void run(const State* before, State& all, int threads) const {
    std::vector<State> joined(static_cast<std::size_t>(rows_.blocks));
    each_block(threads, [&](std::size_t block) {
      this->block<Writes::kNothing>(static_cast<std::int64_t>(block), nullptr, joined[block]);
    });
    std::vector<std::optional<State>> befores(joined.size());
    const auto visit = [&](std::int64_t number, const State* so_far, State& own) {
      const auto block = static_cast<std::size_t>(number);
      own = joined[block];
      befores[block] = so_far == nullptr ? std::nullopt : std::optional(*so_far);
    };
    visit_blocks(0, rows_.blocks, before, all, visit);
    if (out_ == nullptr) {
      return;
    }
    each_block(threads, [&](std::size_t block) {
      const std::optional<State>& so_far = befores[block];
      run_block(static_cast<std::int64_t>(block), so_far ? &*so_far : nullptr, joined[block]);
    });
  }

 private:
  template <typename F>
  void each_block(int threads, const F& f) const {
    run_in_parts(threads, rows_.blocks, [&f](Interval part) {
      for (std::int64_t block = part.begin; block < part.end(); ++block) {
        f(static_cast<std::size_t>(block));
      }
    });
  }

  // Calls visit(block, what is before it, what it joins), block by block; `all` of them is joined.
  template <typename Visit>
  void visit_blocks(std::int64_t begin, std::int64_t end, const State* before, State& all,
                    const Visit& visit) const {
    if (end - begin == 1) {
      return visit(begin, before, all);
    }
    const std::int64_t middle = begin + tree_split(end - begin);
    visit_blocks(begin, middle, before, all, visit);
    State left = all;
    if (before != nullptr) {
      way_.join(*before, all, lines_, left);
    }
    State right;
    visit_blocks(middle, end, &left, right, visit);
    way_.join(all, right, lines_, all);
  }

  void run_block(std::int64_t number, const State* before, State& all) const {
    if (out_ == nullptr) {
      block<Writes::kNothing>(number, before, all);
    } else if (rows_.exclusive) {
      block<Writes::kBefore>(number, before, all);
    } else {
      block<Writes::kSoFar>(number, before, all);
    }
  }

  enum class Writes : std::uint8_t { kNothing, kBefore, kSoFar };  // of each element

  template <Writes kWrites>
  void block(std::int64_t number, const State* before, State& all) const {
    const std::int64_t length = rows_.count / rows_.blocks;
    const std::int64_t begin = number * length;
    State here;
    State so_far;  // a copy of `all` that nothing else points at
    load(begin, so_far);
    if constexpr (kWrites == Writes::kBefore) {
      write(begin, before);
    } else if constexpr (kWrites == Writes::kSoFar) {
      write(begin, before, so_far);
    }
    for (std::int64_t k = begin + 1; k < begin + length; ++k) {
      if constexpr (kWrites == Writes::kBefore) {
        write(k, before, so_far);
      }
      load(k, here);
      way_.join(so_far, here, lines_, so_far);
      if constexpr (kWrites == Writes::kSoFar) {
        write(k, before, so_far);
      }
    }
    all = so_far;
  }

  void load(std::int64_t k, State& here) const {
    for (std::size_t w = 0; w < Way::kWidth; ++w) {
      const T* row = in_[w] + k * rows_.step;
      each_line([&](std::size_t i, std::int64_t at) {
        here[w][i] = static_cast<typename Way::Type>(row[at]);
      });
    }
  }

  // What comes before the block, joined to what it has so far.
  void write(std::int64_t k, const State* before, const State& so_far) const {
    if (before == nullptr) {
      write(k, &so_far);
      return;
    }
    State both;
    way_.join(*before, so_far, lines_, both);
    write(k, &both);
  }
  void write(std::int64_t k, const State* state) const {
    T* row = out_ + k * rows_.step;
    each_line([&](std::size_t i, std::int64_t at) {
      row[at] = static_cast<T>(state == nullptr ? Way::nothing() : (*state)[Way::kValue][i]);
    });
  }

  // Calls f(number of the line, where its element is in a row).
  template <typename F>
  [[gnu::always_inline]] void each_line(const F& f) const {
    const auto count = static_cast<std::int64_t>(lines_.count());
    if (rows_.apart == 1) {
      for (std::int64_t i = 0; i < count; ++i) {
        f(static_cast<std::size_t>(i), i);
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      f(static_cast<std::size_t>(i), i * rows_.apart);
    }
  }

  const Way& way_;
  ScanRows rows_;
  std::array<const T*, Way::kWidth> in_{};
  T* out_;
  N lines_;
};

}  // namespace mtf
