// What all pooling shares: how a call is checked, its parameters, and how it is run.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "ir/op.h"
#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {

// Of an axis, the dim of the first operand, and that of the result; `up`: where an index of the
// operand stands for a window.
[[nodiscard]] inline const Dim& read_dim(const WindowAxis& axis, bool up) {
  return up ? axis.small : axis.big;
}
[[nodiscard]] inline const Dim& made_dim(const WindowAxis& axis, bool up) {
  return up ? axis.big : axis.small;
}

// The type of the result, of the first operand's dtype; nullopt after an error.
[[nodiscard]] std::optional<TensorType> pooled_type(OpCall& call, bool up, DiagSink& diags);

[[nodiscard]] std::vector<OpParam> pool_params(OpParam x);
[[nodiscard]] OpParam pooled_tensor();

inline constexpr std::string_view kWindowDims =
    "the dims of x, those of the windows with an index for each window, under the same name or a "
    "new one behind `->`";

// Of one rank's slices.
void max_pool_run(const KernelCall& call);
void sum_pool_run(const KernelCall& call);
void spread_pool_run(const KernelCall& call);

}  // namespace mtf
