// Which of some choices to take, so that their costs together are least and each row stays within
// its limit: a 0-1 program, solved by COIN-OR's CBC, which is loaded when it is first asked.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace mtf {

struct IntegerProgram {
  struct Term {
    std::size_t choice = 0;
    double weight = 1;
  };
  // The weights of the choices that are taken add up to `most` or less.
  struct Row {
    std::vector<Term> terms;
    double most = 1;
  };

  std::vector<double> costs;  // of taking each
  std::vector<Row> rows;
};

// The choices that are taken, in order. nullopt: none are within the rows, or CBC is not installed.
[[nodiscard]] std::optional<std::vector<std::size_t>> solve(const IntegerProgram& program);

// Whether CBC is installed here.
[[nodiscard]] bool has_integer_solver();

}  // namespace mtf
