// Lines that lie next to each other in memory are done together, a few at a time, so that the state
// of all of them stays in registers and cache.

#include "runtime/kernels/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/vector_math.h"

namespace mtf {
namespace {

constexpr std::size_t kTile = 64;  // lines at a time

// The number of lines of a tile: fixed, so that one line is kept in registers, or counted.
struct OneLine {
  static constexpr std::size_t kMost = 1;
  static constexpr std::size_t count() { return 1; }
};
struct Lines {
  static constexpr std::size_t kMost = kTile;
  std::size_t number;
  [[nodiscard]] std::size_t count() const { return number; }
};

// ---- ways to join ------------------------------------------------------------------------------

// What is known of some lines, number by number.
template <typename T, std::size_t kWidth, typename N>
using Known = std::array<std::array<T, N::kMost>, kWidth>;

template <template <typename> typename Op, typename T>
struct OneNumber {
  using Type = T;
  static constexpr std::size_t kWidth = 1;
  static constexpr std::size_t kValue = 0;  // the number that the result has
  static T nothing() { return Op<T>::identity(); }
  template <typename N>
  void join(const Known<T, 1, N>& before, const Known<T, 1, N>& behind, N lines,
            Known<T, 1, N>& out) const {
    for (std::size_t i = 0; i < lines.count(); ++i) {
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
  Isa isa;
  template <typename N>
  void join(const Known<T, 1, N>& before, const Known<T, 1, N>& behind, N lines,
            Known<T, 1, N>& out) const {
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
struct Recurrence {
  using Type = T;
  static constexpr std::size_t kWidth = 2;
  static constexpr std::size_t kValue = 1;
  static T nothing() { return T(0); }
  template <typename N>
  void join(const Known<T, 2, N>& before, const Known<T, 2, N>& behind, N lines,
            Known<T, 2, N>& out) const {
    for (std::size_t i = 0; i < lines.count(); ++i) {
      const T a = behind[0][i];
      out[1][i] = a * before[1][i] + behind[1][i];
      out[0][i] = before[0][i] * a;
    }
  }
};

// Calls `f` with the way to join, which exists for the type.
template <typename T, typename F>
void with_way(Combine combine, Isa isa, F&& f) {
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
    combine == Combine::kRecurrence ? f(Recurrence<T>()) : f(LogSumExp<T>{.isa = isa});
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

template <typename Way, typename N>
class Tile {
 public:
  using T = typename Way::Type;
  using State = Known<T, Way::kWidth, N>;

  // `in`: the first element of the first line, per operand; `out` null: the digest alone is wanted.
  Tile(const Way& way, const Rows& rows, std::span<const T* const> in, T* out, N lines)
      : way_(way), rows_(rows), out_(out), lines_(lines) {
    std::ranges::copy(in, in_.begin());
  }

  // `before`: of all that comes before the slice, null if nothing does.
  void run(const State* before, State& all) { run(0, rows_.blocks, before, all); }

 private:
  void run(std::int64_t begin, std::int64_t end, const State* before, State& all) {
    if (end - begin == 1) {
      if (out_ == nullptr) {
        block<Writes::kNothing>(begin, before, all);
      } else if (rows_.exclusive) {
        block<Writes::kBefore>(begin, before, all);
      } else {
        block<Writes::kSoFar>(begin, before, all);
      }
      return;
    }
    const std::int64_t middle = begin + tree_split(end - begin);
    run(begin, middle, before, all);
    State left = all;
    if (before != nullptr) {
      way_.join(*before, all, lines_, left);
    }
    State right;
    run(middle, end, &left, right);
    way_.join(all, right, lines_, all);
  }

  enum class Writes : std::uint8_t { kNothing, kBefore, kSoFar };  // of each element

  template <Writes kWrites>
  void block(std::int64_t number, const State* before, State& all) {
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
      for (std::size_t i = 0; i < lines_.count(); ++i) {
        here[w][i] = row[i];
      }
    }
  }

  // What comes before the block, joined to what it has so far.
  void write(std::int64_t k, const State* before, const State& so_far) {
    if (before == nullptr) {
      write(k, &so_far);
      return;
    }
    State both;
    way_.join(*before, so_far, lines_, both);
    write(k, &both);
  }
  void write(std::int64_t k, const State* state) {
    T* row = out_ + k * rows_.step;
    for (std::size_t i = 0; i < lines_.count(); ++i) {
      row[i] = state == nullptr ? Way::nothing() : (*state)[Way::kValue][i];
    }
  }

  const Way& way_;
  Rows rows_;
  std::array<const T*, Way::kWidth> in_{};
  T* out_;
  N lines_;
};

// ---- digests: the numbers of each line lie together --------------------------------------------

template <typename Way, typename N>
void read_digest(const typename Way::Type* digest, N lines,
                 Known<typename Way::Type, Way::kWidth, N>& state) {
  for (std::size_t i = 0; i < lines.count() * Way::kWidth; ++i) {
    state[i % Way::kWidth][i / Way::kWidth] = digest[i];
  }
}

template <typename Way, typename N>
void write_digest(const Known<typename Way::Type, Way::kWidth, N>& state, N lines,
                  typename Way::Type* digest) {
  for (std::size_t i = 0; i < lines.count() * Way::kWidth; ++i) {
    digest[i] = state[i % Way::kWidth][i / Way::kWidth];
  }
}

template <typename Way>
void join_lines(const Way& way, std::int64_t lines, const typename Way::Type* before,
                const typename Way::Type* behind, typename Way::Type* out) {
  Known<typename Way::Type, Way::kWidth, Lines> x;
  Known<typename Way::Type, Way::kWidth, Lines> y;
  for (std::int64_t line = 0; line < lines; line += static_cast<std::int64_t>(kTile)) {
    const Lines some{
        static_cast<std::size_t>(std::min(lines - line, static_cast<std::int64_t>(kTile)))};
    const std::int64_t start = line * static_cast<std::int64_t>(Way::kWidth);
    read_digest<Way>(before + start, some, x);
    read_digest<Way>(behind + start, some, y);
    way.join(x, y, some, x);
    write_digest<Way>(x, some, out + start);
  }
}

// ---- one slice ---------------------------------------------------------------------------------

template <typename Way>
class Scan {
 public:
  using T = typename Way::Type;

  Scan(const Way& way, const KernelCall& call, bool exclusive) : way_(way), call_(call) {
    const std::size_t loop = digested_loop(call.space);
    const TensorView& x = call.in.front();
    const std::size_t over = dim_of(call.space.operands.front(), loop).value();
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
        const std::int64_t lines = std::min(inner_ - i, static_cast<std::int64_t>(kTile));
        if (lines == 1) {
          tile(o, i, OneLine{});
        } else {
          tile(o, i, Lines{static_cast<std::size_t>(lines)});
        }
      }
    }
  }

 private:
  template <typename N>
  void tile(std::int64_t outer, std::int64_t inner, N lines) {
    const std::int64_t start = outer * rows_.count * inner_ + first_ + inner;
    const std::int64_t digest = (outer * inner_ + inner) * static_cast<std::int64_t>(Way::kWidth);
    std::array<const T*, Way::kWidth> in{};
    for (std::size_t w = 0; w < Way::kWidth; ++w) {
      in[w] = static_cast<const T*>(call_.in[w].data) + start;
    }
    const bool tells = call_.part == CallPart::kDigest;
    const bool told = call_.part == CallPart::kRest && has_before_;
    T* out = static_cast<T*>(call_.out.data);
    Known<T, Way::kWidth, N> before;
    if (told) {
      read_digest<Way>(static_cast<const T*>(call_.in.back().data) + digest, lines, before);
    }
    Known<T, Way::kWidth, N> all;
    Tile<Way, N>(way_, rows_, in, tells ? nullptr : out + start, lines)
        .run(told ? &before : nullptr, all);
    if (tells) {
      write_digest<Way>(all, lines, out + digest);
    }
  }

  const Way& way_;
  const KernelCall& call_;
  Rows rows_;
  std::int64_t outer_ = 1;
  std::int64_t inner_ = 1;
  std::int64_t first_ = 0;  // of a line, where the scan begins
  bool has_before_ = false;
};

}  // namespace

void join_digests(const DigestJoin& how, std::int64_t lines, const void* before, const void* behind,
                  void* out) {
  with_type(how.dtype, [&](auto zero) {
    using T = decltype(zero);
    with_way<T>(how.combine, how.isa, [&](const auto& way) {
      join_lines(way, lines, static_cast<const T*>(before), static_cast<const T*>(behind),
                 static_cast<T*>(out));
    });
  });
}

void scan_kernel(const KernelCall& call, bool exclusive) {
  with_type(call.in.front().dtype, [&](auto zero) {
    with_way<decltype(zero)>(call.space.combine, call.host.cpu().isa,
                             [&](const auto& way) { Scan(way, call, exclusive).run(); });
  });
}

}  // namespace mtf
