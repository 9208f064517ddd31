// Expressions to values. Tensor work is recorded in the innermost unit under construction, so there
// must be one: statements at top level open one for each of their expressions (units.h).

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/elaborate/context.h"
#include "frontend/elaborate/host/numbers.h"
#include "frontend/elaborate/host/operators.h"
#include "ir/support/number.h"

namespace mtf::host {

// Where no unit is under construction, the expression makes one of its own.
[[nodiscard]] Value evaluate(Context& c, const ast::Expr& expr);

// What a name stands for; `Unknown` if nothing, which the resolver has reported.
[[nodiscard]] Value lookup(const Names& names, Units& units, std::string_view name,
                           SourceSpan span);
// The dim of that name, if it is one; no error otherwise.
[[nodiscard]] std::optional<Dim> find_dim(const Names& names, Units& units, std::string_view name);
// Whether the expression is a bare name that stands for no value but a dim, or for nothing.
[[nodiscard]] bool is_dim_name(const Names& names, const ast::Expr& expr);

// ---- dims and shapes (dims.cpp) ------------------------------------------------------------

// `operands`: shapes of the tensors of the same call; a bare name may be one of their dims.
[[nodiscard]] Value evaluate_bracket(Context& c, const ast::Bracket& bracket, SourceSpan span,
                                     std::span<const Shape> operands = {}, bool may_be_new = false);
// These three give nullopt after an error or for what is unknown.
[[nodiscard]] std::optional<Dim> evaluate_sized(Context& c, const ast::Sized& sized);
// `may_be_new`: an unknown name makes a dim of size 0, for the operation to fill in; in a shape,
// the name of an operand's dim stands for that one, which may have another size than it was
// declared with. `otherwise`: what else is said of a value that is none.
[[nodiscard]] std::optional<Shape> evaluate_shape(Context& c, const ast::Expr& expr,
                                                  std::span<const Shape> operands = {},
                                                  bool may_be_new = false,
                                                  std::string_view otherwise = {});
[[nodiscard]] std::optional<std::vector<Dim>> evaluate_dims(Context& c, const ast::Expr& expr,
                                                            std::span<const Shape> operands,
                                                            bool may_be_new,
                                                            std::string_view otherwise = {});

// Of the tensors in these, as operands.
[[nodiscard]] std::vector<Shape> shapes_in(std::span<const Value> values);
// An argument of a function that names a dim which nothing but a tensor of the call has, alone or
// in a list: `operands` as above. Unknown after an error.
[[nodiscard]] bool names_free_dim(const Context& c, const ast::Expr& expr);
[[nodiscard]] Value evaluate_free_dims(Context& c, const ast::Expr& expr,
                                       std::span<const Shape> operands);

struct DeclaredType {
  TensorType type;
  bool open = false;  // ends in `..`
};
// types.cpp; requires: the type's name is a dtype.
[[nodiscard]] std::optional<DeclaredType> evaluate_type(Context& c, const ast::TypeExpr& type);
// A dim written where it is used: known from here on, unless its name is taken.
void declare_inline(Names& names, const Dim& dim, SourceSpan span);
[[nodiscard]] std::optional<std::int64_t> checked_size(Reporter& report, const Value& size,
                                                       std::string_view what, SourceSpan span);

// ---- operations on tensors (tensor_ops.cpp) ------------------------------------------------

// The tensor as a value of the unit under construction. nullopt: it is of another one, an error.
[[nodiscard]] std::optional<ValueId> record(Units& units, const Tensor& tensor, SourceSpan span);
[[nodiscard]] Value recorded(Units& units, ValueId id);
// What is seen of a variable of which `each` picked positions, as of now (loops/picked.cpp).
[[nodiscard]] std::optional<ValueId> read_picked(Units& units, const Tensor& variable,
                                                 SourceSpan span);
[[nodiscard]] Value apply_op(Units& units, const OpDef& op, std::span<const Operand> operands,
                             OpArgs args, SourceSpan span);
[[nodiscard]] Value apply_operator(Units& units, std::string_view symbol,
                                   std::span<const Operand> operands, SourceSpan span);
// A check writes no files, and remembers which ones the program would; `ids`: of what, if known.
void note_write(Units& units, const OpDef& op, const OpArgs& args, std::span<const ValueId> ids);
// requires: the tensor's dtype converts.
[[nodiscard]] ValueId as_dtype(Units& units, ValueId id, DType dtype);
// A host number as a scalar tensor; nullopt if the dtype cannot hold it, an error.
[[nodiscard]] std::optional<ValueId> lift(Units& units, const Operand& number, DType dtype);

// `net.w`, `net."layer_0/w"`: a variable of the model (variable_names.cpp).
[[nodiscard]] Value variable_of(Context& c, const Operand& base, const Function& model,
                                const ast::Member& member);

// ---- suffixes (index.cpp, call.cpp) --------------------------------------------------------

[[nodiscard]] Value evaluate_index(Context& c, const Operand& base, const ast::Index& index,
                                   SourceSpan span);
[[nodiscard]] Value evaluate_call(Context& c, const Operand& callee, const ast::Call& call,
                                  SourceSpan span);
[[nodiscard]] Value call_op(Context& c, const OpDef& op, const ast::Call& call, SourceSpan span);

// ---- text (text.cpp) -----------------------------------------------------------------------

// Text whose tensors are not printed yet.
struct Piece {
  std::variant<std::string, Operand> node;
  NumberFormat numbers = {};  // of a tensor
};
using Pieces = std::vector<Piece>;

// The parts of a `print`: side by side, but for tensors of more than one line.
[[nodiscard]] Pieces joined(std::span<const Pieces> parts);
// nullopt: some part is unknown.
[[nodiscard]] std::optional<Pieces> evaluate_pieces(Context& c, const ast::Expr& expr);
// requires: the tensors are the device's. nullopt: a check does not know.
[[nodiscard]] std::optional<std::string> text_of(Context& c, const Pieces& pieces);
[[nodiscard]] Value evaluate_string(Context& c, const ast::Expr& expr);

}  // namespace mtf::host
