// Steps of training and answers of models, drawn: programs as people write them.

#pragma once

#include <random>
#include <string>

namespace mtf::tests {

// The functions that the steps update variables with.
extern const std::string kUpdates;
// The rest of a function of `x` that trains `net`.
extern const std::string kTrains;

// Products, sums, chains and pipelines of variables, and a step `case` that updates these, or gives
// what comes of them; some of it is computed again, in narrow numbers, or in a loop.
[[nodiscard]] std::string drawn_step(std::mt19937_64& random);

}  // namespace mtf::tests
