// The script of a session as the program of a command.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/driver/repl/script/script.h"
#include "frontend/driver/workspace.h"

namespace mtf {

class Repl;

// Does what a command of the command line does; options that it does not have are the session's.
// `aside`: a layout among them that the session does not have. False: its status is one of failure.
bool about_program(Repl& repl, const std::vector<Statement>& inputs, Options options,
                   const std::function<Outcome(Workspace&)>& body, const std::string& aside = "");

// Rules may stand in the braces that a layout has around them.
[[nodiscard]] std::string without_braces(const std::string& words);

// Declares what the last `:search` found, and uses it. requires: it found something.
bool use_found(Repl& repl);

// Whether every `expect` of these statements holds; if not, it is said.
bool expectations_hold(Repl& repl, const std::vector<Statement>& inputs);

}  // namespace mtf
