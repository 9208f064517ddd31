// What is legal and wasteful: warnings of `mtf check --lint`, each with sizes and a way out.

#pragma once

#include <cstdint>
#include <span>

#include "lowering/spmd.h"

namespace mtf {

// A program, and how often the file runs it.
struct UsedProgram {
  const SpmdProgram* program = nullptr;
  std::int64_t calls = 1;
};

// Of all programs of a file under one layout: rules that match no tensor, axes that split no heavy
// work, what is moved at each of several calls though it never changes; then of each program.
void lint_layout(std::span<const UsedProgram> uses, const Layout& layout, DiagSink& found);

// Of one program under one layout: large variables that are replicated though an axis is free,
// values gathered twice, all-reduces of which only slices are read.
void lint_program(const SpmdProgram& program, DiagSink& found);

}  // namespace mtf
