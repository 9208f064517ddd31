// Lines that lie next to each other in memory are done together, a few at a time, so that the state
// of all of them stays in registers and cache.

#include "runtime/kernels/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "runtime/kernels/cpu.h"
#include "runtime/kernels/reduce_kernel_ops.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/vector_math.h"

namespace mtf {
namespace {

constexpr std::size_t kTile = 64;  // lines at a time

// ---- ways to join ------------------------------------------------------------------------------

// What is known of some lines, number by number.
template <typename T, std::size_t kWidth>
using Known = std::array<std::array<T, kTile>, kWidth>;

template <template <typename> typename Op, typename T>
struct OneNumber {
  using Type = T;
  static constexpr std::size_t kWidth = 1;
  static constexpr std::size_t kValue = 0;  // the number that the result has
  static T nothing() { return Op<T>::identity(); }
  static void join(const Known<T, 1>& before, const Known<T, 1>& behind, std::size_t n,
                   Known<T, 1>& out) {
    for (std::size_t i = 0; i < n; ++i) {
      out[0][i] = Op<T>::apply(before[0][i], behind[0][i]);
    }
  }
};

// log(exp(x) + exp(y)) = max + log(1 + exp(-|x - y|)).
template <typename T>
struct LogSumExp {
  using Type = T;
  static constexpr std::size_t kWidth = 1;
  static constexpr std::size_t kValue = 0;
  static T nothing() { return -std::numeric_limits<T>::infinity(); }
  static void join(const Known<T, 1>& before, const Known<T, 1>& behind, std::size_t n,
                   Known<T, 1>& out) {
    static const Isa isa = host_isa();
    std::array<T, kTile> rest;
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
struct Recurrence {
  using Type = T;
  static constexpr std::size_t kWidth = 2;
  static constexpr std::size_t kValue = 1;
  static T nothing() { return T(0); }
  static void join(const Known<T, 2>& before, const Known<T, 2>& behind, std::size_t n,
                   Known<T, 2>& out) {
    for (std::size_t i = 0; i < n; ++i) {
      const T a = behind[0][i];
      out[1][i] = a * before[1][i] + behind[1][i];
      out[0][i] = before[0][i] * a;
    }
  }
};

// Calls `f` with the way to join, which exists for the type.
template <typename T, typename F>
void with_way(Combine combine, F&& f) {
  switch (combine) {
    case Combine::kSum:
      return f(OneNumber<Sum, T>());
    case Combine::kProd:
      return f(OneNumber<Prod, T>());
    case Combine::kMax:
      return f(OneNumber<Max, T>());
    case Combine::kMin:
      return f(OneNumber<Min, T>());
    case Combine::kLogSumExp:
    case Combine::kRecurrence:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    combine == Combine::kRecurrence ? f(Recurrence<T>()) : f(LogSumExp<T>());
  }
}

// ---- one tile of lines -------------------------------------------------------------------------

// Rows of a slice: element k of each line that is scanned lies `step` behind element k - 1.
struct Rows {
  std::int64_t count = 0;   // of elements of a line
  std::int64_t blocks = 1;  // divides the count
  std::int64_t step = 0;    // negative: from the end
  bool exclusive = false;
};

template <typename Way>
class Tile {
 public:
  using T = typename Way::Type;
  using State = Known<T, Way::kWidth>;

  // `in`: the first element of the first line, per operand; `out` null: the digest alone is wanted.
  Tile(const Rows& rows, std::span<const T* const> in, T* out, std::size_t lines)
      : rows_(rows), out_(out), lines_(lines) {
    std::ranges::copy(in, in_.begin());
  }

  // `before`: of all that comes before the slice, null if nothing does.
  void run(const State* before, State& all) { run(0, rows_.blocks, before, all); }

 private:
  void run(std::int64_t begin, std::int64_t end, const State* before, State& all) {
    if (end - begin == 1) {
      lines_ == 1 ? block<1>(begin, before, all) : block<0>(begin, before, all);
      return;
    }
    const std::int64_t middle = begin + tree_split(end - begin);
    run(begin, middle, before, all);
    State left = all;
    if (before != nullptr) {
      Way::join(*before, all, lines_, left);
    }
    State right;
    run(middle, end, &left, right);
    Way::join(all, right, lines_, all);
  }

  // kLines: known at compile time, 0: not.
  template <std::size_t kLines>
  void block(std::int64_t number, const State* before, State& all) {
    const std::size_t n = kLines == 0 ? lines_ : kLines;
    const std::int64_t length = rows_.count / rows_.blocks;
    State here;
    State seen;
    for (std::int64_t k = number * length; k < (number + 1) * length; ++k) {
      const bool first = k == number * length;
      if (rows_.exclusive && out_ != nullptr) {
        leave(k, first ? before : joined(before, all, n, seen), n);
      }
      load(k, n, here);
      if (first) {
        all = here;
      } else {
        Way::join(all, here, n, all);
      }
      if (!rows_.exclusive && out_ != nullptr) {
        leave(k, joined(before, all, n, seen), n);
      }
    }
  }

  static const State* joined(const State* before, const State& all, std::size_t n, State& seen) {
    if (before == nullptr) {
      return &all;
    }
    Way::join(*before, all, n, seen);
    return &seen;
  }

  void load(std::int64_t k, std::size_t n, State& here) const {
    for (std::size_t w = 0; w < Way::kWidth; ++w) {
      const T* row = in_[w] + k * rows_.step;
      for (std::size_t i = 0; i < n; ++i) {
        here[w][i] = row[i];
      }
    }
  }

  void leave(std::int64_t k, const State* state, std::size_t n) {
    T* row = out_ + k * rows_.step;
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = state == nullptr ? Way::nothing() : (*state)[Way::kValue][i];
    }
  }

  Rows rows_;
  std::array<const T*, Way::kWidth> in_{};
  T* out_;
  std::size_t lines_;
};

// ---- one slice ---------------------------------------------------------------------------------

template <typename Way>
class Scan {
 public:
  using T = typename Way::Type;
  using State = Known<T, Way::kWidth>;

