// Counting what was executed, where it is executed and from the buffers themselves: what the plan
// promised is compared with this.

#pragma once

#include <cstddef>
#include <cstdint>

#include "lowering/spmd.h"

namespace mtf {

// What a rank hands over, given the elements of its slice before and after: of these, what any of
// the others is to have; ranks may let go of the rest as they pack.
[[nodiscard]] std::int64_t handed_elements(StepKind kind, std::int64_t before, std::int64_t after,
                                           std::int64_t ranks);
// What a rank receives in one collective with a bandwidth-optimal algorithm, given the elements
// that it hands over; fractions are rounded down.
[[nodiscard]] std::int64_t received_elements(StepKind kind, std::int64_t handed,
                                             std::int64_t ranks);

void count_collective(CollectiveTotal& total, std::int64_t handed, std::int64_t received,
                      std::int64_t width);

// Whether a run did what its plan said: the same flops, collectives and peak, or no more where a
// rank's slices may be shorter than the longest (`uneven`) or missing (`where`).
[[nodiscard]] bool as_planned(const SpmdProgram& program, const Totals& counted);

// Sets all numbers to 0; places stay.
void clear(Totals& totals);
// Adds numbers up; the peak is the larger one.
void add(Totals& sum, const Totals& part);

}  // namespace mtf
