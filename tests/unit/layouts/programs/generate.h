// Random programs, valid by construction: operations are drawn from the op table and their
// arguments from its parameters; the operation's own `type` rule decides whether a call stands.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf::tests {

struct GenerateOptions {
  int operations = 12;
  bool gradients = true;
  bool whole = false;  // what is added up is whole numbers, whose sums no order changes
  double moves = 0;    // the share of operations that move or sum elements, not compute with them
  std::map<std::string_view, int>* drawn = nullptr;  // counts the operations, by name
  const OpDef* focus = nullptr;  // an operation that is drawn far more often than the others
};

// Whether programs may have the operation: it needs no file, no literal and no mesh, and does
// nothing but compute.
[[nodiscard]] bool drawable(const OpDef& op);

// The same program for the same seed. It has no inputs; its outputs are what nobody else reads, and
// gradients of a sum over some of them.
[[nodiscard]] Program random_program(std::uint64_t seed, const GenerateOptions& options = {});

// The same with gradients of a sum over one of the outputs; where `whole` says so, only if they as
// well add up whole numbers.
[[nodiscard]] Program with_gradients(Program program, bool whole);

// The same with pins on some values and a region around some, legal under the layout for the most
// part. Under others they say nothing, or little.
[[nodiscard]] Program dressed(const Program& program, const Layout& layout,
                              std::mt19937_64& random);

// Two entries that compute the same: the first one's outputs are the second one's inputs, and one
// of these is a state that the second updates. The program itself where nothing would be handed on.
[[nodiscard]] std::vector<Program> cut_in_two(const Program& program, std::size_t at);

// A smaller program that still fails: outputs and operations are taken out while `fails` holds.
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace mtf::tests
