// Of how many examples a loss is made, as the program says it.

#pragma once

#include <cstdint>

#include "ir/program.h"

namespace mtf {

struct ExampleCount {
  std::int64_t count = 0;  // 0: nobody knows
  bool are_tokens = false;
};

// The examples of the first loss that the program watches: what it is summed over, without the dims
// that params have as well; of microbatches whose losses are added up, all of them. Of a batch and
// a length, where there are whole numbers for each of these places, they are tokens.
[[nodiscard]] ExampleCount examples_of(const Program& program);

}  // namespace mtf
