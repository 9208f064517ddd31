// Why a move is there: which dims and axes are meant, and the rule behind them.

#pragma once

#include <span>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// `makers`: for each source value, the index of the kernel step that computed it, or -1.
[[nodiscard]] std::vector<Reason> reasons_of_move(const SpmdProgram& program,
                                                  std::span<const std::int32_t> makers,
                                                  const Step& step);

}  // namespace mtf
