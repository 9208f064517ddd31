// Sums in parts: what each block of a summed dim adds to a value.
//
// A gradient that is added up over microbatches should be summed over ranks once, behind the last
// of them. To the same bits on every layout that takes an accumulator for each block of the batch,
// of as many blocks as the program says: ranks share the blocks, and their sum is the one
// collective.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace mtf {

struct PartialSums {
  std::vector<ValueId> parts;  // per sum, its dims behind one more: the dim, of `ways` elements
  bool any = false;            // whether one of them is a sum over the dim
};

// Appends, for values without the dim, parts whose sum over the dim is the value: of sums over the
// dim those of its blocks of equal size, through all that is linear behind them; of any other value
// equal parts. The parts of what is rounded to a narrow dtype are wide.
[[nodiscard]] PartialSums partial_sums(Builder& builder, const std::vector<ValueId>& sums,
                                       const std::string& dim, std::int64_t ways);

}  // namespace mtf
