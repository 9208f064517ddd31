// The loops of a convolution of one rank's slices, and where each goes in the three tensors.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {

enum class ConvKind : std::uint8_t { kForward, kTransposed, kKernel };

// Element strides of a loop in the three tensors; of positions and taps in the first operand those
// that the axes give.
struct ConvLoop {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
  bool in_a = false;
  bool in_b = false;
  bool in_out = false;
};

// A dim of an operand's view that is one loop.
struct ConvDim {
  std::size_t view_dim = 0;
  std::size_t loop = 0;
};

// One dim that windows are read of.
struct ConvAxis {
  WindowAxis axis;
  std::size_t view_dim = 0;        // of the first operand
  std::vector<std::size_t> loops;  // that it runs over, major first
  std::size_t taps = 0;            // the loop
  std::int64_t first = 0;          // index of the rank's first position
  std::int64_t count = 1;          // of positions
};

struct ConvLoops {
  std::vector<ConvLoop> loops;
  std::vector<std::int64_t> strides;  // of the first operand's view
  std::vector<ConvDim> batch;         // of the first operand: no windows are read of them
  std::vector<ConvDim> second;        // all of the second operand
  std::vector<ConvAxis> axes;
};

[[nodiscard]] ConvLoops loops_of(const KernelCall& call, ConvKind kind);

}  // namespace mtf
