#include "frontend/driver/repl/script/left_out.h"

#include <algorithm>
#include <utility>

namespace mtf {

std::optional<std::size_t> culprit(std::span<const Diag> diags,
                                   const std::vector<Statement>& statements,
                                   std::span<const Statement> kept) {
  // A layout that is wrong in itself points to its mesh.
  const auto is_own = [&](const Diag& diag) {
    return std::ranges::any_of(kept, [&](const Statement& changed) {
      return changed.kind == StatementKind::kLayout && contains(changed, diag.span);
    });
  };
  for (std::size_t i = statements.size(); i-- > 0;) {
    if (std::ranges::find(kept, statements[i].span, &Statement::span) != kept.end()) {
      continue;
    }
    for (const Diag& diag : diags) {
      const bool points = diag.severity == Severity::kError && !is_own(diag) &&
                          (contains(statements[i], diag.span) ||
                           std::ranges::any_of(diag.notes, [&](const Note& note) {
                             return contains(statements[i], note.span);
                           }));
      if (points) {
        return i;
      }
    }
  }
  return std::nullopt;
}

namespace {

// A rule that does not divide what it splits is told at the first tensor that shows it.
bool is_of_same_rule(const Diag& error, const Diag& other) {
  return error.kind == DiagKind::kIndivisible && other.kind == error.kind && !error.notes.empty() &&
         !other.notes.empty() && error.notes.front().span == other.notes.front().span &&
         error.notes.front().text == other.notes.front().text;
}

}  // namespace

void add_causes(std::span<const Diag> errors, bool is_first, std::vector<Diag>& causes) {
  for (const Diag& error : errors) {
    const bool follows =
        error.kind == DiagKind::kUnknownName || error.kind == DiagKind::kUnknownDim;
    const bool is_known = std::ranges::any_of(causes, [&](const Diag& known) {
      return (known.span == error.span && known.text == error.text) ||
             is_of_same_rule(error, known);
    });
    if ((is_first || !follows) && !is_known) {
      causes.push_back(error);
    }
  }
}

std::vector<std::string> first_lines(std::vector<Statement> statements, const SourceMap& sources) {
  std::ranges::sort(statements, {}, [](const Statement& statement) {
    return std::pair(statement.file.index, statement.span.begin);
  });
  std::vector<std::string> lines;
  for (const Statement& statement : statements) {
    const std::string text = text_of(statement, sources);
    lines.push_back(text.substr(0, text.find('\n')));
  }
  return lines;
}

std::string left_out_text(std::vector<Statement> statements, const SourceMap& sources) {
  std::string text;
  for (const std::string& line : first_lines(std::move(statements), sources)) {
    text += "left out now: `" + line + "`\n";
  }
  return text + "`:undo` brings back what was left out\n";
}

}  // namespace mtf
