// Sums over several dims where more than the result would move: which of them is finished first.
//
// The canonical trees of several summed dims nest. Where an inner dim is split and a rank has more
// than one canonical block of a dim around it, the sum of each such block is finished over the
// inner dim's axes by itself, and then the blocks are added up: one partial sum per block moves,
// never one per element. Everything that a rank can add alone it adds before. Of a product whose
// sums of blocks would be larger than its operands, the result alone moves, and bits may differ.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowering/reshard/reshard.h"

namespace mtf {

struct LoopSplit;

struct SumStage {
  SplitCall sum;
  ValueLayout made;  // its result as the kernel leaves it: partial over the reduced loops
  ValueLayout read;  // and as the next stage reads it; of the last one nothing
};

struct StagedSum {
  std::vector<SumStage> stages;  // more than one; or none: one call does it all
  std::int64_t received = 0;     // elements, by a rank, up to the wanted layout
  std::int64_t moves = 0;        // collectives for it

  // Of two ways, the one that receives less, unless it is so little that starting another
  // collective takes longer.
  [[nodiscard]] std::int64_t rank() const { return received + 256 * moves; }
};

// In stages only where the ranks hold whole subtrees, so that the bits are those of one rank.
// `adds`: the operation that sums one tensor up; null where bits do not count.
[[nodiscard]] StagedSum in_stages(const SplitCall& sum, const OpDef* adds,
                                  const ValueLayout& wanted, Resharder& resharder,
                                  const Mesh& mesh);

// The call of a stage, and how its loops are split, from those of the whole sum. `read`: what the
// stage before it left; invalid for the first, which reads the operands.
[[nodiscard]] LocalCall call_of(const SumStage& stage, const LocalCall& whole, SpmdId read);
[[nodiscard]] LoopSplit split_of(const SumStage& stage, const LoopSplit& whole, SpmdId read);

// The dims that carry: a summed dim of which a rank has more than one canonical block, around one
// that is split. Outermost first; empty: one call does it all.
[[nodiscard]] std::vector<std::size_t> carrying_loops(const IterationSpace& space,
                                                      std::span<const Axes> loops,
                                                      const Mesh& mesh);

// What the sums of blocks cost that a reduction over ranks moves.
struct CarriedSum {
  std::vector<std::string> dims;  // whose blocks are still to be added up, outermost first
  std::int64_t blocks = 0;        // of them on a rank
  bool splits = false;            // some of them over ranks
  std::int64_t bytes = 0;         // that one sum would move
};

// nullopt: the step moves no sums of blocks.
[[nodiscard]] std::optional<CarriedSum> carried_by(const SpmdProgram& program, const Step& step);

}  // namespace mtf
