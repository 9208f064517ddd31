// Imports: modules of the standard library by name, other files by their path.

#pragma once

#include "frontend/elaborate/context.h"

namespace mtf::host {

// Reads, parses and resolves what the file imports, before any of its statements runs.
void load_imports(Modules& modules, Reporter& report, Module& module);
// Resolves and runs the statements of a file.
void run_module(Context& c, Module& module);

// A value of a standard module, whether or not the program imports it; null if there is none.
[[nodiscard]] const Value* standard_value(Context& c, std::string_view module,
                                          std::string_view name);
// The names that a standard module declares.
[[nodiscard]] std::vector<std::string> standard_names(Context& c, std::string_view module);

// Reports a member that the module, known here as `called`, does not have.
void no_member(Reporter& report, OpTable ops, const Module& module, std::string_view called,
               const ast::Name& member);

// The name that an import declares.
[[nodiscard]] const ast::Name& name_of(const ast::Import& import);

}  // namespace mtf::host
