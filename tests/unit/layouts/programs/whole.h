// Which values of a program are small whole numbers: their sums have the same bits in any order, so
// that wrong numbers show under every layout, also where no bits are promised.

#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"

namespace mtf::tests {

class WholeNumbers {
 public:
  // Goes on to the values that have come since. False: one of them adds or multiplies up numbers
  // whose sums depend on the order; then it has learnt nothing.
  [[nodiscard]] bool follow(const Program& program);

 private:
  // The largest magnitude of a value that is whole, and small enough for its type.
  [[nodiscard]] std::optional<double> bound_of(const Program& program, ValueId id) const;

  std::vector<std::optional<double>> bounds_;  // per value
};

}  // namespace mtf::tests
