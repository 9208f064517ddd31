// The program that moves one tensor from where it is to where it is wanted.

#pragma once

#include <optional>

#include "lowering/lower.h"

namespace mtf {

// Both layouts are on the mesh of `layout`, whose name the program has. nullopt after an error.
[[nodiscard]] std::optional<SpmdProgram> mover_of(const TensorType& type, const ValueLayout& from,
                                                  const ValueLayout& to, const Layout& layout,
                                                  OpTable ops, DiagSink& diags, bool exact);

}  // namespace mtf
