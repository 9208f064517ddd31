// Diagnostics as people and as tools read them: the one place where a `Diag` becomes text.
//
// Text is `file:line:col: error: text [slug]`, the source line, and a caret line under the span;
// notes repeat the form. Control characters of the source never reach the terminal.

#pragma once

#include <span>
#include <string>

#include "ir/support/diag.h"

namespace mtf {

enum class ColorMode : std::uint8_t { kPlain, kColor };

[[nodiscard]] std::string render(const Diag& diag, const SourceMap& sources,
                                 ColorMode color = ColorMode::kPlain);
[[nodiscard]] std::string render(std::span<const Diag> diags, const SourceMap& sources,
                                 ColorMode color = ColorMode::kPlain);

// What a command says beside the program's diagnostics: of its own words, or of how it ended.
struct Remark {
  std::string slug;  // "usage"
  std::string text;
};

// {"diagnostics": […]} with the keys of `mtf check --json`; the end column is exclusive. Remarks
// are errors without a place. Of thousands the first thousand, and under "more" how many others.
[[nodiscard]] std::string render_json(std::span<const Diag> diags, const SourceMap& sources,
                                      bool on_one_line = false,
                                      std::span<const Remark> remarks = {});
// The same line of JSON with this one alone.
[[nodiscard]] std::string render_json(const Remark& remark);

}  // namespace mtf
