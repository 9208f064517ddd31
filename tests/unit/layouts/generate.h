// Random programs, valid by construction: operations are drawn from the op table and their
// arguments from its parameters; the operation's own `type` rule decides whether a call stands.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace mtf::tests {

struct GenerateOptions {
  int operations = 12;
  bool gradients = true;
  std::map<std::string_view, int>* drawn = nullptr;  // counts the operations, by name
};

// Whether programs may have the operation: it needs no file, no literal and no mesh, and does
// nothing but compute.
[[nodiscard]] bool drawable(const OpDef& op);

// The same program for the same seed. It has no inputs; its outputs are what nobody else reads, and
// gradients of a sum over some of them.
[[nodiscard]] Program random_program(std::uint64_t seed, const GenerateOptions& options = {});

// Two entries that compute the same: the first one's outputs are the second one's inputs, and one
// of these is a state that the second updates. The program itself where nothing would be handed on.
[[nodiscard]] std::vector<Program> cut_in_two(const Program& program, std::size_t at);

// A smaller program that still fails: outputs and operations are taken out while `fails` holds.
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace mtf::tests
