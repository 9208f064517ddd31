// What a rank does in one run of a program, added up.
//
// Ranks at the ends of a dim have fewer neighbours than those between: of each step `Step` has what
// the rank receives that receives most, and those ranks are not the same in every step. The totals
// are of one rank: of the one that receives most in all steps together.

#pragma once

#include <cstdint>

#include "lowering/reshard/reshard.h"
#include "lowering/spmd.h"

namespace mtf {

// Of a collective step, what the rank hands over and receives, if that depends on the rank;
// otherwise what any rank does.
[[nodiscard]] Volume volume_on(const SpmdProgram& program, const Step& step, std::int64_t rank);

// Sets the totals, but for the peak.
void add_up(SpmdProgram& program);

}  // namespace mtf
