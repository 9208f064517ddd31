// `mtf doc --html`: files that a browser opens as they are.

#pragma once

#include <string>
#include <string_view>

#include "frontend/driver/workspace.h"

namespace mtf {

// What cannot be written is an error in the workspace.
void write_site(Workspace& workspace, const std::string& folder);

// What no page has of its own.
[[nodiscard]] std::string_view site_style();
[[nodiscard]] std::string_view site_script();  // reads `INDEX`: [[title, address, text], …]

}  // namespace mtf
