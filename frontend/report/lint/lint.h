// What is legal and wasteful: warnings of `mtf check --lint`, each with sizes and a way out.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// Of one program under one layout: large variables that are replicated though an axis is free,
// values gathered twice, all-reduces of which only slices are read.
[[nodiscard]] std::vector<Diag> lint_program(const SpmdProgram& program);

// A program, and how often the file runs it.
struct UsedProgram {
  const SpmdProgram* program = nullptr;
  std::int64_t calls = 1;
};

// Of all programs of a file under one layout: rules that match no tensor, axes that split no heavy
// work, what is moved at each of several calls though it never changes.
[[nodiscard]] std::vector<Diag> lint_layout(std::span<const UsedProgram> uses,
                                            const Layout& layout);

}  // namespace mtf
