// What a question of `mtf why` is about, in one program.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/report/plan/step_text.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

struct Asked {
  bool memory = false;
  std::vector<ValueId> values;     // in the order of the program
  std::vector<std::size_t> steps;  // collectives
  bool known = false;              // the question makes sense, though nothing may be there
  std::string missing_axis = {};   // one that the question names and the mesh lacks

  [[nodiscard]] bool empty() const { return !memory && values.empty() && steps.empty(); }
};

// A name as the user bound it or as the plan shows it, a param's path, a glob of these; where that
// is none, the path of a `let` in what was called (`net/attention/scores`), or a glob of such; a
// line as "file.mtf:18" or ":18", a kind of collective ("all_reduce", with axes
// "all_reduce(cols)"), "collectives", or "memory".
[[nodiscard]] Asked find_asked(const SpmdProgram& program, const SourceMap& sources,
                               const ValueNames& names, std::string_view question);

// Those of values that a `let` named in what was called, in the order of the program, each once.
[[nodiscard]] std::vector<std::string> askable_paths(const SpmdProgram& program);
// The names that may be asked for besides, in the order of the program, each once.
[[nodiscard]] std::vector<std::string> askable(const SpmdProgram& program, const ValueNames& names);

}  // namespace mtf
