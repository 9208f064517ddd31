// Counting what was executed: messages as the communicator counted them, and beside them what an
// algorithm that sends least would have moved. What the plan promised is compared with both.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// What one rank did in a run.
struct Counted {
  std::int64_t rank = 0;
  Totals totals;                    // `parameters` is 0
  std::vector<Traffic> steps;       // of each step of the program, when it was done last
  std::vector<std::int64_t> times;  // that each step was done: in loops not once
};

// What a rank receives in one collective by the published formula of an algorithm that sends least,
// given the elements that it hands over; fractions are rounded down.
[[nodiscard]] std::int64_t received_elements(StepKind kind, std::int64_t handed,
                                             std::int64_t ranks);

// Adds a step of this kind among so many ranks; `width`: bytes of an element. What is received is
// what messages brought, but for the kinds whose algorithms send otherwise than the formula: an
// all-reduce, whose short ones send more to wait less often, and those in which ranks are not
// alike (a permute, a broadcast, a reduce). Of these the formula of what was handed over counts;
// the messages are counted apart, in `sent_bytes` and `received_bytes`.
void count_collective(CollectiveTotal& total, const Traffic& moved, std::int64_t ranks,
                      std::int64_t width);

// "" or the first thing in which a rank did otherwise than the plan says: flops, calls, what was
// handed over and what the messages of each step brought, peak. A rank's numbers may be lower
// where its slices may be shorter than the longest (`uneven`) or missing (`where`).
[[nodiscard]] std::string difference_from_plan(const SpmdProgram& program, const Counted& counted);

// Sets all numbers to 0; places stay.
void clear(Counted& counted);

}  // namespace mtf
