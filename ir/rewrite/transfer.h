// A program on its way into a rewritten one: which old value is which new one.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

struct Transfer {
  Program& from;
  Program to;
  std::vector<ValueId> moved;  // per old value; invalid where it was dropped

  [[nodiscard]] ValueId at(ValueId old) const { return moved[static_cast<std::size_t>(old.index)]; }
  void map(ValueId old, ValueId now) { moved[static_cast<std::size_t>(old.index)] = now; }
};

// Takes what is not moved value by value.
[[nodiscard]] Transfer start_transfer(Program& from);
ValueId append(Transfer& transfer, Value value);
// The old value as it is, reading the new operands.
ValueId append_moved(Transfer& transfer, ValueId old);
// The same, where nobody asks for more than the operation and the type of the old one any more.
ValueId append_taken(Transfer& transfer, ValueId old);
// Inputs, outputs and updates, in their old order. requires: each of them was mapped. And the names
// of what was.
[[nodiscard]] Program finish_transfer(Transfer transfer);

}  // namespace mtf
