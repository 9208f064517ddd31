// shift: every element moved along a dim; zeros come in, or with `wrap` what left at the other end.

#include <algorithm>

#include "ir/rewrite/autodiff.h"
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

CutDim shift_along(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  return {.operand = over, .result = over};
}

IterationSpace shift_space(const OpCall& call) {
  return cut_space(call, shift_along(call), DimRole::kWhole);
}

// Copies the operand's positions, moved by `by`, where they meet the result's.
void shift_elements(const KernelCall& call, std::int64_t by) {
  const CutDim cut = shift_along(call.call);
  const Extent want = extent_of(call.out, cut.result);
  const std::int64_t size = extent_of(call.in[0], cut.operand).extent;
  const Overlap meet = overlap(by, size, want.offset, want.offset + want.extent);
  copy_cut(call.in[0], call.out, cut,
           {.begin = meet.begin - by, .at = meet.begin - want.offset, .count = meet.size()});
}

void shift_kernel(const KernelCall& call) {
  const std::int64_t by = int_arg(call.call.args, "by", 1);
  fill_zero(call.out, false);
  shift_elements(call, by);
  if (bool_arg(call.call.args, "wrap", false)) {
    const std::int64_t size = extent_of(call.in[0], shift_along(call.call).operand).extent;
    shift_elements(call, by > 0 ? by - size : by + size);
  }
}

void shift_grad(GradBuilder& b) {
  OpArgs back = b.args();
  back.set("by", -int_arg(back, "by", 1));
  b.add_to(0, b.emit("shift", {b.upstream()}, back));
}

}  // namespace

const OpDef kShift{.name = "shift",
                   .summary = "every element moved `by` positions along a dim",
                   .family = "indexing",
                   .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                              {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
                              {.name = "by",
                               .kind = ParamKind::kInt,
                               .required = false,
                               .help = "how far, to the left if negative (1)"},
                              {.name = "wrap",
                               .kind = ParamKind::kBool,
                               .required = false,
                               .help = "whether the dim is a ring; else zeros come in (false)"}},
                   .shape_rule = kSameDims,
                   .example = R"(dim length = 4
print shift(range(length), over = length, by = 1, wrap = true)
)",
                   .type = shift_type,
                   .space = shift_space,
                   .grad = shift_grad,
                   .kernel = shift_kernel,
                   .linear = Linear::kEach};

}  // namespace mtf::ops
