// Philox4x32-10 for many counters at once, a block in each lane of registers of whole numbers: the
// words of stdlib/ops/random/philox.h. V, the registers, is local to the file of an instruction
// set.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/kernels/cpu.h"

namespace mtf {

struct PhiloxStream {
  std::array<std::uint32_t, 2> key = {};
  std::uint64_t upper = 0;  // half of the counter; the lower one is the number of the block
};

// Four words for each of the blocks from `first` on, of as many as fill registers: says how many.
std::size_t philox_blocks(const PhiloxStream& stream, std::uint64_t first, std::size_t count,
                          Isa isa, std::uint32_t* words);
std::size_t philox_blocks_avx512(const PhiloxStream& stream, std::uint64_t first, std::size_t count,
                                 std::uint32_t* words);

template <typename V>
struct PhiloxLanes {
  using W = typename V::Words;  // of 64 bits, of which multiplication reads the lower 32

  static constexpr std::size_t kTogether = 4;  // registers, so that their chains overlap
  static constexpr std::size_t kGroup = kTogether * V::kLanes;
  static constexpr int kRounds = 10;
  static constexpr std::uint64_t kLower = 0xFFFFFFFFU;

  // A word of each block. What is above its 32 bits means nothing.
  struct State {
    W a, b, c, d;
  };

  static void round(State& x, std::uint32_t left, std::uint32_t right) {
    constexpr std::uint64_t kLeftFactor = 0xD2511F53U;
    constexpr std::uint64_t kRightFactor = 0xCD9E8D57U;
    const W upper = V::product(x.a, kLeftFactor);
    const W lower = V::product(x.c, kRightFactor);
    x = {.a = (lower >> 32U) ^ x.b ^ left,
         .b = lower,
         .c = (upper >> 32U) ^ x.d ^ right,
         .d = upper};
  }

  template <std::size_t... kLane>
  static W numbers(std::uint64_t first, std::index_sequence<kLane...> /*lanes*/) {
    return W{(first + kLane)...};
  }

  template <std::size_t kFrom, std::size_t... kLane>
  static W interleaved(W x, W y, std::index_sequence<kLane...> /*lanes*/) {
    return __builtin_shufflevector(x, y, (kFrom + kLane / 2 + kLane % 2 * V::kLanes)...);
  }

  static void store(const State& x, std::uint32_t* words) {
    constexpr auto kLanes = std::make_index_sequence<V::kLanes>();
    const W first = (x.a & kLower) | (x.b << 32U);
    const W second = (x.c & kLower) | (x.d << 32U);
    const W lower = interleaved<0>(first, second, kLanes);
    const W upper = interleaved<V::kLanes / 2>(first, second, kLanes);
    std::memcpy(words, &lower, sizeof(lower));
    std::memcpy(words + 2 * V::kLanes, &upper, sizeof(upper));
  }

  static void group(const PhiloxStream& stream, std::uint64_t first, std::uint32_t* words) {
    constexpr std::uint32_t kLeftStep = 0x9E3779B9U;
    constexpr std::uint32_t kRightStep = 0xBB67AE85U;
    std::array<State, kTogether> states{};
    for (std::size_t t = 0; t < kTogether; ++t) {
      const W block = numbers(first + t * V::kLanes, std::make_index_sequence<V::kLanes>());
      states[t] = {
          .a = block, .b = block >> 32U, .c = W{} + stream.upper, .d = W{} + (stream.upper >> 32U)};
    }
    std::uint32_t left = stream.key[0];
    std::uint32_t right = stream.key[1];
    for (int r = 0; r < kRounds; ++r) {
      for (State& state : states) {
        round(state, left, right);
      }
      left += kLeftStep;
      right += kRightStep;
    }
    for (std::size_t t = 0; t < kTogether; ++t) {
      store(states[t], words + 4 * t * V::kLanes);
    }
  }

  static std::size_t run(const PhiloxStream& stream, std::uint64_t first, std::size_t count,
                         std::uint32_t* words) {
    std::size_t done = 0;
    for (; done + kGroup <= count; done += kGroup) {
      group(stream, first + done, words + 4 * done);
    }
    return done;
  }
};

}  // namespace mtf
