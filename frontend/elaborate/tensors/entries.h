// Entries: functions that can be built without being called, because their types say it all.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/elaborate/context.h"

namespace mtf::host {

// A function whose parameters all have types, of known dims if they are tensors, or defaults.
[[nodiscard]] bool is_entry(const ast::Fn& fn);
// Whether the variables that it declares are its own, whoever calls it.
[[nodiscard]] inline bool owns_variables(const ast::Fn& fn) {
  return fn.is_model || is_entry(fn);
}
// A tensor of which no more is known than the type of the parameter; nullopt: the type does not say
// all, or an error.
[[nodiscard]] std::optional<Operand> tensor_of_type(Context& c, const Function& function,
                                                    const ast::Parameter& parameter);
[[nodiscard]] std::vector<Entry> entries_of(const Modules& modules);
// As `Session::build`; an unknown name is an error.
[[nodiscard]] const Unit* build_named(Context& c, std::string_view name, bool is_wanted);
// Builds the entries that the program has not called, for their errors.
void check_entries(Context& c);

}  // namespace mtf::host
