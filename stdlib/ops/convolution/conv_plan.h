// What a convolution of one rank's slices is made of: products of strided operands.

#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "runtime/kernels/strided.h"
#include "runtime/products/gemm.h"
#include "runtime/products/winograd/kernel_gradient.h"
#include "runtime/products/winograd/winograd.h"
#include "stdlib/ops/convolution/conv_loops.h"

namespace mtf {

// The operand that windows are read of, copied with zeros around; elements, per dim of its view.
struct PaddedDim {
  std::int64_t extent = 1;  // with what is around
  std::int64_t from = 0;    // the first index of the view that is copied
  std::int64_t to = 0;      // and where it goes
  std::int64_t count = 1;
};

// A product over some of the places: where its operands and its result begin.
struct ConvPart {
  Gemm product;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
};

// Is done `count` times, each at the next indices of one loop.
struct ConvSteps {
  std::int64_t count = 1;
  std::int64_t from = 0;  // elements of the view between two of them; `dim` has so many indices
  std::int64_t b = 0;
  std::int64_t out = 0;
  bool adds = false;  // results are added up, in the canonical tree
};

struct ConvPlan {
  bool copies = false;
  std::vector<PaddedDim> padded;       // if it copies; of one step
  std::vector<std::int64_t> strides;   // of the view
  std::vector<std::int64_t> copied;    // of the copy
  std::vector<StridedDim> turned;      // a copy of the second operand, of one step; empty: itself
  std::vector<std::int64_t> gathered;  // of the result while it is summed; empty: its own
  bool clears = false;                 // there are places that no tap reaches: zeros
  std::vector<ConvPart> parts;
  ConvSteps steps;
};

// `copies`: also where all that windows read is there.
[[nodiscard]] ConvPlan plan_conv(const KernelCall& call, ConvKind kind, bool copies = false);

// ---- in Winograd's products --------------------------------------------------------------------

// Whether Winograd's products do a convolution, for which it has been planned, in fewer
// multiplications: a matter of its whole sizes alone, so that it is so on every layout.
[[nodiscard]] bool in_tiles(const IterationSpace& space);

// Of one that they do: cuts its sum so that a block is worth the sums that its results take, says
// what a tile reads where its results are made of all that, and that it is timed as what it is.
void plan_for_winograd(const OpCall& call, bool up, IterationSpace& space);
// The same of `conv_kernel`, whose blocks have some tiles each.
void plan_for_winograd_gradient(const OpCall& call, IterationSpace& space);

// Of one rank's slices.
struct WinogradPlan {
  Winograd product;
  std::int64_t b = 0;  // where the kernel begins
};

// requires: in_tiles
[[nodiscard]] WinogradPlan plan_winograd(const KernelCall& call, bool up);
[[nodiscard]] WinogradGradient plan_winograd_gradient(const KernelCall& call);

}  // namespace mtf
