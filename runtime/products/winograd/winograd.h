// Sums of products of a kernel with windows of 3 x 3, in Winograd's F(2x2, 3x3): 16 products where
// windows read one by one take 36, for two results by two; of bf16 in F(4x4, 3x3), 36 products for
// 144 (`transforms.h`).
//
// y[p, q, ...] = sum of x[p + s, q + t, i] k[s, t, i], s and t from 0 to 2. A tile is two results
// by two, or four by four, from a multiple of that of the whole dim on, so that it is the same
// whatever part of it a rank has. Where there is no x it is 0. Numbers of x that no result here
// truly depends on may be anything in F(2x2, 3x3): they do not show. In F(4x4, 3x3) all that the
// windows of a tile's results lie over has to be there, as it shows in each result's last bits.
// Bits: each product of a tile is one chain of fused multiply-adds over the indices of a canonical
// block; results are made of the products of each block, and those are added in the tree of
// runtime/kernels/tree.h.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/kernels/cpu.h"
#include "runtime/products/gemm.h"

namespace mtf {

// One of the two dims that windows lie over.
struct WinogradSide {
  std::int64_t first = 0;   // of the results, in the whole dim
  std::int64_t count = 0;   // of them
  std::int64_t reads = 0;   // where in x the first one's window begins; before 0 and
  std::int64_t extent = 0;  // from here on there are zeros
  std::int64_t a = 0;       // element strides
  std::int64_t b = 0;       // of the kernel: negative where it is read backwards
  std::int64_t out = 0;
};

struct Winograd {
  std::array<WinogradSide, 2> sides = {};
  std::vector<GemmDim> rows;  // strides a, out: what else x and the result have
  std::vector<GemmDim> cols;  // strides b, out: what else the kernel and the result have
  GemmDim inner;              // strides a, b
};

// Of operands that are stored as S, float or BFloat16. What depends on shapes alone is worked out
// once.
template <typename S>
class PreparedWinograd {
 public:
  PreparedWinograd(const Winograd& product, Cpu cpu);
  ~PreparedWinograd();
  PreparedWinograd(const PreparedWinograd&) = delete;
  PreparedWinograd& operator=(const PreparedWinograd&) = delete;
  PreparedWinograd(PreparedWinograd&&) = delete;
  PreparedWinograd& operator=(PreparedWinograd&&) = delete;

  // `b`: of the element that the first of each window meets.
  void run(const S* a, const S* b, float* out) const;

 private:
  struct State;
  class Run;
  std::unique_ptr<const State> state_;
};

}  // namespace mtf
