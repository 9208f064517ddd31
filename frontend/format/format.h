// The one standard layout of a program's text, and nothing else changed.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/support/diag.h"

namespace mtf {

// Nullopt: errors were recorded, and the text has no layout. Formatted once more, the result stays
// as it is; it has the same words, signs and comments in the same order.
[[nodiscard]] std::optional<std::string> format_source(FileId file, const SourceMap& sources,
                                                       DiagSink& diags);

// The comments of statements that have no errors, a line for each.
[[nodiscard]] std::string comments_of(std::string_view source);

}  // namespace mtf
