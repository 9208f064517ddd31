// A session may declare a name again, a program may not: a dim, mesh, layout or function takes the
// place of the one before, and a `let` becomes a `var` that is assigned to. What says where tensors
// lie stands before the first computation, as a program has it.

#include "frontend/driver/repl/script/script.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "frontend/driver/repl/script/words.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/parse/parse.h"
#include "ir/support/match.h"

namespace mtf {
namespace {

StatementKind kind_of(const ast::Stmt& statement) {
  return match(
      statement.node,  //
      [](const ast::Dims&) { return StatementKind::kDim; },
      [](const ast::Mesh&) { return StatementKind::kMesh; },
      [](const ast::Layout&) { return StatementKind::kLayout; },
      [](const ast::UseLayout&) { return StatementKind::kUse; },
      [](const ast::Fn&) { return StatementKind::kFunction; },
      [](const ast::Import&) { return StatementKind::kImport; },
      [](const ast::Binding&) { return StatementKind::kBinding; },
      [](const auto&) { return StatementKind::kOther; });
}

std::string_view word_for(StatementKind kind) {
  switch (kind) {
    case StatementKind::kDim:
      return "a dim";
    case StatementKind::kMesh:
      return "a mesh";
    case StatementKind::kLayout:
      return "a layout";
    case StatementKind::kFunction:
      return "a function";
    case StatementKind::kImport:
      return "a module";
    case StatementKind::kBinding:
      return "a `let`";
    case StatementKind::kUse:
    case StatementKind::kOther:
      break;
  }
  return "a param or state";
}

bool says_where(StatementKind kind) {
  return kind == StatementKind::kMesh || kind == StatementKind::kLayout ||
         kind == StatementKind::kUse;
}

std::optional<std::size_t> declaring(const std::vector<Statement>& inputs, std::string_view name) {
  for (std::size_t i = inputs.size(); i-- > 0;) {
    if (std::ranges::find(inputs[i].names, name) != inputs[i].names.end()) {
      return i;
    }
  }
  return std::nullopt;
}

// Moves the statement out of the file that it was typed in; of several dims, the one that is meant.
ast::Stmt taken(ast::Stmt& from, const Statement& input) {
  ast::Stmt statement;
  statement.span = from.span;
  if (input.dim) {
    ast::Dims only;
    only.dims.push_back(std::move(std::get<ast::Dims>(from.node).dims[*input.dim]));
    statement.node = std::move(only);
    return statement;
  }
  auto* binding = std::get_if<ast::Binding>(&from.node);
  auto* expression = std::get_if<ast::Evaluate>(&from.node);
  if (input.form == StatementForm::kVar && binding != nullptr) {
    binding->rebindable = true;
  } else if (input.form == StatementForm::kAssigned && binding != nullptr) {
    ast::Assign assign{.names = std::move(binding->names), .value = std::move(binding->value)};
    statement.node = std::move(assign);
    return statement;
  } else if (input.form == StatementForm::kPrinted && expression != nullptr) {
    ast::Print print;
    print.parts.push_back(std::move(expression->value));
    statement.node = std::move(print);
    return statement;
  }
  statement.node = std::move(from.node);
  return statement;
}

// Without the labels, as a mesh's axes: one may be called as a value is.
std::string without_labels(std::string_view text) {
  std::string kept;
  std::size_t word = 0;  // where the last one begins
  for (const char letter : text) {
    if (letter == ':') {
      kept.resize(word);
    }
    kept += letter;
    const bool goes_on = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
                         letter == ' ' || (static_cast<unsigned char>(letter) & 0x80U) != 0;
    word = goes_on ? word : kept.size();
  }
  return kept;
}

}  // namespace

bool computes(StatementKind kind) {
  return kind == StatementKind::kBinding || kind == StatementKind::kOther;
}

bool contains(const Statement& statement, SourceSpan span) {
  return span.file == statement.file && statement.span.begin <= span.begin &&
         span.end <= statement.span.end;
}

std::vector<Statement> Script::inputs_of(const ast::File& file) {
  std::vector<Statement> result;
  for (std::size_t i = 0; i < file.statements.size(); ++i) {
    const ast::Stmt& statement = file.statements[i];
    Statement input{.file = file.id,
                    .statement = i,
                    .dim = std::nullopt,
                    .span = statement.span,
                    .kind = kind_of(statement),
                    .names = {}};
    if (const auto* dims = std::get_if<ast::Dims>(&statement.node)) {
      for (std::size_t d = 0; d < dims->dims.size(); ++d) {
        const ast::Sized& dim = dims->dims[d];
        input.dim = d;
        input.span = join(dim.name.span, dim.size.span);
        input.names = {dim.name.text};
        result.push_back(input);
      }
      continue;
    }
    for (const ast::Name* name : host::names_declared_by(statement)) {
      input.names.push_back(name->text);
    }
    result.push_back(std::move(input));
  }
  return result;
}

// Behind all that it must know. (The dims of a layout's rules need not be declared.)
std::size_t Script::behind_needs(const Statement& input, const SourceMap& sources) const {
  const auto words =
      words_of(input.kind == StatementKind::kMesh ? without_labels(text_at(sources, input.span))
                                                  : std::string(text_at(sources, input.span)));
  std::size_t place = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const bool may_need = input.kind == StatementKind::kMesh ||
                          inputs_[i].kind == StatementKind::kMesh ||
                          inputs_[i].kind == StatementKind::kLayout;
    const bool is_named =
        may_need && std::ranges::any_of(inputs_[i].names, [&](const std::string& name) {
          return words.contains(name);
        });
    place = is_named ? i + 1 : place;
  }
  return place;
}

