#include "frontend/driver/repl/script/found_layouts.h"

#include <algorithm>
#include <utility>

namespace mtf {

std::optional<Layout> FoundLayouts::find(const Layout& declared,
                                         std::span<const Statement> program) const {
  const auto is_there = [program](SourceSpan span) {
    return std::ranges::find(program, span, &Statement::span) != program.end();
  };
  const auto holds = [&](const Found& found) {
    return found.declared == declared.span && found.mesh == to_string(declared.mesh) &&
           std::ranges::all_of(found.searched_for, is_there);
  };
  const auto last = std::find_if(found_.rbegin(), found_.rend(), holds);
  return last == found_.rend() ? std::nullopt : std::optional(last->answer);
}

void FoundLayouts::add(const Layout& declared, std::span<const Statement> program, Layout answer) {
  Found found{.declared = declared.span,
              .mesh = to_string(declared.mesh),
              .searched_for = {},
              .answer = std::move(answer)};
  for (const Statement& statement : program) {
    if (statement.kind == StatementKind::kDim || statement.kind == StatementKind::kFunction ||
        statement.kind == StatementKind::kImport) {
      found.searched_for.push_back(statement.span);
    }
  }
  found_.push_back(std::move(found));
}

}  // namespace mtf
