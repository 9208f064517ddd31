// The choice of the loop split: which loop dim of an operation each mesh axis splits.
//
// Where operands and result agree there is nothing to choose (Mesh-TensorFlow). Axes that `*` gave
// a tensor at rest claim a loop only where no rule claims them for another: then the tensor is
// gathered over them, or the result scattered (the 3-D algorithm, FSDP). Otherwise every assignment
// of axes to loops, or to none, counts, and every order of the axes of one loop that some tensor
// has: fewest bytes moved, a product's arithmetic priced in bytes, then fewest collectives, then
// least compute, then a fixed order (lowering/SHARDING.md). What an operand was made split over is
// a way to read it, too, where no layout says another use of the axis.
//
// Where only some ranks hold the operands and are to hold the result, they alone may do the work:
// the update of a vector on a diagonal.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lowering/reshard/reshard.h"

namespace mtf {

// As many flops as a rank does while it receives a byte: what a product that ranks repeat is priced
// at, so that a few bytes less are no reason to leave axes idle.
inline constexpr double kFlopsPerByte = 100;

struct LoopSplit {
  std::vector<Axes> loops;            // per loop dim, major first
  std::vector<ValueLayout> operands;  // what each operand must be in
  ValueLayout result;                 // as the kernel leaves it: partial over the reduced loops
  std::int64_t bytes = 0;             // received by a rank for it
  std::int64_t collectives = 0;       // in which it receives them
  double volume = 0;                  // of one rank's part of the space
  bool scatters = false;              // the operand is a sum that is finished for it alone

  // Next best splits, if there was a choice, the best first; where bytes move, one for each axis
  // that uses it otherwise.
  bool chosen = false;
  std::vector<PricedLoops> otherwise;
};

// Operands and result as their rules have them.
struct SplitProblem {
  const OpCall& call;
  const IterationSpace& space;
  std::span<const ValueLayout> operands;
  const ValueLayout& result;
  // The same without the axes of `*`, operands then result; these claim loops first. Empty: all do.
  std::vector<ValueLayout> firm = {};
  // For each operand, layouts that it is in already beside that of the rules. Empty: none.
  std::vector<std::vector<ValueLayout>> copies = {};
  // For each operand, the first one that is the same value: what is received for both counts once.
  std::vector<std::size_t> same = {};  // Empty: all differ
  bool is_kept = false;  // the result: by a variable or as an output, so it moves to its layout
  std::vector<bool> pinned = {};  // for each operand, whether `@` says how it is read. Empty: none
  // The operation that adds up what a sum was finished for in stages; null: bits do not count.
  const OpDef* adds = nullptr;
  bool price_only = false;  // nobody asks for the next best splits
};

// The arithmetic of one rank's part of the space, in bytes; of what goes element by element, 0.
[[nodiscard]] double priced_arithmetic(const OpCall& call, const IterationSpace& space,
                                       double volume);

// Of an operation's operands and its result: what the computation keeps split where it can.
[[nodiscard]] std::vector<ValueLayout> firm_layouts(const SpmdProgram& program, ValueId id);

// The operation with its loops split so.
[[nodiscard]] SplitCall with_loops(const SplitCall& unsplit, const LoopSplit& split);

[[nodiscard]] LoopSplit choose_split(const SplitProblem& problem, Resharder& resharder,
                                     const Mesh& mesh);

// For each operand, the first one that is the same value.
[[nodiscard]] std::vector<std::size_t> first_same(std::span<const ValueId> operands);

// For each operand, whether it is what `@` says.
[[nodiscard]] std::vector<bool> pinned_operands(const Program& program, const Value& value);

// Projects a layout of one tensor on the loops: which axes split each. Axes that no loop can take
// (a loop that must be whole, a factor that they do not divide) are left out.
[[nodiscard]] std::vector<Axes> project(const DimMap& map, const ValueLayout& layout,
                                        const IterationSpace& space, const Mesh& mesh);

// The layout of one tensor when the loops are split so; nullopt where its slices would not be
// boxes of the tensor (an inner factor split, the outer one not fully) or, where a dim is made of
// several factors, not the blocks that its layout means (one of them split unevenly).
[[nodiscard]] std::optional<ValueLayout> layout_from_loops(const DimMap& map,
                                                           std::span<const Axes> loops,
                                                           const IterationSpace& space,
                                                           const Mesh& mesh);

// The same of an operand: what its windows reach over is part of its slices.
[[nodiscard]] std::optional<ValueLayout> operand_from_loops(std::size_t operand,
                                                            std::span<const Axes> loops,
                                                            const IterationSpace& space,
                                                            const Mesh& mesh);

// What a kernel leaves: the result is a sum (or max, …) still partial over the reduced loops' axes.
void add_reduced(std::span<const Axes> loops, const IterationSpace& space, ValueLayout& result);

// Whether these conditions make sense in a layout: their axes are free, and what they compare with
// splits a dim.
[[nodiscard]] bool can_hold(const ValueLayout& layout, std::span<const Condition> where);

}  // namespace mtf
