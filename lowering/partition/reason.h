// Why a move is there: which dims and axes are meant, and the rule behind them.

#pragma once

#include <span>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// Whether a move is told by what a dim is split over behind it, and not by what it was; finished: a
// value goes where it rests.
[[nodiscard]] bool tells_has(const Axes& had, const Axes& has, bool is_finished);

// Whether both say the same, at the same place.
[[nodiscard]] bool is_same(const Cause& a, const Cause& b);

// `makers`: for each source value, the index of the kernel step that computed it, or -1.
[[nodiscard]] std::vector<Reason> reasons_of_move(const SpmdProgram& program,
                                                  std::span<const std::int32_t> makers,
                                                  const Step& step);

}  // namespace mtf
