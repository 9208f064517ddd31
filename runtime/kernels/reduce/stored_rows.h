// Rows of elements as they are stored: joined one by one, and where they are narrow floats, as many
// at a time as a register holds. From what widens f16 one by one the compiler makes no good
// vectors.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/vector_math/narrow_lanes.h"

namespace mtf {

// V is T, for one element, or WideLanes.
template <typename V, typename S>
[[gnu::always_inline]] inline V widened(const S* x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return static_cast<V>(*x);
  } else if constexpr (kHasNarrowLanes<S>) {
    return widened_lanes(x);
  } else {
    V lanes;
    std::memcpy(&lanes, x, sizeof(lanes));
    return lanes;
  }
}

template <typename Op, typename V>
[[gnu::always_inline]] inline V joined(const V& x, const V& y) {
  if constexpr (std::is_arithmetic_v<V>) {
    return Op::apply(x, y);
  } else {
    static_assert(std::is_same_v<Op, Sum<float>>);  // all that is asked of narrow elements
    return x + y;
  }
}

// Joined with the identity.
template <typename Op, typename V>
[[gnu::always_inline]] inline V begun(const V& x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return Op::apply(Op::identity(), x);
  } else {
    return joined<Op>(V{}, x);
  }
}

// A row of `count` results from what is stored as S: make(j, V{}) gives result j, as V, or that and
// those behind it. It may read them, and no others.
template <typename S, typename T, typename Make>
[[gnu::always_inline]] inline void make_row(std::int64_t count, T* out, const Make& make) {
  std::int64_t j = 0;
  if constexpr (kHasNarrowLanes<S>) {
    constexpr auto kLanes = static_cast<std::int64_t>(kNarrowLanes);
#pragma GCC unroll 4
    for (; j + kLanes <= count; j += kLanes) {
      const WideLanes made = make(j, WideLanes{});
      std::memcpy(out + j, &made, sizeof(made));
    }
  }
  for (; j < count; ++j) {
    out[j] = make(j, T{});
  }
}

// Combines elements with others, one with one.
template <typename Op, typename S, typename T>
void accumulate(const S* __restrict x, std::int64_t count, T* __restrict out) {
  make_row<S>(count, out, [x, out](std::int64_t j, auto zero) {
    using V = decltype(zero);
    return joined<Op>(widened<V>(out + j), widened<V>(x + j));
  });
}

// Asks for elements before they are read.
template <typename S>
[[gnu::always_inline]] inline void fetch(const S* from, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(S);
  for (std::int64_t j = 0; j < count; j += kLine) {
    __builtin_prefetch(from + j);
  }
}

// Joins runs of kReduceLanes elements, up to `end`, to as many lanes.
template <typename Op, typename S, typename T>
void accumulate_runs(const S* x, const S* end, T* lanes) {
  if constexpr (kHasNarrowLanes<S>) {
    static_assert(kReduceLanes == 2 * kNarrowLanes);
    T* const upper_lanes = lanes + kNarrowLanes;
    auto lower = widened<WideLanes>(lanes);  // both stay in registers
    auto upper = widened<WideLanes>(upper_lanes);
    for (; x != end; x += kReduceLanes) {
      lower = joined<Op>(lower, widened_lanes(x));
      upper = joined<Op>(upper, widened_lanes(x + kNarrowLanes));
    }
    std::memcpy(lanes, &lower, sizeof(lower));
    std::memcpy(upper_lanes, &upper, sizeof(upper));
  } else {
    for (; x != end; x += kReduceLanes) {
      accumulate<Op>(x, kReduceLanes, lanes);
    }
  }
}

}  // namespace mtf
