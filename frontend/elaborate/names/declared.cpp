// What statements declare, and what a function says of its own gradient.

#include <algorithm>

#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/names/resolver.h"
#include "ir/support/match.h"

namespace mtf::host {

std::vector<const ast::Name*> names_declared_by(const ast::Stmt& stmt) {
  std::vector<const ast::Name*> names;
  match(
      stmt.node,  //
      [&](const ast::Import& import) { names = {&name_of(import)}; },
      [&](const ast::Dims& dims) {
        for (const ast::Sized& dim : dims.dims) {
          names.push_back(&dim.name);
        }
      },
      [&](const ast::Mesh& mesh) { names = {&mesh.name}; },
      [&](const ast::Layout& layout) { names = {&layout.name}; },
      [&](const ast::Fn& fn) { names = {&fn.name}; },
      [&](const ast::Variable& variable) { names = {&variable.name}; },
      [&](const ast::Binding& binding) {
        for (const ast::Name& name : binding.names) {
          names.push_back(&name);
        }
      },
      [](const auto&) {});
  return names;
}

namespace {

void add_declared(std::span<const ast::Stmt> statements,
                  std::set<std::string, std::less<>>& names) {
  for (const ast::Stmt& stmt : statements) {
    for (const ast::Name* name : names_declared_by(stmt)) {
      names.insert(name->text);
    }
    if (const auto* fn = std::get_if<ast::Fn>(&stmt.node)) {
      std::ranges::for_each(fn->parameters, [&names](const ast::Parameter& parameter) {
        names.insert(parameter.name.text);
      });
    } else if (const auto* loop = std::get_if<ast::For>(&stmt.node)) {
      names.insert(loop->variable.text);
    } else if (const auto* gradient = std::get_if<ast::Gradient>(&stmt.node)) {
      std::ranges::for_each(gradient->names,
                            [&names](const ast::Name& name) { names.insert(name.text); });
    }
    for_each_block(stmt, [&names](std::span<const ast::Stmt> body) { add_declared(body, names); });
  }
}

}  // namespace

std::set<std::string, std::less<>> names_declared_anywhere(const ast::File& file) {
  std::set<std::string, std::less<>> names;
  add_declared(file.statements, names);
  return names;
}

std::vector<std::string> declared_names(const ast::File& file) {
  std::vector<std::string> names;
  for (const ast::Stmt& stmt : file.statements) {
    for (const ast::Name* name : names_declared_by(stmt)) {
      names.push_back(name->text);
    }
  }
  return names;
}

// One block for a function, which has no variables of its own: no gradient would reach them.
void Resolver::check_gradient(const ast::Fn& fn) {
  const ast::Gradient* first = nullptr;
  for (const ast::Stmt& stmt : fn.body.statements) {
    const auto* gradient = std::get_if<ast::Gradient>(&stmt.node);
    if (gradient != nullptr && first != nullptr) {
      c_.report.error(DiagKind::kDuplicateName, stmt.span,
                      "`" + fn.name.text + "` has a `gradient` already",
                      {{.span = first->names.front().span, .text = "first here"}});
    }
    first = first == nullptr ? gradient : first;
  }
  for (const ast::Stmt& stmt : fn.body.statements) {
    const auto* variable = std::get_if<ast::Variable>(&stmt.node);
    if (first != nullptr && variable != nullptr && variable->trained) {
      c_.report.error(DiagKind::kNoGradient, variable->name.span,
                      "no gradient would reach the param `" + variable->name.text + "`: that of `" +
                          fn.name.text +
                          "` is of its parameters; declare it outside and pass it in",
                      {{.span = first->names.front().span, .text = "its `gradient` is here"}});
    }
  }
}

void Resolver::gradient(const ast::Gradient& gradient, SourceSpan span) {
  if (!levels_.back().is_function) {
    c_.report.error(DiagKind::kSyntax, span,
                    "`gradient` stands in the body of a function, outside of its loops and blocks");
  }
  levels_.emplace_back();
  for (const ast::Name& name : gradient.names) {
    declare(name, NameKind::kLet);
  }
  statements(gradient.body.statements);
  levels_.pop_back();
}

}  // namespace mtf::host
