// What a session has accepted, as the program that it is.

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"
#include "ir/support/diag.h"

namespace mtf {

// How a statement stands in the program, other than it was typed.
enum class StatementForm : std::uint8_t {
  kAsTyped,
  kPrinted,   // an expression, whose value is shown
  kVar,       // a `let` whose name is bound again later
  kAssigned,  // the `let` or `var` that does so
};

enum class StatementKind : std::uint8_t {
  kDim,
  kMesh,
  kLayout,
  kUse,
  kFunction,
  kImport,
  kBinding,  // let, var
  kOther,
};

[[nodiscard]] bool computes(StatementKind kind);

// One statement.
struct Statement {
  FileId file;
  std::size_t statement = 0;       // of that file
  std::optional<std::size_t> dim;  // of a statement that declares several
  SourceSpan span;                 // its text
  StatementKind kind{};
  std::vector<std::string> names;  // that it declares
  StatementForm form = StatementForm::kAsTyped;
};

// Whether a place is in its text.
[[nodiscard]] bool contains(const Statement& statement, SourceSpan span);

class Script {
 public:
  // One for each statement of the file, but for dims, which are one each.
  [[nodiscard]] static std::vector<Statement> inputs_of(const ast::File& file);

  // False: the name means something else already; the error says so.
  bool accept(const Statement& input, const SourceMap& sources, DiagSink& diags);
  void set_form(StatementForm form) { inputs_[place_].form = form; }  // of the last one
  // Takes out what stands at that place.
  void drop(std::size_t place);

  [[nodiscard]] const std::vector<Statement>& inputs() const { return inputs_; }
  // Whether the last one that was accepted stands at the end, as a session can go on with it.
  [[nodiscard]] bool is_appended() const { return appended_; }
  [[nodiscard]] std::size_t place() const { return place_; }  // of the last one

  // A program that `mtf run` runs.
  [[nodiscard]] std::string text(const SourceMap& sources) const;

 private:
  bool redeclare(std::size_t before, const Statement& input, const SourceMap& sources,
                 DiagSink& diags);
  [[nodiscard]] std::size_t behind_needs(const Statement& input, const SourceMap& sources) const;
  [[nodiscard]] std::size_t earliest(const Statement& input, const SourceMap& sources) const;

  std::vector<Statement> inputs_;
  std::size_t place_ = 0;
  bool appended_ = true;
};

// Their tree, made anew at each call. requires: they parse
[[nodiscard]] ast::File program_of(std::span<const Statement> inputs, const SourceMap& sources,
                                   DiagSink& diags);
// The same for one statement after the other: a file of a thousand is not parsed a thousand times.
class Trees {
 public:
  [[nodiscard]] ast::File take(const Statement& input, const SourceMap& sources);

 private:
  struct Tree {
    std::optional<ast::File> file;
    std::set<std::pair<std::size_t, std::size_t>> taken;  // statements, and of one its dims
  };

  FileId file_;  // of all of them
  std::vector<Tree> trees_;
};

// What is written there.
[[nodiscard]] std::string_view text_at(const SourceMap& sources, SourceSpan span);
// As it stands in the program.
[[nodiscard]] std::string text_of(const Statement& input, const SourceMap& sources);

}  // namespace mtf
