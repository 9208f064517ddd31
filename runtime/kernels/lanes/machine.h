// The instructions, for any width of registers: V has the vectors, and what has no operator.
//
// An instruction takes the registers as arguments and ends with a call of the next one, which the
// compiler makes a jump. V is local to the file of its instruction set, so all of this is, too.

#pragma once

#include <cstring>
#include <utility>

#include "runtime/kernels/lanes/machine_set.h"

namespace mtf {

// ---- the arithmetic of one register ----------------------------------------------------------

template <typename V>
struct LaneMath {
  using F = typename V::Floats;
  using W = typename V::Words;

  static W words(F x) { return reinterpret_cast<W>(x); }
  static F floats(W x) { return reinterpret_cast<F>(x); }
  template <typename Mask>
  static F flag(Mask mask) {
    return reinterpret_cast<F>(mask);
  }

  // As minimum and maximum of stdlib/ops: a NaN wins, and -0 is below 0.
  template <typename Mask>
  static F chosen(F a, F b, Mask first, W tied) {
    const F won = first ? a : b;
    const F ordered = (a == b) ? floats(tied) : won;
    const F sum = a + b;
    return (a == a) & (b == b) ? ordered : sum;  // NOLINT(misc-redundant-expression): of NaN
  }

  // Words whose upper halves are the nearest bf16.
  static W nearest(F x) {
    const W from = words(x);
    const W near = from + 0x7FFFU + ((from >> 16U) & 1U);
    const W quiet = from | 0x400000U;
    return x == x ? near : quiet;  // NOLINT(misc-redundant-expression): of NaN
  }

  static F rounded(F x) {
    if constexpr (requires { V::rounded_halves(x); }) {
      return floats(__builtin_convertvector(V::rounded_halves(x), W) << 16U);
    } else {
      return floats(nearest(x) & 0xFFFF0000U);
    }
  }

  static typename V::Halves rounded_halves(F x) {
    if constexpr (requires { V::rounded_halves(x); }) {
      return V::rounded_halves(x);
    } else {
      return __builtin_convertvector(nearest(x) >> 16U, typename V::Halves);
    }
  }

  template <LaneFn kFn>
  static F unary(F x) {
    const F one = V::spread(1);
    switch (kFn) {
      case LaneFn::kNegate:
        return -x;
      case LaneFn::kMagnitude:
        return floats(words(x) & 0x7FFFFFFFU);
      case LaneFn::kSquare:
        return x * x;
      case LaneFn::kRoot:
        return V::sqrt(x);
      case LaneFn::kReciprocalRoot:
        return one / V::sqrt(x);
      case LaneFn::kReciprocal:
        return one / x;
      case LaneFn::kRectify:
        return x < 0.0F ? F{} : x;
      default:
        return x;
    }
  }

  template <LaneFn kFn>
  static F binary(F a, F b) {
    switch (kFn) {
      case LaneFn::kAdd:
        return a + b;
      case LaneFn::kSubtract:
        return a - b;
      case LaneFn::kMultiply:
        return a * b;
      case LaneFn::kDivide:
        return a / b;
      case LaneFn::kSmaller:
        return chosen(a, b, a < b, words(a) | words(b));
      case LaneFn::kLarger:
        return chosen(a, b, a > b, words(a) & words(b));
      case LaneFn::kIsEqual:
        return flag(a == b);
      case LaneFn::kIsUnequal:
        return flag(a != b);
      case LaneFn::kIsLess:
        return flag(a < b);
      case LaneFn::kIsAtMost:
        return flag(a <= b);
      case LaneFn::kIsGreater:
        return flag(a > b);
      case LaneFn::kIsAtLeast:
        return flag(a >= b);
      default:
        return a;
    }
  }
};

// ---- memory ------------------------------------------------------------------------------------

// Memory is asked for so many bytes ahead: past the end of a page, and of a band's row, the
// hardware has to find each stream anew. On a Zen 5 with cold caches sums over rows took 1.3 to 1.6
// times as long without it, AdamW 1.3 times; from 2,048 to 8,192 bytes are alike. The
// places of narrow results are asked for, too, where mostly nothing was read, as in working copies:
// AdamW with these takes 0.9 to 0.95 of its time.
inline constexpr std::size_t kLaneAhead = 3072;
inline constexpr std::size_t kLaneLine = 64;

// Of register `kIndex`, in a group that begins at element `at`.
template <typename V, LaneKind kKind, std::size_t kIndex>
struct LaneMemory {
  using F = typename V::Floats;
  using W = typename V::Words;
  static constexpr std::size_t kFirst = kIndex * V::kLanes;

