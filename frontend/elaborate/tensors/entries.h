// Entries: functions that can be built without being called, because their types say it all.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/elaborate/call.h"
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
[[nodiscard]] std::vector<NoEntry> no_entries_of(const Modules& modules);
// nullopt: it is one, or there is no function of that name.
[[nodiscard]] std::optional<NoEntry> why_no_entry(const Modules& modules, std::string_view name);
// Whether the program, or a file that it imports (`m.f`), has an entry of that name.
[[nodiscard]] bool has_entry(const Modules& modules, std::string_view name);
// `m.f` for a function of a file that the program imports as m, else its own name.
[[nodiscard]] std::string name_in_program(const Modules& modules, const Function& function);
// As `Session::build`; an unknown name is an error.
[[nodiscard]] Unit* build_named(Context& c, std::string_view name, bool is_wanted);
// Builds the entries that the program has not called, for their errors. `leave_out_first`: but the
// first one, where another runs it as it would be built alone.
[[nodiscard]] EntryCheck check_entries(Context& c, bool leave_out_first);
// Whether a call inside another entry runs the function as it would be built alone: on tensors of
// its declared types, before there are any variables.
[[nodiscard]] bool runs_as_alone(Context& c, const Function& function, const Arguments& arguments);
// Notes what a call made that did, from the first value on, unless that has layouts of its own.
void note_inside(Units& units, std::size_t first, const Value& result);
// The types of the results of such a call, if one was made in the unit, which is whole now.
void note_types(Units& units, const Recording& unit);

}  // namespace mtf::host