  Scan(const KernelCall& call, bool exclusive) : call_(call) {
    const std::size_t loop = digested_loop(call.space);
    const TensorView& x = call.in.front();
    const std::size_t over = dim_of(call.space.operands.front(), loop);
    const LoopShare& share = call.shares[loop];
    const bool from_end = call.space.digest->from_end;
    const std::int64_t size = call.space.loops[loop].size;
    has_before_ = from_end ? share.offset + share.extent < size : share.offset > 0;
    for (std::size_t d = over + 1; d < x.shape.rank(); ++d) {
      inner_ *= x.shape[d].size;
    }
    for (std::size_t d = 0; d < over; ++d) {
      outer_ *= x.shape[d].size;
    }
    rows_.count = x.shape[over].size;
    rows_.blocks = call.blocks(loop);
    if (rows_.count % rows_.blocks != 0) {
      rows_.blocks = 1;
    }
    rows_.step = from_end ? -inner_ : inner_;
    rows_.exclusive = exclusive;
    first_ = from_end ? (rows_.count - 1) * inner_ : 0;
  }

  void run() {
    if (rows_.count == 0) {
      if (call_.part == CallPart::kDigest) {
        std::ranges::fill(elements<T>(call_.out), T(0));
      }
      return;
    }
    for (std::int64_t o = 0; o < outer_; ++o) {
      for (std::int64_t i = 0; i < inner_; i += static_cast<std::int64_t>(kTile)) {
        tile(o, i,
             static_cast<std::size_t>(std::min(inner_ - i, static_cast<std::int64_t>(kTile))));
      }
    }
  }

