// The gradient of a kernel with windows of 3 x 3, of bf16: the transpose of F(4x4, 3x3), in which
// 36 products stand for 144 (`transforms.h`).
//
// k[s, t, i, o] = sum over images, p and q of x[p + s, q + t, i] y[p, q, o], s and t from 0 to 2. A
// tile is y's elements four by four, from a block's first one on, with zeros behind its last; where
// there is no x, or none that the windows of the block lie over, it is 0.
// Bits: the sum is cut into the canonical blocks of its loops, a leaf's tiles, with the images
// outermost, into pieces of kPieceTiles. Each product of a piece is one chain of fused
// multiply-adds over its tiles, of which the taps are made, and those are added in the tree of
// runtime/kernels/tree.h.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/kernels/cpu.h"
#include "runtime/products/gemm.h"

namespace mtf {

struct WinogradGradient {
  // One of the two dims that windows lie over.
  struct Side {
    std::int64_t reads = 0;   // where in x the window of y's first element begins; before 0 and
    std::int64_t extent = 0;  // from here on there are zeros
    std::int64_t x = 0;       // element strides
    std::int64_t out = 0;     // of taps
  };
  // What is summed, or is summed for each index by itself.
  struct Loop {
    std::int64_t extent = 1;
    std::int64_t blocks = 1;  // canonical ones on this rank; divides the extent
    std::int64_t x = 0;       // element strides; along a side, in places of y
    std::int64_t y = 0;
    std::int64_t out = 0;
    std::optional<std::size_t> side = {};
    bool kept = false;
  };

  std::array<Side, 2> sides = {};
  std::vector<Loop> loops;  // in the order in which sums nest; of each side one at most is summed
  GemmDim rows;             // strides a, out: what else x and the result have
  GemmDim cols;             // strides b, out: what else y and the result have
};

class PreparedWinogradGradient {
 public:
  PreparedWinogradGradient(const WinogradGradient& product, Cpu cpu);
  ~PreparedWinogradGradient();
  PreparedWinogradGradient(const PreparedWinogradGradient&) = delete;
  PreparedWinogradGradient& operator=(const PreparedWinogradGradient&) = delete;
  PreparedWinogradGradient(PreparedWinogradGradient&&) = delete;
  PreparedWinogradGradient& operator=(PreparedWinogradGradient&&) = delete;

  void run(const BFloat16* x, const BFloat16* y, float* out) const;

 private:
  struct State;
  class Run;
  std::unique_ptr<const State> state_;
};

}  // namespace mtf
