// The transforms of F(2x2, 3x3), Winograd's products for two results by two: 16 numbers of a tile's
// 4 x 4 elements, as many of a window's 3 x 3, and of their products the 2 x 2 results.
//
// Each is the same arithmetic for all elements of rows that lie side by side, so neither the width
// of a register nor where a row begins shows in the bits. Rows of the 4 x 4 are first combined with
// one another, then columns.

#pragma once

#include <array>
#include <cstdint>

#include "ir/support/cpu.h"

namespace mtf {

inline constexpr int kWinogradTile = 2;    // results along a side
inline constexpr int kWinogradWindow = 3;  // elements of a window
inline constexpr int kWinogradReads = 4;   // elements that a tile's windows lie over
inline constexpr int kWinogradProducts = kWinogradReads * kWinogradReads;
inline constexpr int kWinogradTaps = kWinogradWindow * kWinogradWindow;
inline constexpr int kWinogradResults = kWinogradTile * kWinogradTile;

// Of `count` elements at each pointer; the products' numbers are `step` elements apart.
struct WinogradElements {
  std::array<const float*, kWinogradProducts> from = {};
  std::int64_t count = 0;
  float* to = nullptr;
  std::int64_t step = 0;
};

struct WinogradKernel {
  const float* taps = nullptr;  // `count` elements each, one behind the other
  std::int64_t count = 0;
  float* to = nullptr;
  std::int64_t step = 0;
};

// Results have `count` elements each, one behind the other. Those that wait are added in front, the
// last first; `places` are theirs, from the first one that is added on, which gets the sum.
struct WinogradResults {
  const float* products = nullptr;
  std::int64_t step = 0;
  std::int64_t count = 0;
  float* const* places = nullptr;
  int merges = 0;  // of places; without any the result goes to the first
};

struct WinogradTransforms {
  void (*elements)(const WinogradElements&) = nullptr;
  void (*kernel)(const WinogradKernel&) = nullptr;
  void (*results)(const WinogradResults&) = nullptr;
};

[[nodiscard]] const WinogradTransforms& winograd_transforms(Isa isa);

extern const WinogradTransforms kWinogradAvx512;
extern const WinogradTransforms kWinogradAvx2;
extern const WinogradTransforms kWinogradPortable;

}  // namespace mtf
