// Calls of any operation, made up from its definition alone: operands and arguments are drawn by
// the kinds of its parameters, and its own `type` rule decides which of them stand. So a new
// operation is under test without being listed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/program.h"

namespace mtf::tests {

struct DrawnCall {
  const OpDef* op = nullptr;
  std::vector<TensorType> operands;
  OpArgs args;
};

struct DrawOptions {
  std::vector<Dim> dims;  // that operands have
  DType floats = DType::kF32;
  std::size_t count = 6;  // at most
  bool narrow = false;    // and for each narrow dtype one of them with operands of that dtype
};

// Whether operand 0 is matrices, whose rows and columns are arguments: then most calls have square
// ones.
[[nodiscard]] inline bool is_of_matrices(const OpDef& op) {
  return std::ranges::find(op.params, "cols", &OpParam::name) != op.params.end();
}

// Whether the operation can be called without a file.
[[nodiscard]] bool is_callable(const OpDef& op);

// As different from each other as draws find, the same ones for an operation of this name whatever
// else the table holds; at least half of them on two dims or more, where the operation has such.
[[nodiscard]] std::vector<DrawnCall> calls_of(const OpDef& op, const DrawOptions& options);

// "slice(f32[a 7, b 5], begin = 2, end = 3)"
[[nodiscard]] std::string to_string(const DrawnCall& call);

// A seed of the name's own, the same on every machine.
[[nodiscard]] std::uint64_t seed_of(std::string_view name);

}  // namespace mtf::tests