// And behind what declares besides.
std::size_t Script::earliest(const Statement& input, const SourceMap& sources) const {
  std::size_t place = behind_needs(input, sources);
  while (place < inputs_.size() && !computes(inputs_[place].kind)) {
    ++place;
  }
  return place;
}

bool Script::redeclare(std::size_t before, const Statement& input, const SourceMap& sources,
                       DiagSink& diags) {
  Statement& old = inputs_[before];
  const bool same_names = old.names == input.names;
  const bool bound = old.kind == StatementKind::kBinding && input.kind == StatementKind::kBinding;
  if (bound && same_names) {
    old.form = old.form == StatementForm::kAsTyped ? StatementForm::kVar : old.form;
    inputs_.push_back(input);
    inputs_.back().form = StatementForm::kAssigned;
    place_ = inputs_.size() - 1;
    appended_ = true;
    return true;
  }
  if (old.kind == input.kind && same_names && !bound && input.kind != StatementKind::kOther) {
    inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(before));
    const bool may_be_later = input.kind == StatementKind::kLayout;  // on a mesh that is new
    place_ = may_be_later ? std::max(before, behind_needs(input, sources)) : before;
    inputs_.insert(inputs_.begin() + static_cast<std::ptrdiff_t>(place_), input);
    appended_ = false;
    return true;
  }
  std::string text = "`" + joined(old.names, ", ") + "` ";
  text += old.names.size() > 1 ? "were bound together"
                               : "is " + std::string(word_for(old.kind)) + " of this session";
  diags.error(DiagKind::kDuplicateName, input.span,
              text + "; another name here, or `:undo` until it is gone",
              {{.span = old.span, .text = "first here"}});
  return false;
}

bool Script::accept(const Statement& input, const SourceMap& sources, DiagSink& diags) {
  for (const std::string& name : input.names) {
    if (const std::optional<std::size_t> before = declaring(inputs_, name)) {
      return redeclare(*before, input, sources, diags);
    }
  }
  if (!says_where(input.kind)) {
    place_ = inputs_.size();
    inputs_.push_back(input);
    appended_ = true;
    return true;
  }
  if (input.kind == StatementKind::kUse) {
    std::erase_if(inputs_, [](const Statement& old) { return old.kind == StatementKind::kUse; });
  }
  place_ = earliest(input, sources);
  inputs_.insert(inputs_.begin() + static_cast<std::ptrdiff_t>(place_), input);
  appended_ = false;
  return true;
}

void Script::drop(std::size_t place) {
  inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(place));
  // A `let` that was bound again may be bound once now.
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Statement& input = inputs_[i];
    if (input.kind == StatementKind::kBinding) {
      const auto same = [&input](const Statement& other) { return other.names == input.names; };
      const auto here = inputs_.begin() + static_cast<std::ptrdiff_t>(i);
      const bool is_first = std::find_if(inputs_.begin(), here, same) == here;
      const bool is_last = std::find_if(here + 1, inputs_.end(), same) == inputs_.end();
      input.form = !is_first ? StatementForm::kAssigned
                   : is_last ? StatementForm::kAsTyped
                             : StatementForm::kVar;
    }
  }
}

ast::File program_of(std::span<const Statement> inputs, const SourceMap& sources, DiagSink& diags) {
  ast::File result;
  result.id = inputs.empty() ? FileId{} : inputs.front().file;
  std::map<std::int32_t, std::optional<ast::File>> files;
  for (const Statement& input : inputs) {
    const auto [entry, is_new] = files.try_emplace(input.file.index);
    if (is_new) {
      entry->second = parse(input.file, sources, diags);
    }
    if (entry->second) {
      result.statements.push_back(taken(entry->second->statements[input.statement], input));
    }
  }
  return result;
}

ast::File Trees::take(const Statement& input, const SourceMap& sources) {
  if (!(input.file == file_)) {
    trees_.clear();
    file_ = input.file;
  }
  const std::pair part(input.statement, input.dim.value_or(0));
  auto tree =
      std::ranges::find_if(trees_, [&](const Tree& one) { return !one.taken.contains(part); });
  if (tree == trees_.end()) {
    DiagSink known;
    trees_.push_back({.file = parse(input.file, sources, known), .taken = {}});
    tree = trees_.end() - 1;
  }
  tree->taken.insert(part);
  ast::File result;
  result.id = input.file;
  if (tree->file) {
    result.statements.push_back(taken(tree->file->statements[input.statement], input));
  }
  return result;
}

std::string_view text_at(const SourceMap& sources, SourceSpan span) {
  return std::string_view(sources.file(span.file).text).substr(span.begin, span.end - span.begin);
}

std::string text_of(const Statement& input, const SourceMap& sources) {
  std::string text(text_at(sources, input.span));
  const std::size_t blank = text.find_first_of(" \t");
  if (input.dim) {
    return "dim " + text;
  }
  switch (input.form) {
    case StatementForm::kAsTyped:
      return text;
    case StatementForm::kPrinted:
      return "print " + text;
    case StatementForm::kVar:
      return "var" + text.substr(blank);
    case StatementForm::kAssigned:
      return text.substr(text.find_first_not_of(" \t", blank));
  }
  return text;
}

std::string Script::text(const SourceMap& sources) const {
  std::string result;
  for (const Statement& input : inputs_) {
    result += text_of(input, sources) + "\n";
  }
  return result;
}

}  // namespace mtf
