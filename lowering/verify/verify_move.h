// Whether a step that moves a value leads from the layout before it to the one behind it.

#pragma once

#include <string>

#include "lowering/spmd.h"

namespace mtf {

struct MoveCheck {
  const Mesh& mesh;
  const Shape& shape;  // of the whole tensor
  StepKind kind{};     // not kKernel
  const Axes& axes;
  const ValueLayout& from;
  const ValueLayout& to;
};

// "" or what is wrong: a rank would lack a part of its slice, or get it twice; a sum would be
// finished that is not partial, or lost on the way.
[[nodiscard]] std::string problem_of_move(const MoveCheck& move);

// "" or what is wrong with a layout of a tensor by itself: an axis used twice or not there, blocks
// that do not come out even, conditions that say nothing.
[[nodiscard]] std::string problem_of_layout(const Mesh& mesh, const Shape& shape,
                                            const ValueLayout& layout);

// "" or what is wrong with what goes in one message.
[[nodiscard]] std::string problem_of_messages(const SpmdProgram& program);

}  // namespace mtf
