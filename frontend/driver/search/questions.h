// What is asked beside the best layout: on how few ranks the program fits, and how the answer
// depends on the hardware.

#pragma once

#include <optional>
#include <string>

#include "frontend/driver/search/searching.h"

namespace mtf {

// `--fit`: sets the number of ranks to the smallest power of two on which a layout fits the memory
// of a rank; nullopt after an error. What it says of each number that was tried.
[[nodiscard]] std::optional<std::string> fit_ranks(Workspace& workspace, FileId file);

// `--sensitivity`: the best layout where a figure of the hardware is some times what it is.
[[nodiscard]] std::string sensitivity_text(Workspace& workspace, SearchedProgram& program);

}  // namespace mtf
