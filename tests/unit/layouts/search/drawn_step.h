// Steps of training, drawn: programs as people write them, with variables that are updated.

#pragma once

#include <random>
#include <string>

namespace mtf::tests {

// The functions that the steps update variables with.
extern const std::string kUpdates;
// The rest of a function of `x` that trains `net`.
extern const std::string kTrains;

// Products, sums, chains and pipelines of variables, and a step `case` that updates these; some of
// it is computed again, in narrow numbers, or in a loop.
[[nodiscard]] std::string drawn_step(std::mt19937_64& random);

}  // namespace mtf::tests
