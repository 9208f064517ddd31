// Calls: arguments to parameters, functions of the user, their variables' paths.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {

// ---- which argument goes to which parameter (bind.cpp) --------------------------------------

struct Formal {
  std::string name;
  bool required = true;
  bool many = false;         // takes positional arguments up to the name of a dim
  SourceSpan declared = {};  // of a function written in the language
};

// One list per formal: of one expression, of any number if it takes many, or empty.
using Bound = std::vector<std::vector<const ast::Expr*>>;

// Whether an argument of an operation is given by its name: a dim by `over` or `dim`, either of
// them.
[[nodiscard]] bool names_argument(std::string_view given, std::string_view formal);
// Whether names that nothing has make dims there, whose sizes a file tells.
[[nodiscard]] inline bool tells_sizes(const OpDef& op, const OpParam& param) {
  return op.file == FileUse::kReads && param.kind == ParamKind::kNewShape;
}
// Whether a call says which dims it goes over without a positional argument.
[[nodiscard]] bool tells_dims(std::span<const ast::Argument> arguments, bool has_target,
                              bool needs_over);
// nullopt: an error about the call itself was reported. Missing arguments are the caller's to
// report, which may have other values for them, or errors of `bind_required` at `span`.
[[nodiscard]] std::optional<Bound> bind_arguments(Reporter& report, const Names& names,
                                                  std::string_view callee,
                                                  std::span<const Formal> formals,
                                                  std::span<const ast::Argument> arguments,
                                                  const ast::Expr* target = nullptr);
[[nodiscard]] std::optional<Bound> bind_arguments(Reporter& report, const Names& names,
                                                  std::string_view callee,
                                                  std::span<const Formal> formals,
                                                  const ast::Call& call);
[[nodiscard]] std::optional<Bound> bind_required(Reporter& report, const Names& names,
                                                 std::string_view callee,
                                                 std::span<const Formal> formals,
                                                 const ast::Call& call, SourceSpan span);
// Reports the first formal that is required and has no argument; true: none is.
[[nodiscard]] bool has_required(Reporter& report, std::string_view callee,
                                std::span<const Formal> formals, const Bound& bound,
                                SourceSpan span);
void report_missing(Reporter& report, std::string_view callee, std::span<const Formal> formals,
                    std::size_t missing, SourceSpan span);

// The arguments of a function of the user as the names of the scope of its body, each checked
// against its type; false after errors (parameters.cpp).
[[nodiscard]] bool declare_parameters(Context& c, const ast::Fn& fn,
                                      std::span<const std::optional<Operand>> arguments);

// ---- functions of the user (function.cpp) ---------------------------------------------------

struct CallSite {
  SourceSpan span;
  std::string name;  // the part of the path, or empty
  SourceSpan named;  // where `as` gave it
  // Variables belong to the function, under this path: an optimizer's, below the param, and those
  // of a call that `as` names from the root, "/net/w".
  std::optional<std::string> owned_path;
};

// What `as` names a call; nullopt after an error.
[[nodiscard]] std::optional<std::string> name_part(Context& c, const ast::Expr& name);
// A call as its binding names it: not at top level, where two bindings of one function would be two
// sets of variables, without a word.
[[nodiscard]] CallSite bound_site(const Context& c, SourceSpan span);
// Takes the name that `as` gives the call, if it does; false after an error.
[[nodiscard]] bool name_site(Context& c, const ast::Call& call, CallSite& site);

// One per parameter, nullopt where its default is to be taken.
using Arguments = std::vector<std::optional<Operand>>;

[[nodiscard]] std::vector<Formal> formals_of(const ast::Fn& fn);
// Runs the body here, as part of the unit under construction.
[[nodiscard]] Value call_inline(Context& c, const Function& function, const Arguments& arguments,
                                const CallSite& site);
// At top level: builds the function for these arguments, unless it is built, and runs it.
[[nodiscard]] Value call_unit(Context& c, const Function& function, const Arguments& given,
                              const CallSite& site);
// Builds without running; null after an error.
[[nodiscard]] const BuiltFunction* build_entry(Context& c, const Function& function,
                                               const Arguments& arguments);

// The result of the body that has just run, with the gradient that its `gradient` block gives.
// requires: the scope of the body is the innermost (own_gradient.cpp).
[[nodiscard]] Value with_own_gradient(Context& c, const ast::Fn& fn, Value result);

// ---- signatures (signature.cpp) -------------------------------------------------------------

// The value with its tensors replaced by slots of the unit that captured them.
[[nodiscard]] Value as_pattern(Value value, const Recording& unit);
// Whether a value can stand for the pattern; fills the slots of its tensors.
[[nodiscard]] bool matches(const Value& pattern, const Value& value,
                           std::vector<TensorHandle>& slots);

// ---- types (types.cpp) ----------------------------------------------------------------------

// Checks an argument or result against what is written; converts an int to a float.
// Where `misfits` is given, what is wrong is added there rather than reported.
struct Misfit {
  DiagKind kind{};
  SourceSpan span;
  std::string text;
  SourceSpan declared;
};
[[nodiscard]] Value checked_value(Context& c, const Operand& operand, const ast::TypeExpr& type,
                                  std::string_view what, std::vector<Misfit>* misfits = nullptr);
// A number for a parameter that is a scalar tensor.
[[nodiscard]] bool wants_scalar(const ast::TypeExpr& type, const Value& value);

}  // namespace mtf::host
