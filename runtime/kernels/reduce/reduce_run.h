// One leaf of a reduction whose elements lie side by side: lane l joins elements l, l + 16, … and
// then the lanes are halved. In the compiler's vectors, which have the bits of lanes one by one.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/vector_math/narrow_lanes.h"

namespace mtf {

// Lanes that a register holds; larger vectors would live in memory.
template <typename T>
inline constexpr std::size_t kTogether = std::min<std::size_t>(kReduceLanes, 32 / sizeof(T));

template <typename T>
struct VectorOf {
  // An alias loses the attribute. NOLINTNEXTLINE(modernize-use-using)
  typedef T Type __attribute__((vector_size(kTogether<T> * sizeof(T))));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

template <typename T>
struct UnsignedOf {
  using type = std::make_unsigned_t<T>;  // NOLINT(readability-identifier-naming): as in std
};

template <typename Op, typename V>
void take_farther(V& x, const V& y) {
  x = (Op::kIsLargest ? x > y : x < y) ? x : y;
}

// Sums, products, and extremes of whole numbers.
template <typename Op, typename T>
struct PlainLanes {
  static constexpr bool kWraps = std::is_integral_v<T> && !Op::kIsExtreme;
  using Lane = typename std::conditional_t<kWraps, UnsignedOf<T>, std::type_identity<T>>::type;

  Vector<Lane> all = Vector<Lane>{} + static_cast<Lane>(Op::identity());

  template <typename V>
  static void join(V& x, const V& y) {
    if constexpr (Op::kIsExtreme) {
      take_farther<Op>(x, y);
    } else if constexpr (std::is_same_v<Op, Sum<T>>) {
      x += y;
    } else {
      x *= y;
    }
  }
  void take(const T* x) {
    Vector<Lane> lanes;
    std::memcpy(&lanes, x, sizeof(lanes));
    join(all, lanes);
  }
  template <typename S>
  requires kHasNarrowLanes<S>
  void take(const S* x) { join(all, widened_lanes(x)); }
  [[nodiscard]] bool is_nan() const { return false; }
  [[nodiscard]] static T finished(Lane joined) { return static_cast<T>(joined); }
};

// Extremes of floats: as whole numbers in the same order, in which -0 is below 0. NaN is noted.
template <typename Op, typename T>
struct FloatExtreme {
  using Lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  Vector<Lane> all = Vector<Lane>{} + turned(std::bit_cast<Lane>(Op::identity()));
  Vector<Lane> nan = {};

  template <typename V>
  static V turned(const V& bits) {
    return bits ^ ((bits >> (8 * sizeof(Lane) - 1)) & std::numeric_limits<Lane>::max());
  }
  template <typename V>
  static void join(V& x, const V& y) {
    take_farther<Op>(x, y);
  }
  void take(const T* x) {
    Vector<T> numbers;
    std::memcpy(&numbers, x, sizeof(numbers));
    nan |= numbers != numbers;  // NOLINT(misc-redundant-expression)
    Vector<Lane> lanes;
    std::memcpy(&lanes, x, sizeof(lanes));
    join(all, turned(lanes));
  }
  [[nodiscard]] bool is_nan() const {
    Lane any = 0;
    for (std::size_t l = 0; l < kTogether<T>; ++l) {
      any |= nan[l];
    }
    return any != 0;
  }
  [[nodiscard]] static T finished(Lane joined) { return std::bit_cast<T>(turned(joined)); }
};

template <std::size_t kFrom, typename V, std::size_t... kLane>
auto lanes_from(const V& x, std::index_sequence<kLane...> /*lanes*/) {
  return __builtin_shufflevector(x, x, (kFrom + kLane)...);
}

// Lane l joined with lane l + half of them, until there is one. Not through memory, which would
// take longer than a block of a short row.
template <typename Lanes, typename V>
typename Lanes::Lane join_halves(const V& x) {
  constexpr std::size_t kHalf = sizeof(V) / sizeof(typename Lanes::Lane) / 2;
  if constexpr (kHalf == 1) {
    typename Lanes::Lane first = x[0];
    Lanes::join(first, typename Lanes::Lane{x[1]});
    return first;
  } else {
    auto lower = lanes_from<0>(x, std::make_index_sequence<kHalf>());
    Lanes::join(lower, lanes_from<kHalf>(x, std::make_index_sequence<kHalf>()));
    return join_halves<Lanes>(lower);
  }
}

// What `n` adjacent elements, widened, come to.
template <typename Op, typename T, typename S>
[[nodiscard]] T reduce_run(const S* x, std::int64_t n) {
  using Lanes = std::conditional_t<Op::kIsExtreme && std::is_floating_point_v<T>,
                                   FloatExtreme<Op, T>, PlainLanes<Op, T>>;
  constexpr std::size_t kVectors = kReduceLanes / kTogether<T>;
  std::array<Lanes, kVectors> lanes;
  const auto take = [&lanes](const auto* from) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      lanes[v].take(from + v * kTogether<T>);
    }
  };
  const auto take_stored = [&take](const S* from) {
    if constexpr (std::is_same_v<S, T> || kHasNarrowLanes<S>) {
      take(from);
    } else {
      std::array<T, kReduceLanes> wide{};
      std::transform(from, from + kReduceLanes, wide.begin(),
                     [](S element) { return static_cast<T>(element); });
      take(wide.data());
    }
  };
  std::int64_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
    take_stored(x + i);
  }
  if (i < n) {  // joining the identity changes no lane
    std::array<T, kReduceLanes> last{};
    last.fill(Op::identity());
    std::transform(x + i, x + n, last.begin(), [](S element) { return static_cast<T>(element); });
    take(last.data());
  }
  for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) {
      Lanes::join(lanes[v].all, lanes[v + half].all);
    }
  }
  const auto joined = join_halves<Lanes>(lanes[0].all);
  const bool is_nan = std::ranges::any_of(lanes, &Lanes::is_nan);
  return is_nan ? std::numeric_limits<T>::quiet_NaN() : Lanes::finished(joined);
}

}  // namespace mtf
