// What there is to know of a convolution: its type, its loops, its cost, and how it is run.
//
// Of one rank's slices, it is products that read the windows where they are: an element of a window
// is a stride of its own, so nothing is copied but the operand with zeros around where windows
// reach beyond it, a few indices of a batch at a time.

#pragma once

#include <optional>

#include "ir/kernel.h"
#include "ir/op.h"
#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {

[[nodiscard]] std::optional<TensorType> conv_type(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> conv_transpose_type(OpCall& call, DiagSink& diags);
[[nodiscard]] std::optional<TensorType> conv_kernel_type(OpCall& call, DiagSink& diags);

[[nodiscard]] IterationSpace conv_space(const OpCall& call);
[[nodiscard]] IterationSpace conv_transpose_space(const OpCall& call);
[[nodiscard]] IterationSpace conv_kernel_space(const OpCall& call);

[[nodiscard]] double product_flops(const OpCall& call);  // of `conv`
[[nodiscard]] double conv_transpose_flops(const OpCall& call);
[[nodiscard]] double conv_kernel_flops(const OpCall& call);

void conv_run(const KernelCall& call);
void conv_transpose_run(const KernelCall& call);
void conv_kernel_run(const KernelCall& call);

}  // namespace mtf
