// What the rules of many operations share: reading arguments, checking dtypes and dims in the
// user's names and sizes, and the usual iteration space, cost and parameters.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace mtf {

// ---- arguments -------------------------------------------------------------------------------

[[nodiscard]] double real_arg(const OpArgs& args, std::string_view name, double otherwise);
[[nodiscard]] std::int64_t int_arg(const OpArgs& args, std::string_view name,
                                   std::int64_t otherwise);
[[nodiscard]] bool bool_arg(const OpArgs& args, std::string_view name, bool otherwise);
[[nodiscard]] DType dtype_arg(const OpArgs& args, std::string_view name, DType otherwise);
[[nodiscard]] std::string text_arg(const OpArgs& args, std::string_view name);
// requires: given.
[[nodiscard]] Dim dim_arg(const OpArgs& args, std::string_view name);
[[nodiscard]] Shape shape_arg(const OpArgs& args, std::string_view name);

// Arguments with a list of one dim, a shape, a whole number.
[[nodiscard]] ArgValue one_dim(Dim dim);

// ---- checks: false or nullopt after an error ------------------------------------------------

enum class Accepts : std::uint8_t { kFloats, kNumbers, kOrdered, kBools, kIndices, kAny };

// The name as the user spelled it, in backticks: "`+`", "`einsum`".
[[nodiscard]] std::string spelled(const OpCall& call);

[[nodiscard]] bool accepts(Accepts what, DType dtype);
[[nodiscard]] bool check_operand(const OpCall& call, std::size_t operand, Accepts what,
                                 DiagSink& diags);
[[nodiscard]] bool check_operands(const OpCall& call, Accepts what, DiagSink& diags);
// All operands from `first` on have one dtype.
[[nodiscard]] bool check_same_dtype(const OpCall& call, std::size_t first, DiagSink& diags);
// A number that elements of the dtype are to have.
[[nodiscard]] bool check_number(const OpCall& call, DType dtype, double value, DiagSink& diags);
// The dims of all operands: if one's are a subsequence of the other's, the larger; else the first's
// dims followed by the new ones of the second, and so on.
[[nodiscard]] std::optional<Shape> union_of_dims(const OpCall& call, DiagSink& diags);
// The operand's own dim of that name.
[[nodiscard]] std::optional<Dim> find_dim(const OpCall& call, std::size_t operand,
                                          std::string_view name, DiagSink& diags);
// Fills in the size of a dim, or dim argument, that was not declared; `size` is what it has to be.
[[nodiscard]] bool fit_dim(const OpCall& call, Dim& dim, std::int64_t size, DiagSink& diags);
[[nodiscard]] bool fit_new_dim(OpCall& call, std::string_view param, std::int64_t size,
                               DiagSink& diags);
// Each name once in `shape`.
[[nodiscard]] bool check_distinct(const OpCall& call, const std::vector<Dim>& dims,
                                  DiagSink& diags);
// The result's type, if its size is one that can be counted.
[[nodiscard]] std::optional<TensorType> result_type(const OpCall& call, DType dtype, Shape shape,
                                                    DiagSink& diags);

// ---- type rules of whole families ------------------------------------------------------------

[[nodiscard]] std::optional<TensorType> float_elements(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> number_elements(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> bool_elements(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> any_elements(OpCall& call, DiagSink& diags);

// ---- spaces, cost, parameters -----------------------------------------------------------------

[[nodiscard]] IterationSpace kept_space(const OpCall& call);   // every dim is kept
[[nodiscard]] IterationSpace whole_space(const OpCall& call);  // operands complete on each rank
[[nodiscard]] double one_flop_each(const OpCall& call);        // per element of the result
[[nodiscard]] std::vector<OpParam> one_operand();
[[nodiscard]] std::vector<OpParam> two_operands();

inline constexpr std::string_view kSameDims = "the dims of x";
inline constexpr std::string_view kUnionOfDims =
    "the union of the operands' dims, matched by name: the larger shape if it holds the other in "
    "order, else the first's dims, then the new ones of the second";

}  // namespace mtf
