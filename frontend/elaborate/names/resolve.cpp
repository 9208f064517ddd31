// Statements: what they declare and assign.

#include "frontend/elaborate/names/resolve.h"

#include <algorithm>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolver.h"
#include "ir/support/match.h"

namespace mtf::host {

bool resolve(Context& c, const Module& module) {
  const std::size_t before = c.report.sink().errors();
  Resolver(c, module).run();
  return c.report.sink().errors() == before;
}

Resolver::Resolver(Context& context, const Module& module) : c_(context), module_(module) {
  Level earlier;
  earlier.is_earlier = true;
  for (const auto& [name, binding] : module.scope->names()) {
    earlier.names.emplace(name, Known{.kind = binding.kind, .span = binding.span});
    for (const Shape& shape : shapes_in({&binding.value, 1})) {
      for (const Dim& dim : shape.dims()) {
        earlier.taken_as_dims.insert(dim.name);
      }
    }
  }
  levels_ = {std::move(earlier), Level()};
  for (const ast::Stmt& stmt : module.file.statements) {
    for (const ast::Name* name : names_declared_by(stmt)) {
      later_.emplace(name->text, name->span);
    }
  }
}

void Resolver::run() {
  c_.modules.imported.erase(&module_);
  for (const ast::Stmt& stmt : module_.file.statements) {  // known above their place, too
    if (const auto* fn = std::get_if<ast::Fn>(&stmt.node)) {
      declare(fn->name, NameKind::kFunction);
    }
  }
  statements(module_.file.statements);
  for (const ast::Stmt& stmt : module_.file.statements) {  // with all that the file declares
    if (const auto* fn = std::get_if<ast::Fn>(&stmt.node)) {
      uses_ = &c_.modules.uses.insert_or_assign(fn, FunctionUses()).first->second;
      function(*fn);
      uses_ = nullptr;
    }
  }
}

bool Resolver::at_top_level() const {
  return levels_.size() == 2;
}

Resolver::Found Resolver::find(std::string_view name) const {
  Found found;
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const auto known = levels_[i].names.find(name);
    if (known != levels_[i].names.end()) {
      found.known = &known->second;
      found.is_top_level = i <= 1;
      return found;
    }
    found.is_outside = found.is_outside || levels_[i].is_function;
  }
  return found;
}

bool Resolver::is_known(std::string_view name) const {
  return find(name).known != nullptr || find_op(c_.units.ops, name) != nullptr ||
         find_host_fn(name) != nullptr || find_dtype(name).has_value();
}

std::vector<std::string> Resolver::visible(std::optional<NameKind> kind) const {
  std::vector<std::string> names;
  for (const Level& level : levels_) {
    for (const auto& [name, known] : level.names) {
      if (!kind || known.kind == *kind) {
        names.push_back(name);
      }
    }
  }
  return names;
}

void Resolver::declare(const ast::Name& name, NameKind kind) {
  Level& level = levels_.back();
  const auto own = level.names.find(name.text);
  if (own != level.names.end() && own->second.kind != NameKind::kInlineDim) {
    const bool is_first = name.span.begin < own->second.span.begin;
    c_.report.error(DiagKind::kDuplicateName, is_first ? own->second.span : name.span,
                    "`" + name.text + "` is declared already",
                    {{.span = is_first ? name.span : own->second.span, .text = "first here"}});
    c_.report.leave_out_declared(name.text);
    return;
  }
  for (std::size_t i = levels_.size() - 1; i-- > 0;) {
    const auto outer = levels_[i].names.find(name.text);
    const bool is_same_scope = levels_[i].is_earlier && at_top_level();
    if (outer != levels_[i].names.end() && outer->second.kind == NameKind::kDim && !is_same_scope) {
      c_.report.error(DiagKind::kShadowedDim, name.span,
                      "`" + name.text + "` is a dim; another meaning would hide it",
                      {{.span = outer->second.span, .text = "the dim is declared here"}});
      break;
    }
  }
  level.names.insert_or_assign(name.text, Known{.kind = kind, .span = name.span});
}

void Resolver::declare_inline(const ast::Name& name) {
  note_dim(name);
  if (find(name.text).known == nullptr) {
    levels_.back().names.emplace(name.text, Known{.kind = NameKind::kInlineDim, .span = name.span});
  }
}

