// The order in which a session takes the statements of one text. A program may call a function that
// is declared further below, a session knows what it was told.

#pragma once

#include <vector>

#include "frontend/driver/repl/script/script.h"

namespace mtf {

// What a session takes at once: functions that need each other, the dims of a statement; else one
// statement.
using Together = std::vector<Statement>;

// The statements of the tree. All that computes stays in order; a function waits for what it names,
// or comes, with the functions and dims that it needs, when something names it.
[[nodiscard]] std::vector<Together> in_order(const ast::File& tree, const SourceMap& sources);

}  // namespace mtf