  template <std::size_t kBytes, bool kWritten = false>
  static void prefetch(const std::byte* place, std::size_t at) {
    if constexpr (kFirst * kBytes % kLaneLine == 0) {
      __builtin_prefetch(place + (at + kFirst) * kBytes + kLaneAhead, kWritten ? 1 : 0);
    }
  }

  template <typename T>
  static T from(const std::byte* memory) {
    T value;
    std::memcpy(&value, memory, sizeof(value));
    return value;
  }

  static F load(const std::byte* place, std::size_t at) {
    if constexpr (kKind == LaneKind::kF32) {
      prefetch<sizeof(float)>(place, at);
      return from<F>(place + (at + kFirst) * sizeof(float));
    } else if constexpr (kKind == LaneKind::kBF16) {
      prefetch<2>(place, at);
      const auto halves = from<typename V::Halves>(place + (at + kFirst) * 2);
      return reinterpret_cast<F>(__builtin_convertvector(halves, W) << 16U);
    } else if constexpr (kKind == LaneKind::kBool) {
      const auto bytes = from<typename V::Bytes>(place + at + kFirst);
      return reinterpret_cast<F>(__builtin_convertvector(bytes, W) != 0U);
    } else if constexpr (kKind == LaneKind::kSlot) {
      return from<F>(place + kFirst * sizeof(float));
    } else {
      return V::spread(from<float>(place));
    }
  }

  static void store(F value, std::byte* place, std::size_t at) {
    if constexpr (kKind == LaneKind::kF32) {
      std::memcpy(place + (at + kFirst) * sizeof(float), &value, sizeof(value));
    } else if constexpr (kKind == LaneKind::kBF16) {
      store_halves(__builtin_convertvector(reinterpret_cast<W>(value) >> 16U, typename V::Halves),
                   place, at);
    } else if constexpr (kKind == LaneKind::kBool) {
      const auto bytes =
          __builtin_convertvector(reinterpret_cast<W>(value) & 1U, typename V::Bytes);
      std::memcpy(place + at + kFirst, &bytes, sizeof(bytes));
    } else {
      std::memcpy(place + kFirst * sizeof(float), &value, sizeof(value));
    }
  }

  static void store_halves(const typename V::Halves& halves, std::byte* place, std::size_t at) {
    prefetch<2, true>(place, at);
    std::memcpy(place + (at + kFirst) * 2, &halves, sizeof(halves));
  }
};

// ---- instructions ------------------------------------------------------------------------------

// Places are looked up once: a store might change them, for all that the compiler knows.
struct LaneContext {
  LaneContext(const LaneInstruction* now, std::byte* const* places, std::size_t element)
      : place(places[now->place]), second(places[now->second]), at(element) {}

  std::byte* place;
  std::byte* second;
  std::size_t at;
};

template <typename V, LaneKind kKind>
struct LaneLoad {
  template <std::size_t kIndex, typename F>
  static F of(F /*value*/, const LaneContext& context) {
    return LaneMemory<V, kKind, kIndex>::load(context.place, context.at);
  }
};

template <typename V, LaneKind kKind>
struct LaneStore {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& context) {
    LaneMemory<V, kKind, kIndex>::store(value, context.place, context.at);
    return value;
  }
};

// To bf16, where no later instruction reads the registers: they keep what was not rounded.
template <typename V>
struct LaneStoreRounded {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& context) {
    LaneMemory<V, LaneKind::kBF16, kIndex>::store_halves(LaneMath<V>::rounded_halves(value),
                                                         context.place, context.at);
    return value;
  }
};

template <typename V>
struct LaneRound {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& /*context*/) {
    return LaneMath<V>::rounded(value);
  }
};

template <typename V, LaneFn kFn>
struct LaneUnary {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& /*context*/) {
    return LaneMath<V>::template unary<kFn>(value);
  }
};

template <typename V, LaneFn kFn, LaneKind kKind, bool kReversed>
struct LaneBinary {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& context) {
    const F other = LaneMemory<V, kKind, kIndex>::load(context.place, context.at);
    return kReversed ? LaneMath<V>::template binary<kFn>(other, value)
                     : LaneMath<V>::template binary<kFn>(value, other);
  }
};

template <typename V, LaneKind kFirst, LaneKind kSecond>
struct LaneChoose {
  template <std::size_t kIndex, typename F>
  static F of(F value, const LaneContext& context) {
    const F yes = LaneMemory<V, kFirst, kIndex>::load(context.place, context.at);
    const F no = LaneMemory<V, kSecond, kIndex>::load(context.second, context.at);
    return LaneMath<V>::words(value) != 0U ? yes : no;
  }
};

// ---- the machine -------------------------------------------------------------------------------

