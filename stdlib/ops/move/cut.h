// What slice, pad, concat, stack, shift and reverse share: one dim whose size or place changes, all
// others as they are.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "runtime/kernels/strided.h"

namespace mtf {

// Whether `dim` is the one that changes; its name in an operand and in the result may differ.
struct CutDim {
  std::string operand;
  std::string result;
};

// The parameter "to" of operations that resize the dim, and what they say of their result.
[[nodiscard]] OpParam resized_dim_param();
inline constexpr std::string_view kDimResized = "the dims of x with `dim` resized or replaced";

// Of the arguments "dim" and, where the result's has another name, "to".
[[nodiscard]] CutDim cut_of(const OpArgs& args);
// The operand's type with the cut dim of that name and size, in its place; nullopt after an error.
[[nodiscard]] std::optional<TensorType> cut_type(const OpCall& call, std::int64_t size,
                                                 DiagSink& diags);

// A space in which the dim that changes is one loop with `role` in every operand and a kept loop in
// the result, and each other dim is one kept loop.
[[nodiscard]] IterationSpace cut_space(const OpCall& call, const CutDim& cut, DimRole role);

// A space whose operand's dim has new places: index i of the result's dim reads what the map says.
[[nodiscard]] IterationSpace moved_space(const OpCall& call, const CutDim& cut, IndexMap map);

// Copies positions of the cut dim: [begin, begin + count) of the operand's slice to `at` of the
// result's, both counted within the slices.
struct CutCopy {
  std::int64_t begin = 0;
  std::int64_t at = 0;
  std::int64_t count = 0;
};
void copy_cut(const TensorView& in, const TensorView& out, const CutDim& cut, const CutCopy& copy);

// The argument "step": 1 without; false after an error.
[[nodiscard]] bool check_step(const OpCall& call, DiagSink& diags);
void set_step(OpArgs& back, const OpArgs& args);  // as in `args`

// The indices of the dim that a slice has.
[[nodiscard]] Interval extent_of(const TensorView& view, std::string_view dim);

}  // namespace mtf
