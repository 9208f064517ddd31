// Why a collective is there, in the user's dims, axes and rules.

#pragma once

#include <vector>

#include "lowering/split.h"
#include "lowering/spmd.h"
#include "lowering/stages.h"

namespace mtf {

// `makers`: for each source value, the index of the kernel step that computed it, or -1.
[[nodiscard]] std::vector<Reason> explain(const SpmdProgram& program,
                                          std::span<const std::int32_t> makers, const Step& step,
                                          const Need& need);

// "that sum is inside the one over batch, of which a rank has 8 blocks"
[[nodiscard]] std::string carried_text(const CarriedSum& carried);
// What moves one sum instead: "length before batch in the operands, or --fast"
[[nodiscard]] std::string way_out(const SpmdProgram& program, const Step& step,
                                  const CarriedSum& carried);

// "batch over x, ff over y"; "nothing".
[[nodiscard]] std::string loops_text(const SpmdProgram& program, const IterationSpace& space,
                                     const std::vector<Axes>& loops);

// Why a kernel splits its loops as it does, where it could have done otherwise.
[[nodiscard]] Reason explain_choice(const SpmdProgram& program, const LocalCall& call,
                                    const LoopSplit& split);

}  // namespace mtf