template <typename V, std::size_t... kIndex>
struct LaneMachine {
  using F = typename V::Floats;
  template <std::size_t>
  using Register = F;
  using Code = void (*)(const LaneInstruction*, std::byte* const*, std::size_t,
                        Register<kIndex>...);

  // Memory is read in the order of the registers, which neither arguments nor the compiler would
  // keep: the hardware sees a stream only where lines are read upwards.
  template <typename Step, std::size_t kOne>
  [[gnu::always_inline]] static F in_order(F value, LaneContext& context) {
    const F done = Step::template of<kOne>(value, context);
    asm("" : "+r"(context.place) : "v"(done));
    asm("" : "+r"(context.second) : "v"(done));  // is looked up where it is used alone
    return done;
  }

  template <typename Step>
  static void step(const LaneInstruction* now, std::byte* const* places, std::size_t at,
                   Register<kIndex>... value) {
    const auto next = reinterpret_cast<Code>(now[1].code);
    LaneContext context(now, places, at);
    const F done[] = {in_order<Step, kIndex>(value, context)...};
    return next(now + 1, places, at, done[kIndex]...);
  }

  // One sum tells of all registers: with something that is not finite, it is not finite. Another
  // sum may become too large, which costs whoever looks closer some time.
  static void check(const LaneInstruction* now, std::byte* const* places, std::size_t at,
                    Register<kIndex>... value) {
    if (V::has_infinite((value + ...))) [[unlikely]] {
      *places[now->place] = std::byte{1};
    }
    const auto next = reinterpret_cast<Code>(now[1].code);
    return next(now + 1, places, at, value...);
  }

  static void end(const LaneInstruction* /*now*/, std::byte* const* /*places*/, std::size_t /*at*/,
                  Register<kIndex>... /*value*/) {}

  static void run(const LaneInstruction* code, std::byte* const* places, std::size_t begin,
                  std::size_t n) {
    const auto first = reinterpret_cast<Code>(code->code);
    for (std::size_t at = begin; at < n; at += sizeof...(kIndex) * V::kLanes) {
      first(code, places, at, Register<kIndex>{}...);
    }
  }

  template <typename Step>
  static LaneCode code() {
    return reinterpret_cast<LaneCode>(&step<Step>);
  }

  template <LaneFn kFn, bool kReversed, std::size_t... kKind>
  static LaneSet::PerKind<LaneCode> binaries(std::index_sequence<kKind...> /*kinds*/) {
    return {code<LaneBinary<V, kFn, static_cast<LaneKind>(kKind), kReversed>>()...};
  }

  template <LaneKind kFirst, std::size_t... kKind>
  static LaneSet::PerKind<LaneCode> choices(std::index_sequence<kKind...> /*kinds*/) {
    return {code<LaneChoose<V, kFirst, static_cast<LaneKind>(kKind)>>()...};
  }

  template <std::size_t... kKind, std::size_t... kFn>
  static LaneSet set(std::index_sequence<kKind...> kinds, std::index_sequence<kFn...> /*fns*/) {
    LaneSet set;
    set.load = {code<LaneLoad<V, static_cast<LaneKind>(kKind)>>()...};
    set.store = {code<LaneStore<V, static_cast<LaneKind>(kKind)>>()...};
    set.round = code<LaneRound<V>>();
    set.store_rounded = code<LaneStoreRounded<V>>();
    set.check = reinterpret_cast<LaneCode>(&check);
    set.unary = {code<LaneUnary<V, static_cast<LaneFn>(kFn)>>()...};
    set.binary = {binaries<static_cast<LaneFn>(kFn), false>(kinds)...};
    set.reversed = {binaries<static_cast<LaneFn>(kFn), true>(kinds)...};
    set.choose = {choices<static_cast<LaneKind>(kKind)>(kinds)...};
    set.end = reinterpret_cast<LaneCode>(&end);
    set.run = run;
    set.group = sizeof...(kIndex) * V::kLanes;
    return set;
  }
};

// The set with V's own way of rounding.
template <typename V, std::size_t... kIndex>
LaneSet with_rounding_of(LaneSet set, std::index_sequence<kIndex...> /*registers*/) {
  using Machine = LaneMachine<V, kIndex...>;
  set.round = Machine::template code<LaneRound<V>>();
  set.store_rounded = Machine::template code<LaneStoreRounded<V>>();
  return set;
}

template <typename V, std::size_t... kIndex>
LaneSet make_lane_set(std::index_sequence<kIndex...> /*registers*/) {
  return LaneMachine<V, kIndex...>::set(std::make_index_sequence<kLaneKinds>(),
                                        std::make_index_sequence<kLaneFns>());
}

}  // namespace mtf
