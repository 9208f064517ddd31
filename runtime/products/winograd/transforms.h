// The transforms of Winograd's products with windows of 3 x 3: numbers of a tile's elements, as
// many of a window's, and of their products the tile's results.
//
// Of f32 a tile is F(2x2, 3x3): two results by two in 16 products. Of bf16 it is F(4x4, 3x3): four
// by four in 36, whose sums in f32 have two digits fewer, and still far more than bf16 has.
//
// Each is the same arithmetic for all elements of rows that lie side by side, so neither the width
// of a register nor where a row begins shows in the bits. Rows of a tile are first combined with
// one another, then columns.

#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "ir/dtype.h"
#include "ir/support/cpu.h"

namespace mtf {

inline constexpr int kWinogradWindow = 3;  // elements of a window
inline constexpr int kWinogradTaps = kWinogradWindow * kWinogradWindow;

// Of elements that are stored as S.
template <typename S>
struct WinogradTile {
  static constexpr int kSide = std::is_same_v<S, BFloat16> ? 4 : 2;  // results
  static constexpr int kReads = kSide + kWinogradWindow - 1;  // elements that they are made of
  static constexpr int kProducts = kReads * kReads;
  static constexpr int kResults = kSide * kSide;
};

// Of `blocks` times `count` elements at each of kFrom pointers, the blocks `block_from` apart; a
// block's numbers are `block_to` from those of the one before, and the products' in it `step`.
template <typename S, int kFrom>
struct WinogradFactors {  // NOLINT: whoever makes one fills `from`
  std::array<const S*, kFrom> from;
  std::int64_t count = 0;
  float* to = nullptr;
  std::int64_t step = 0;
  std::int64_t blocks = 1;
  std::int64_t block_from = 0;
  std::int64_t block_to = 0;
};

template <typename S>
using WinogradElements = WinogradFactors<S, WinogradTile<S>::kProducts>;
template <typename S>
using WinogradKernel = WinogradFactors<S, kWinogradTaps>;
// The elements of y that belong to a tile's results.
template <typename S>
using WinogradPlaces = WinogradFactors<S, WinogradTile<S>::kResults>;

// Results have `count` elements each, one behind the other. Those that wait are added in front, the
// last first; `places` are theirs, from the first one that is added on, which gets the sum.
struct WinogradResults {
  const float* products = nullptr;
  std::int64_t step = 0;
  std::int64_t count = 0;
  float* const* places = nullptr;
  int merges = 0;  // of places; without any the result goes to the first
};

template <typename S>
struct WinogradTransforms {
  void (*elements)(const WinogradElements<S>&) = nullptr;
  void (*kernel)(const WinogradKernel<S>&) = nullptr;
  void (*gathered)(const WinogradKernel<float>&) = nullptr;  // the same of one that was widened
  void (*results)(const WinogradResults&) = nullptr;
};

// Of the sums that are the gradient of a kernel, k[s, t] = sum of x[p + s, q + t] y[p, q]: with the
// same numbers of x as above, times numbers of y, from which the taps follow. It is the transposed
// algorithm: `places` is the transpose of `results`, `taps` that of `kernel`.
struct WinogradSumTransforms {
  void (*places)(const WinogradPlaces<BFloat16>&) = nullptr;
  void (*taps)(const WinogradResults&) = nullptr;  // there are kWinogradTaps of them
};

[[nodiscard]] const WinogradTransforms<float>& winograd_transforms(Isa isa, float /*stored*/);
[[nodiscard]] const WinogradTransforms<BFloat16>& winograd_transforms(Isa isa, BFloat16 /*stored*/);

[[nodiscard]] const WinogradSumTransforms& winograd_sum_transforms(Isa isa);

extern const WinogradTransforms<float> kWinogradAvx512;
extern const WinogradTransforms<float> kWinogradAvx2;
extern const WinogradTransforms<float> kWinogradPortable;
extern const WinogradTransforms<BFloat16> kWinogradAvx512Bf16;
extern const WinogradTransforms<BFloat16> kWinogradAvx2Bf16;
extern const WinogradTransforms<BFloat16> kWinogradPortableBf16;
extern const WinogradSumTransforms kWinogradSumsAvx512;
extern const WinogradSumTransforms kWinogradSumsAvx2;
extern const WinogradSumTransforms kWinogradSumsPortable;

}  // namespace mtf
