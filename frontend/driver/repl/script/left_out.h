// What a session leaves out where an earlier statement is declared anew.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/driver/repl/script/script.h"

namespace mtf {

// The last of the statements, but for `kept`, that an error points to: what depends, and not what
// it depends on.
[[nodiscard]] std::optional<std::size_t> culprit(std::span<const Diag> diags,
                                                 const std::vector<Statement>& statements,
                                                 std::span<const Statement> kept);
// Adds what is wrong, but not what follows from it: names of what was left out before.
void add_causes(std::span<const Diag> errors, bool is_first, std::vector<Diag>& causes);

// Of each statement its first line, in the order of the session.
[[nodiscard]] std::vector<std::string> first_lines(std::vector<Statement> statements,
                                                   const SourceMap& sources);
[[nodiscard]] std::string left_out_text(std::vector<Statement> statements,
                                        const SourceMap& sources);

}  // namespace mtf