 private:
  static std::size_t dim_of(const DimMap& map, std::size_t loop) {
    const auto found = std::ranges::find(map, std::vector{loop});
    return static_cast<std::size_t>(found - map.begin());
  }

  void tile(std::int64_t outer, std::int64_t inner, std::size_t lines) {
    const std::int64_t start = outer * rows_.count * inner_ + first_ + inner;
    const std::int64_t line = outer * inner_ + inner;
    std::array<const T*, Way::kWidth> in{};
    for (std::size_t w = 0; w < Way::kWidth; ++w) {
      in[w] = static_cast<const T*>(call_.in[w].data) + start;
    }
    const bool tells = call_.part == CallPart::kDigest;
    T* out = tells ? nullptr : static_cast<T*>(call_.out.data) + start;
    State before;
    if (call_.part == CallPart::kRest && has_before_) {
      spread(static_cast<const T*>(call_.in.back().data), line, lines, before);
    }
    State all;
    Tile<Way>(rows_, in, out, lines)
        .run(call_.part == CallPart::kRest && has_before_ ? &before : nullptr, all);
    if (tells) {
      gather(all, line, lines, static_cast<T*>(call_.out.data));
    }
  }

  // The numbers of each line lie together in a digest.
  static void spread(const T* digest, std::int64_t line, std::size_t lines, State& state) {
    const T* from = digest + line * static_cast<std::int64_t>(Way::kWidth);
    for (std::size_t i = 0; i < lines * Way::kWidth; ++i) {
      state[i % Way::kWidth][i / Way::kWidth] = from[i];
    }
  }
  static void gather(const State& state, std::int64_t line, std::size_t lines, T* digest) {
    T* to = digest + line * static_cast<std::int64_t>(Way::kWidth);
    for (std::size_t i = 0; i < lines * Way::kWidth; ++i) {
      to[i] = state[i % Way::kWidth][i / Way::kWidth];
    }
  }

  const KernelCall& call_;
  Rows rows_;
  std::int64_t outer_ = 1;
  std::int64_t inner_ = 1;
  std::int64_t first_ = 0;  // of a line, where the scan begins
  bool has_before_ = false;
};

template <typename Way>
void join_lines(std::int64_t lines, const void* before, const void* behind, void* out) {
  using T = typename Way::Type;
  constexpr auto kWidth = static_cast<std::int64_t>(Way::kWidth);
  Known<T, Way::kWidth> x;
  Known<T, Way::kWidth> y;
  for (std::int64_t line = 0; line < lines; line += static_cast<std::int64_t>(kTile)) {
    const auto n =
        static_cast<std::size_t>(std::min(lines - line, static_cast<std::int64_t>(kTile)));
    for (std::size_t i = 0; i < n * Way::kWidth; ++i) {
      x[i % Way::kWidth][i / Way::kWidth] = (static_cast<const T*>(before) + line * kWidth)[i];
      y[i % Way::kWidth][i / Way::kWidth] = (static_cast<const T*>(behind) + line * kWidth)[i];
    }
    Way::join(x, y, n, x);
    for (std::size_t i = 0; i < n * Way::kWidth; ++i) {
      (static_cast<T*>(out) + line * kWidth)[i] = x[i % Way::kWidth][i / Way::kWidth];
    }
  }
}

}  // namespace

void join_digests(const DigestJoin& how, std::int64_t lines, const void* before, const void* behind,
                  void* out) {
  with_type(how.dtype, [&](auto zero) {
    with_way<decltype(zero)>(
        how.combine, [&](auto way) { join_lines<decltype(way)>(lines, before, behind, out); });
  });
}

void scan_kernel(const KernelCall& call, bool exclusive) {
  with_type(call.in.front().dtype, [&](auto zero) {
    with_way<decltype(zero)>(call.space.combine,
                             [&](auto way) { Scan<decltype(way)>(call, exclusive).run(); });
  });
}

}  // namespace mtf
