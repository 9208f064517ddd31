// What the reductions share: `over` dims, or the result's dims behind `->`, or everything.

#pragma once

#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "ir/op.h"
#include "runtime/kernels/reduce/reduce_kernel.h"

namespace mtf {

// x, over and to.
[[nodiscard]] std::vector<OpParam> reduction_params();

// The result's dims, put into the arguments as `to` in place of `over`; nullopt after an error.
[[nodiscard]] std::optional<Shape> reduced_shape(OpCall& call, DiagSink& diags);
// The same for functions along dims whose result keeps them: the shape without them.
[[nodiscard]] std::optional<Shape> shape_without(OpCall& call, DiagSink& diags);

[[nodiscard]] std::optional<TensorType> reduced_numbers(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> reduced_floats(OpCall& call, DiagSink& diags);
// Numbers summed in what `summed_dtype` says.
[[nodiscard]] std::optional<TensorType> reduced_sums(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> reduced_bools(OpCall& call, DiagSink& diags);

// The argument `dtype` of sums: of bf16 and f16, f32 is the sum as it is before it is rounded.
[[nodiscard]] OpParam summed_param();
[[nodiscard]] std::optional<DType> summed_dtype(OpCall& call, DiagSink& diags);

// sqrt, and 0 with no gradient where x is 0: there is no direction.
[[nodiscard]] ValueId root_or_zero(Builder& b, ValueId x);

[[nodiscard]] double flops_of_operand(const OpCall& call);  // one per element of the operand
void reduce_kernel(const KernelCall& call, ReduceKind kind);

inline constexpr std::string_view kReducedDims =
    "the dims of x without those of `over`; or the dims after `->`, in that order; or none";

}  // namespace mtf
