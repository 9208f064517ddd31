// shift: every element moved along a dim; zeros come in, or with `wrap` what left at the other end.

#include <algorithm>

#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> shift_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  // Beyond its own size a shift means no more: it wraps to less, or leaves only zeros.
  const std::int64_t by = int_arg(call.args, "by", 1);
  const bool wrap = bool_arg(call.args, "wrap", false);
  call.args.set("by", wrap ? by % dim->size : std::clamp(by, -dim->size, dim->size));
  return call.operands[0];
}

IterationSpace shift_space(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  const bool wrap = bool_arg(call.args, "wrap", false);
  return moved_space(
      call, {.operand = over, .result = over},
      {.offset = -int_arg(call.args, "by", 1), .border = wrap ? Border::kWrap : Border::kValue});
}

void shift_grad(GradBuilder& b) {
  OpArgs back = b.args();
  back.set("by", -int_arg(back, "by", 1));
  b.add_to(0, b.emit("shift", {b.upstream()}, back));
}

}  // namespace

const OpDef kShift{
    .name = "shift",
    .summary = "every element moved by a number of positions along a dim",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "by",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "how many positions; to the left if negative (1)"},
               {.name = "wrap",
                .kind = ParamKind::kBool,
                .required = false,
                .help = "whether the dim is a ring; otherwise zeros come in (false)"}},
    .shape_rule = kSameDims,
    .example = R"(dim length = 4
print shift(range(length), over = length, by = 1, wrap = true)
)",
    .type = shift_type,
    .space = shift_space,
    .grad = shift_grad,
    .kernel = moved_kernel,
    .linear = Linear::kEach};

}  // namespace mtf::ops