// The size of a name that nothing has is known once the file is read.
void Resolver::file_dims(const ast::Bracket& dims) {
  for (const ast::Element& element : dims.elements) {
    const auto* part = std::get_if<ast::Expr>(&element.node);
    const ast::NameRef* name = part == nullptr ? nullptr : ast::as_name(*part);
    if (name != nullptr && !is_known(name->text) && !later_.contains(name->text)) {
      declare_inline({.text = name->text, .span = part->span});
    }
  }
  type_dims(dims);
}

namespace {

// What to do instead of assigning to a name that stands for this.
std::string instead_of_assigning(NameKind kind, const std::string& name) {
  switch (kind) {
    case NameKind::kVar:
      return "; a function returns new values instead of assigning outside";
    case NameKind::kVariable:
      return "; `<-` assigns to it";
    case NameKind::kLet:
      return "; declare it with `var` to assign to it";
    case NameKind::kOption:
      return ", which stays as it is given; `var current = " + name + "` copies it";
    default:
      return "";
  }
}

}  // namespace

void Resolver::assign(const ast::Name& name) {
  const Found found = find(name.text);
  if (found.known == nullptr && is_reported(name.text)) {
    c_.report.leave_out(DiagKind::kUnknownName, name.span);
    return;
  }
  if (found.known == nullptr) {
    const Suggestion suggestion = suggest(name.text, visible(NameKind::kVar));
    c_.report.error(DiagKind::kUnknownName, name.span,
                    "`" + name.text + "` is not declared" +
                        (suggestion.text.empty() ? "; `var " + name.text + " = …` declares it"
                                                 : suggestion.text),
                    {}, suggestion.fix);
    return;
  }
  const NameKind kind = found.known->kind;
  if (kind == NameKind::kVar && !found.is_outside) {
    return;
  }
  c_.report.error(DiagKind::kReassignedLet, name.span,
                  "`" + name.text + "` is " + std::string(to_string(kind)) +
                      (kind == NameKind::kVar ? " outside of this function" : "") +
                      instead_of_assigning(kind, name.text),
                  {{.span = found.known->span, .text = "declared here"}});
}

void Resolver::only_at_top_level(SourceSpan span, std::string_view what) {
  if (!at_top_level()) {
    c_.report.error(DiagKind::kSyntax, span,
                    "`" + std::string(what) + "` stands at the top level of a file");
  }
}

void Resolver::function(const ast::Fn& fn) {
  levels_.emplace_back();
  levels_.back().is_function = true;
  for (const ast::Parameter& parameter : fn.parameters) {
    if (fn.is_model && !parameter.type) {
      c_.report.error(
          DiagKind::kWrongType, parameter.name.span,
          "every parameter of a model has a type; `" + parameter.name.text + "` has none");
    }
    if (parameter.type) {
      type(*parameter.type);
    }
    if (parameter.initial) {
      expr(*parameter.initial);
    }
    declare(parameter.name, NameKind::kParameter);
  }
  for (const ast::TypeExpr& result : fn.results) {
    type(result);
  }
  check_gradient(fn);
  statements(fn.body.statements);
  levels_.pop_back();
}

void Resolver::block(const ast::Block& block) {
  levels_.emplace_back();
  statements(block.statements);
  end_block();
}

void Resolver::end_block() {
  const Level ended = std::move(levels_.back());
  levels_.pop_back();
  for (const auto& [name, known] : ended.names) {
    function_level().ended.insert_or_assign(name, known);
  }
}

const Resolver::Known* Resolver::in_ended_block(std::string_view name) {
  const Level& level = function_level();
  const auto found = level.ended.find(name);
  const bool is_value = found != level.ended.end() && (found->second.kind == NameKind::kLet ||
                                                       found->second.kind == NameKind::kVar ||
                                                       found->second.kind == NameKind::kLoop);
  return is_value ? &found->second : nullptr;
}

void Resolver::statements(std::span<const ast::Stmt> list) {
  for (const ast::Stmt& stmt : list) {
    statement(stmt);
  }
}

void Resolver::loop(const ast::For& loop) {
  const auto* call = std::get_if<ast::Postfix>(&loop.over.node);
  const ast::NameRef* callee = call == nullptr ? nullptr : ast::as_name(*call->base);
  if (callee != nullptr && callee->text == "range" && find("range").known == nullptr) {
    c_.report.error(DiagKind::kWrongType, loop.over.span,
                    "`range` makes a tensor; a loop runs over numbers as `0..n` or `0..n step 2`");
    if (const auto* made = std::get_if<ast::Call>(&call->suffixes.front().node)) {
      for (const ast::Argument& argument : made->arguments) {
        c_.report.leave_out(DiagKind::kWrongType, argument.span);  // as 10 is no dim
      }
    }
  } else {
    expr(loop.over);
  }
  if (loop.step) {
    expr(*loop.step);
  }
  levels_.emplace_back();
  levels_.back().is_loop = true;
  declare(loop.variable, NameKind::kLoop);
  if (loop.condition) {
    expr(*loop.condition);
  }
  statements(loop.body.statements);
  end_block();
}

