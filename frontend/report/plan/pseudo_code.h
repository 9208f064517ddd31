// The per-rank pseudo-code: an SPMD program as one rank reads it.
//
// `plan_lines` is the content, one line per value that is made or used; the text and the JSON of
// `mtf plan` show the same lines.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

enum class LineKind : std::uint8_t { kInput, kStep, kUpdate, kReturn };

struct PlanLine {
  LineKind kind{};
  std::string name;       // of the value: "y"
  std::string type;       // "f32[batch 32/64, io 32]"
  std::string partial;    // "partial(cols)", "where y == z"
  std::string op;         // "einsum(h, v)", "param two_layer/w"
  std::string amount;     // "0.13 MFLOP", "4.0 KiB"
  std::string why;        // the reason of a collective; of an input, which part the rank holds
  std::size_t step = 0;   // kStep: in SpmdProgram::steps; a step may have several lines
  bool aside = false;     // kStep: a number that its users show in place
  bool is_main = false;   // kStep: of a collective, of a product, or a mark of a loop
  std::size_t loops = 0;  // kStep: around it
};

// `rank` is the one whose part of each input is shown.
[[nodiscard]] std::vector<PlanLine> plan_lines(const SpmdProgram& program, const SourceMap& sources,
                                               std::int64_t rank);

// "train_step under both on grid[rows: 2, cols: 2], rank 0 of 4 at (rows 0, cols 0)"
[[nodiscard]] std::string plan_title(const SpmdProgram& program, std::int64_t rank);

// "5 calls", "5 calls in 2 messages"
[[nodiscard]] std::string calls_text(const CollectiveTotal& total);

// Compute, memory, parameters, and one line for each kind of collective and its axes.
[[nodiscard]] std::string totals_text(const Totals& totals, const Mesh& mesh);

// How much of a plan its text has.
struct PlanView {
  static constexpr int kBlocks = 1;  // a line for each block that is repeated, and what is between
  static constexpr int kOpened = 2;  // of each such block the products and collectives
  static constexpr int kMain = 3;    // and of the rest, too
  static constexpr int kAllSteps = 4;  // every step, of what is repeated the first time
  static constexpr std::size_t kMostLines = 80;

  std::string only;          // "collectives", "kernels", a glob of names; empty: everything
  std::optional<int> depth;  // none: the deepest that takes no more than kMostLines, if any repeats
  bool unfolded = false;     // repeated blocks as often as they are there
  std::size_t width = 0;     // lines are cut behind so many columns; 0: they go on below
};

// What `only` could be instead, where nothing in the plan is of it; empty: something is.
[[nodiscard]] std::vector<std::string> other_globs(const SpmdProgram& program,
                                                   const SourceMap& sources,
                                                   const std::string& only);

// Title, lines and totals.
[[nodiscard]] std::string pseudo_code(const SpmdProgram& program, const SourceMap& sources,
                                      std::int64_t rank, const PlanView& view = {});

}  // namespace mtf
