// Entries: functions that can be built without being called, because their types say it all.

#pragma once

#include <string_view>
#include <vector>

#include "frontend/elaborate/context.h"

namespace mtf::host {

[[nodiscard]] std::vector<Entry> entries_of(const Context& c);
// Null after an error; an unknown name is one.
[[nodiscard]] const Unit* build_named(Context& c, std::string_view name);
// Builds the entries that the program has not called, for their errors.
void check_entries(Context& c);

}  // namespace mtf::host
