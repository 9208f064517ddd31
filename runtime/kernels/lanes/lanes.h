// Calls with LaneFn as one pass in registers: groups of elements go through all of them, then the
// next group. Bits are those of the calls one by one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/op.h"
#include "runtime/kernels/lanes/machine_set.h"

namespace mtf {

// What is read from memory.
struct LaneRead {
  DType dtype = DType::kF32;  // f32, bf16 or bool
  bool lone = false;          // an f32 that all elements share
};

// One call. Operands: read r is r, the result of stage s is ~s.
struct LaneStage {
  LaneFn fn = LaneFn::kNone;
  std::vector<std::int64_t> operands;
  DType to = DType::kF32;
  bool written = false;
  bool checked = false;  // whether it is finite
};

// Whether there is an instruction for it: with operands and a result of these dtypes.
[[nodiscard]] bool has_lanes(LaneFn fn, std::span<const DType> operands, DType to);

class LaneProgram {
 public:
  LaneProgram(std::span<const LaneRead> reads, std::span<const LaneStage> stages, Isa isa);

  // Bytes that `run` works in.
  [[nodiscard]] std::int64_t scratch_bytes() const;

  // `places`: of the reads, then of what is written, in order; they come back changed. `n` elements
  // each. What is written may be what is read, if no later stage reads it. False: something that is
  // checked may not be finite; else all of it is.
  bool run(std::vector<std::byte*>& places, std::size_t n, std::byte* scratch) const;

 private:
  friend class LaneCompiler;

  void run_rest(std::vector<std::byte*>& places, std::size_t begin, std::size_t end,
                std::byte* groups) const;

  const LaneSet* set_;
  std::vector<LaneInstruction> code_;
  std::vector<std::int64_t> widths_;  // of the places; 0: lone
  std::size_t reads_ = 0;
  std::size_t slots_ = 0;
  bool checks_ = false;  // something of it
};

}  // namespace mtf
