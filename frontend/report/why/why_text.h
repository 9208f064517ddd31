// The answers to why, in words.

#pragma once

#include <string>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/why.h"
#include "ir/support/source.h"
#include "lowering/memory/peak.h"

namespace mtf {

// " (two_layer.mtf:13)"; empty for no place.
[[nodiscard]] std::string place_text(const SourceMap& sources, SourceSpan span);

// "embed over x by `embed -> x` (file.mtf:3)", one line per hop.
[[nodiscard]] std::vector<std::string> hop_texts(const SpmdProgram& program,
                                                 const SourceMap& sources, const Path& path);

[[nodiscard]] std::string why_text(const SpmdProgram& program, const SourceMap& sources,
                                   const ValueNames& names, const CollectiveWhy& why);
[[nodiscard]] std::string why_text(const SpmdProgram& program, const SourceMap& sources,
                                   const ValueNames& names, const ValueWhy& why);
[[nodiscard]] std::string peak_text(const SpmdProgram& program, const SourceMap& sources,
                                    const ValueNames& names, const Peak& peak);

}  // namespace mtf
