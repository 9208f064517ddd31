// Loops in the list of steps (ir/loops/loop.h). A trip is the steps between two marks; it is
// planned like all else, once, in the layouts that what it carries has at rest.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

enum class LoopMark : std::uint8_t { kNone, kWhile, kEnd };

[[nodiscard]] LoopMark loop_mark(const Step& step);

struct LoopSteps {
  std::size_t begin = 0;  // the step that asks for another trip
  std::size_t end = 0;    // the step that goes back there
};

// The inner ones before those around them.
[[nodiscard]] std::vector<LoopSteps> loops_of(std::span<const LoopMark> marks);  // one per step
[[nodiscard]] std::vector<LoopSteps> loops_of(const SpmdProgram& program);

// Whether the step hands on what was made where it is carried: then there is nothing to do.
[[nodiscard]] bool hands_on_in_place(const SpmdProgram& program, const Step& step);

// Per step, how many marks are before it: steps of one number are done equally often, and none is
// moved to where the number is another.
[[nodiscard]] std::vector<std::size_t> segments_of(std::span<const LoopMark> marks);
[[nodiscard]] std::vector<std::size_t> segments_of(const SpmdProgram& program);

// What each trip would do alike goes before the loop: moves of what comes from outside, and what is
// computed from that. What takes memory to gather stays where it is gathered again on purpose.
void hoist(SpmdProgram& program, bool gather_again);

// The call of an operation of loops on these operands, split as the first of them is.
[[nodiscard]] LocalCall loop_call(const SpmdProgram& program, ValueId id,
                                  std::vector<SpmdId> operands);

}  // namespace mtf
