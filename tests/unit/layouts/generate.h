// Random programs, valid by construction: operations are drawn from the op table and their
// arguments from its parameters; the operation's own `type` rule decides whether a call stands.

#pragma once

#include <cstdint>
#include <functional>

#include "ir/program.h"

namespace mtf::tests {

struct GenerateOptions {
  int operations = 12;
  bool gradients = true;
};

// The same program for the same seed. It has no inputs; its outputs are what nobody else reads, and
// gradients of a sum over some of them.
[[nodiscard]] Program random_program(std::uint64_t seed, const GenerateOptions& options = {});

// A smaller program that still fails: outputs and operations are taken out while `fails` holds.
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace mtf::tests