void Resolver::leave(const ast::Leave& leave, SourceSpan span) {
  for (std::size_t i = levels_.size(); i-- > 0 && !levels_[i].is_function;) {
    if (levels_[i].is_loop) {
      return;
    }
  }
  c_.report.error(DiagKind::kSyntax, span,
                  std::string(leave.for_next_turn ? "`continue`" : "`break`") +
                      " stands in a `for` or a `while`");
}

void Resolver::branches(const ast::If& choice) {
  for (const ast::Branch& branch : choice.branches) {
    expr(branch.condition);
    block(branch.body);
  }
  if (choice.otherwise) {
    block(*choice.otherwise);
  }
}

void Resolver::layout(const ast::Layout& layout) {
  if (layout.mesh && find(layout.mesh->text).known == nullptr) {
    const std::string mesh = mesh_with_axis(layout.mesh->text);
    const Suggestion suggestion =
        mesh.empty() ? suggest(layout.mesh->text, visible(NameKind::kMesh))
                     : Suggestion{.text = "; it is an axis of `" + mesh + "`", .fix = mesh};
    c_.report.error(DiagKind::kUnknownName, layout.mesh->span,
                    "no mesh `" + layout.mesh->text + "` is declared above" + suggestion.text, {},
                    suggestion.fix);
  }
  declare(layout.name, NameKind::kLayout);
}

void Resolver::use_layout(const ast::UseLayout& use) {
  const Found found = find(use.layout.text);
  if (found.known != nullptr && found.known->kind == NameKind::kLayout) {
    return;
  }
  const bool is_later = std::ranges::any_of(module_.file.statements, [&](const ast::Stmt& stmt) {
    const auto* layout = std::get_if<ast::Layout>(&stmt.node);
    return layout != nullptr && layout->name.text == use.layout.text;
  });
  if (is_later || use.layout.text == kOneRank) {
    return;
  }
  const Suggestion suggestion = suggest(use.layout.text, visible(NameKind::kLayout));
  c_.report.error(DiagKind::kUnknownLayout, use.layout.span,
                  "no layout `" + use.layout.text + "` is declared" + suggestion.text, {},
                  suggestion.fix);
}

Resolver::Level& Resolver::function_level() {
  const auto function = std::find_if(levels_.rbegin(), levels_.rend(),
                                     [](const Level& level) { return level.is_function; });
  return function == levels_.rend() ? levels_.front() : *function;
}

std::string Resolver::mesh_with_axis(std::string_view name) const {
  const auto is_axis = [name](const ast::Sized& axis) { return axis.name.text == name; };
  for (const ast::Stmt& statement : module_.file.statements) {
    const auto* mesh = std::get_if<ast::Mesh>(&statement.node);
    if (mesh != nullptr && std::ranges::any_of(mesh->axes, is_axis)) {
      return mesh->name.text;
    }
  }
  // Of what was typed before.
  const auto before = std::ranges::find_if(c_.layouts.meshes, [name](const Mesh& mesh) {
    return mesh.find(std::string(name)).has_value();
  });
  return before == c_.layouts.meshes.end() ? "" : before->name;
}

bool Resolver::is_declared_anywhere(std::string_view name) {
  if (!anywhere_) {
    anywhere_ = names_declared_anywhere(module_.file);
  }
  return anywhere_->contains(name);
}

// A name that is missing is told once in each function, and once outside of them; one that the file
// declares nowhere is the same in all of them.
bool Resolver::is_reported(std::string_view name) {
  const bool is_missing = !is_declared_anywhere(name);
  if (is_missing) {
    c_.report.leave_out_dim(name);
  }
  Level& level = is_missing ? levels_.front() : function_level();
  return !level.unknown.emplace(name).second;
}

void Resolver::take_as_dim(std::string_view name) {
  if (!is_known(name)) {
    function_level().taken_as_dims.emplace(name);
  }
}

bool Resolver::is_taken_as_dim(std::string_view name) {
  return !is_known(name) && function_level().taken_as_dims.contains(name);
}

}  // namespace mtf::host
