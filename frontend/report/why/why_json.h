// The answers of `mtf why` as JSON.

#pragma once

#include <span>
#include <string>

#include "frontend/report/why/why_find.h"
#include "ir/layout/layout.h"

namespace mtf {

// Of one entry under one layout; all of them make the output.
[[nodiscard]] std::string why_json(const SpmdProgram& program, const SourceMap& sources,
                                   const Layout& layout, const Asked& asked);
[[nodiscard]] std::string answers_json(std::span<const std::string> answers);

}  // namespace mtf
