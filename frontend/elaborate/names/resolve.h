// Names, before anything runs: unknown ones, declared twice, assigned where they may not be. Also
// in functions that nobody calls, so that one run reports all of them.

#pragma once

#include <string>
#include <vector>

#include "frontend/elaborate/context.h"

namespace mtf::host {

// False: errors were reported.
bool resolve(Context& c, const Module& module);

// The names that a statement declares at its own level.
[[nodiscard]] std::vector<const ast::Name*> names_declared_by(const ast::Stmt& stmt);

// What the top level of a file declares.
[[nodiscard]] std::vector<std::string> declared_names(const ast::File& file);

}  // namespace mtf::host
