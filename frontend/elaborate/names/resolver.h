// The walk of `resolve`: scopes of names without values.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/elaborate/context.h"
#include "frontend/elaborate/names/module.h"

namespace mtf::host {

class Resolver {
 public:
  // What a name alone may be where a call has it.
  enum class BareName {
    kKnown,   // what has a meaning here
    kTaken,   // or a dim that an operation has made before: a tensor of the call may have it
    kOperand  // or a dim of an operand, which only evaluation can tell
  };

  Resolver(Context& context, const Module& module);

  void run();

 private:
  struct Known {
    NameKind kind{};
    SourceSpan span;
  };
  struct Level {
    std::map<std::string, Known, std::less<>> names;
    bool is_function = false;
    bool is_loop = false;
    bool is_earlier = false;  // what a REPL was told before; may be declared anew
    std::set<std::string, std::less<>>
        unknown;  // names that were reported, of a function or a file
    std::map<std::string, Known, std::less<>> ended;  // of its blocks so far, as they are no more
    // Names that stand for nothing and that operations have taken as dims of their tensors.
    std::set<std::string, std::less<>> taken_as_dims;
  };
  struct Found {
    const Known* known = nullptr;
    bool is_outside = false;    // of the function that asks
    bool is_top_level = false;  // declared there
  };

  // resolve.cpp: statements and names
  void block(const ast::Block& block);
  void statements(std::span<const ast::Stmt> list);
  void statement(const ast::Stmt& stmt);  // resolve_statement.cpp, and one for each kind
  void visit(const ast::Import& import, SourceSpan span);
  void visit(const ast::Dims& dims, SourceSpan span);
  void visit(const ast::Mesh& mesh, SourceSpan span);
  void visit(const ast::Layout& declared, SourceSpan span);
  void visit(const ast::UseLayout& use, SourceSpan span);
  void visit(const ast::Fn& fn, SourceSpan span);
  void visit(const ast::Binding& binding, SourceSpan span);
  void visit(const ast::Assign& assignment, SourceSpan span);
  void visit(const ast::Update& update, SourceSpan span);
  void visit(const ast::Variable& variable, SourceSpan span);
  void visit(const ast::For& repeat, SourceSpan span);
  void visit(const ast::While& repeat, SourceSpan span);
  void visit(const ast::If& choice, SourceSpan span);
  void visit(const ast::Leave& out, SourceSpan span);
  void visit(const ast::Return& value, SourceSpan span);
  void visit(const ast::Print& print, SourceSpan span);
  void visit(const ast::Assert& assertion, SourceSpan span);
  void visit(const ast::Minimize& minimize, SourceSpan span);
  void visit(const ast::Checkpoint& checkpoint, SourceSpan span);
  void visit(const ast::WithLayout& with, SourceSpan span);
  void visit(const ast::WithPrecision& with, SourceSpan span);
  void visit(const ast::Recompute& recompute, SourceSpan span);
  void visit(const ast::Gradient& own, SourceSpan span);
  void visit(const ast::Expect& expect, SourceSpan span);
  void visit(const ast::Evaluate& evaluate, SourceSpan span);
  void function(const ast::Fn& fn);
  void declare(const ast::Name& name, NameKind kind);
  void declare_inline(const ast::Name& name);
  void file_dims(const ast::Bracket& dims);
  void assign(const ast::Name& name);
  void loop(const ast::For& loop);
  void leave(const ast::Leave& leave, SourceSpan span);
  void check_gradient(const ast::Fn& fn);                         // declared.cpp
  void gradient(const ast::Gradient& gradient, SourceSpan span);  // declared.cpp
  void branches(const ast::If& choice);
  void layout(const ast::Layout& layout);
  void use_layout(const ast::UseLayout& use);
  void only_at_top_level(SourceSpan span, std::string_view what);
  [[nodiscard]] Found find(std::string_view name) const;
  [[nodiscard]] bool is_known(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> visible(std::optional<NameKind> kind = {}) const;
  [[nodiscard]] bool at_top_level() const;

  // resolve_expr.cpp: expressions and types
  void expr(const ast::Expr& expr);
  [[nodiscard]] std::string in_imported(std::string_view name, bool is_dim) const;
  [[nodiscard]] std::string in_module(std::string_view name) const;
  [[nodiscard]] std::string alike_in_module(std::string_view name) const;
  void note_use(std::string_view name);
  void note_dim(const ast::Name& name) { c_.modules.dims.insert(name.text); }
  // `others`: what else it could have been meant to be.
  void name_ref(std::string_view name, SourceSpan span, std::vector<std::string> others = {});
  [[nodiscard]] bool is_reported(std::string_view name);
  [[nodiscard]] bool is_declared_anywhere(std::string_view name);
  // The mesh that has an axis of that name; "": none.
  [[nodiscard]] std::string mesh_with_axis(std::string_view name) const;
  void end_block();
  // A value that a block of the same function declared; null for none.
  [[nodiscard]] const Known* in_ended_block(std::string_view name);
  void behind_block(std::string_view name, const Known& ended, SourceSpan span);
  [[nodiscard]] Level& function_level();  // of the innermost function, or of the file
  void take_as_dim(std::string_view name);
  [[nodiscard]] bool is_taken_as_dim(std::string_view name);
  void bracket(const ast::Bracket& list, BareName may_be);
  void postfix(const ast::Postfix& postfix);
  // `may_be`: in the arguments of what is no operation.
  void call(const ast::Call& call, const OpDef* op, BareName may_be, bool is_builtin);
  void argument(const ast::Expr& value, BareName may_be);
  void function_argument(const ast::Argument& given, BareName may_be);
  void operation_argument(const OpDef& op, const ast::Call& call, std::size_t position);
  void note_file(const OpDef* op, const ast::Call& call);
  void index(const ast::Index& index);
  // `first_of`: whose first suffix it is; null: it is another one.
  void member(const ast::Postfix* first_of, const ast::Member& member);
  void type(const ast::TypeExpr& type);
  void type_dims(const ast::Bracket& dims);
  // `otherwise`: what is said of a name that is like no other.
  void dim_or_shape(const ast::Expr& part, const std::string& otherwise);

  Context& c_;
  const Module& module_;
  std::vector<Level> levels_;
  std::map<std::string, SourceSpan, std::less<>> later_;        // all that the top level declares
  std::optional<std::set<std::string, std::less<>>> anywhere_;  // declared; once it is asked
  FunctionUses* uses_ = nullptr;  // of the function of the top level that this is in
  bool reads_block_ = false;      // a name of the innermost block was used
};

}  // namespace mtf::host
