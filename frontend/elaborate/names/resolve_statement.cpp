// Names, statement by statement.

#include <algorithm>

#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolver.h"

namespace mtf::host {

void Resolver::visit(const ast::Import& import, SourceSpan span) {
  only_at_top_level(span, "import");
  declare(name_of(import), NameKind::kModule);
}

void Resolver::visit(const ast::Dims& dims, SourceSpan /*span*/) {
  for (const ast::Sized& dim : dims.dims) {
    expr(dim.size);
    note_dim(dim.name);
    declare(dim.name, NameKind::kDim);
  }
}

void Resolver::visit(const ast::Mesh& mesh, SourceSpan span) {
  only_at_top_level(span, "mesh");
  for (const ast::Sized& axis : mesh.axes) {
    expr(axis.size);
  }
  declare(mesh.name, NameKind::kMesh);
}

void Resolver::visit(const ast::Layout& declared, SourceSpan span) {
  only_at_top_level(span, "layout");
  layout(declared);
}

void Resolver::visit(const ast::UseLayout& use, SourceSpan span) {
  only_at_top_level(span, "use layout");
  use_layout(use);
}

void Resolver::visit(const ast::Fn& fn, SourceSpan /*span*/) {
  if (!at_top_level()) {  // the others are done at the end
    declare(fn.name, NameKind::kFunction);
    function(fn);
  }
}

void Resolver::visit(const ast::Binding& binding, SourceSpan span) {
  if (binding.is_option) {
    only_at_top_level(span, "option");
    if (!module_.is_main) {
      c_.report.error(DiagKind::kBadArgument, span,
                      "`option` stands in the program's own file; what it imports is given values "
                      "by calls");
    }
  }
  expr(binding.value);
  const NameKind kind = binding.is_option    ? NameKind::kOption
                        : binding.rebindable ? NameKind::kVar
                                             : NameKind::kLet;
  for (const ast::Name& name : binding.names) {
    declare(name, kind);
  }
}

void Resolver::visit(const ast::Assign& assignment, SourceSpan /*span*/) {
  expr(assignment.value);
  std::ranges::for_each(assignment.names, [this](const ast::Name& name) { assign(name); });
}

void Resolver::visit(const ast::Update& update, SourceSpan /*span*/) {
  expr(update.target);
  expr(update.value);
}

void Resolver::visit(const ast::Variable& variable, SourceSpan /*span*/) {
  if (variable.type) {
    type(*variable.type);
  }
  if (variable.initial) {
    expr(*variable.initial);
  }
  declare(variable.name, NameKind::kVariable);
}

void Resolver::visit(const ast::For& repeat, SourceSpan /*span*/) {
  loop(repeat);
}

void Resolver::visit(const ast::While& repeat, SourceSpan /*span*/) {
  expr(repeat.condition);
  levels_.emplace_back();
  levels_.back().is_loop = true;
  statements(repeat.body.statements);
  levels_.pop_back();
}

void Resolver::visit(const ast::If& choice, SourceSpan /*span*/) {
  branches(choice);
}

void Resolver::visit(const ast::Leave& out, SourceSpan span) {
  leave(out, span);
}

void Resolver::visit(const ast::Return& value, SourceSpan span) {
  const bool in_function =
      std::ranges::any_of(levels_, [](const Level& level) { return level.is_function; });
  if (!in_function) {
    c_.report.error(DiagKind::kSyntax, span, "`return` stands in a function");
  }
  std::ranges::for_each(value.values, [this](const ast::Expr& part) { expr(part); });
}

void Resolver::visit(const ast::Print& print, SourceSpan /*span*/) {
  std::ranges::for_each(print.parts, [this](const ast::Expr& part) { expr(part); });
}

void Resolver::visit(const ast::Assert& assertion, SourceSpan /*span*/) {
  expr(assertion.condition);
  if (assertion.message) {
    expr(*assertion.message);
  }
}

void Resolver::visit(const ast::Minimize& minimize, SourceSpan /*span*/) {
  expr(minimize.loss);
  expr(minimize.rule);
  for (const ast::Argument& option : minimize.options) {
    expr(option.value);
  }
  if (minimize.params) {
    expr(*minimize.params);
  }
}

void Resolver::visit(const ast::Checkpoint& checkpoint, SourceSpan /*span*/) {
  c_.modules.have_save = c_.modules.have_save || !checkpoint.restore;
  reads_block_ = false;
  expr(checkpoint.path);
  if (checkpoint.part) {
    expr(*checkpoint.part);
  }
  for (const ast::Argument& option : checkpoint.options) {
    expr(option.value);
  }
  if (!checkpoint.restore && !reads_block_) {
    c_.modules.lone_saves.insert(&checkpoint);
  }
}

void Resolver::visit(const ast::WithLayout& with, SourceSpan /*span*/) {
  block(with.body);
}

void Resolver::visit(const ast::WithPrecision& with, SourceSpan /*span*/) {
  block(with.body);
}

void Resolver::visit(const ast::Recompute& recompute, SourceSpan /*span*/) {
  block(recompute.body);
}

void Resolver::visit(const ast::Gradient& own, SourceSpan span) {
  gradient(own, span);
}

void Resolver::visit(const ast::Expect& expect, SourceSpan /*span*/) {
  if (uses_ != nullptr) {
    uses_->expects = true;
  }
  std::ranges::for_each(expect.clauses, [this](const ast::Clause& clause) { expr(clause.bound); });
}

namespace {

// `a` of `a`, `a(x)` and `a - x`.
const ast::Expr& first_of(const ast::Expr& value) {
  const auto* chain = std::get_if<ast::Chain>(&value.node);
  const ast::Expr& first = chain == nullptr ? value : *chain->first;
  const auto* postfix = std::get_if<ast::Postfix>(&first.node);
  return postfix == nullptr ? first : *postfix->base;
}

// What was meant by a comparison that stands alone, `h == f(h)` or `w < -0.1 * g`: nothing it could
// be is done without a word.
std::string what_assigns(const ast::Link& comparison) {
  switch (comparison.op) {
    case ast::BinaryOp::kEqual:
      return "`=` assigns, `assert` tests";
    case ast::BinaryOp::kLess:
      return "`<-` assigns, `assert` tests";
    case ast::BinaryOp::kNotEqual:
    case ast::BinaryOp::kLessEqual:
    case ast::BinaryOp::kGreater:
    case ast::BinaryOp::kGreaterEqual:
      return "`assert` tests";
    default:
      return {};
  }
}

void warn_of_comparison(Reporter& report, const ast::Expr& value) {
  const auto* chain = std::get_if<ast::Chain>(&value.node);
  const std::string meant = chain == nullptr ? "" : what_assigns(chain->links.front());
  if (!meant.empty()) {
    report.warning(DiagKind::kIdleStatement, value.span,
                   "nothing reads what is compared here; " + meant);
  }
}

// What a name at the start of a statement may have been meant to be: `break`, `return -x`,
// `print(x)`.
std::vector<std::string> words_meant(bool stands_alone) {
  return stands_alone
             ? std::vector<std::string>{"break", "continue", "return"}
             : std::vector<std::string>{"assert", "if", "minimize", "print", "return", "while"};
}

}  // namespace

void Resolver::visit(const ast::Evaluate& evaluate, SourceSpan /*span*/) {
  const ast::Expr& first = first_of(evaluate.value);
  const ast::NameRef* name = ast::as_name(first);
  const bool is_unknown = name != nullptr && !is_known(name->text);
  if (is_unknown) {
    name_ref(name->text, first.span, words_meant(&first == &evaluate.value));
  }
  if (!is_unknown || &first != &evaluate.value) {
    expr(evaluate.value);
  }
  if (!module_.is_answered) {
    warn_of_comparison(c_.report, evaluate.value);
  }
}

void Resolver::statement(const ast::Stmt& stmt) {
  std::visit([&](const auto& node) { this->visit(node, stmt.span); }, stmt.node);
}

}  // namespace mtf::host
