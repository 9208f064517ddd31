// What an operation reads at indices known only at run time (IterationSpace::served), where several
// ranks have parts of what is read. All ranks that meet know all indices, so each knows what to
// send to whom, and what comes from whom; nothing is sent twice, and nothing added up.
//
// What is counted as received is what the rank asks for: the elements of its slice of the result,
// as if others had them all. That does not depend on the data, and is what it comes to at most.

#pragma once

#include <span>

#include "lowering/spmd.h"

namespace mtf {

// The axes over which served loops are split, in mesh order; none where that makes no parts.
[[nodiscard]] Axes served_axes(const IterationSpace& space, std::span<const Axes> loops,
                               const Mesh& mesh);

// The layout in which the result is served: as the loops make it, and along further axes each rank
// asks for no more than is wanted of it.
[[nodiscard]] ValueLayout served_layout(ValueLayout made, const ValueLayout& wanted);

}  // namespace mtf
