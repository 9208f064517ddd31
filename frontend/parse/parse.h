// Text to tree. Whatever the text, parsing ends quickly, in a tree or in at least one error.
//
// Errors are in plain words, at most one per statement and kMaxSyntaxErrors per file; parsing goes
// on at the next statement, so that one run shows them all.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "ir/support/diag.h"

namespace mtf {

constexpr std::size_t kMaxSyntaxErrors = 20;
constexpr std::size_t kMaxNesting = 256;  // brackets, blocks, prefix operators and `**` together
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxTokens = 2'000'000;  // about half a gigabyte while parsing

// Nullopt: errors were recorded. Warnings alone leave a tree.
[[nodiscard]] std::optional<ast::File> parse(FileId file, const SourceMap& sources,
                                             DiagSink& diags);

// Whether more lines could complete the text: it ends inside a bracket or after an operator, and
// nothing is wrong before that; or it ends inside a block, whatever is wrong in it.
[[nodiscard]] bool needs_more(std::string_view text);

// Whether `else` may stand on its next line. requires: it does not need more
[[nodiscard]] bool may_have_else(std::string_view text);

// The words that statements begin with, and `else`, in the order of the grammar.
[[nodiscard]] std::vector<std::string> statement_words();

[[nodiscard]] std::string antlr_version();  // of the runtime

}  // namespace mtf
