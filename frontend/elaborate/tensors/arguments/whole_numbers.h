// Whole numbers that were written as such: what an operation takes them as.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {

// Whole numbers that were written without a dtype serve as labels, too, and so do host numbers:
// where the operation refuses them, those that it refuses are cast to what it takes. Others stay
// floats: a table of 1, 2, 3 is no table of i32 because the numbers of its rows are.
void fit_whole_numbers(Units& units, const OpDef& op, std::span<const Operand> operands,
                       const OpArgs& args, std::vector<ValueId>& ids);

// `total + 0.5` where a loop hands `total` on as i32, because it began as the int 0. True: that is
// all that is wrong, and was told.
bool refuses_whole_start(Units& units, const OpDef& op, const OpArgs& args,
                         std::span<const Operand> operands, SourceSpan span);
// Where a number that a loop hands on as i32 begins.
[[nodiscard]] Note begins_here(const Tensor& tensor, const std::string& name);

}  // namespace mtf::host
