// Which entries of a program a command is about.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/workspace.h"

namespace mtf {

// The entries that no other entry calls, in the order of the file.
[[nodiscard]] std::vector<std::string> top_entries(const Session& session);

// The one that the command line names, or all on top that compute tensors. Empty after an error.
[[nodiscard]] std::vector<std::string> chosen_entries(Workspace& workspace, Session& session);

// If a function of the program has that name and is no entry, says why it is none.
bool tell_why_no_entry(const Session& session, std::string_view name, SourceSpan span,
                       DiagSink& diags);

}  // namespace mtf
