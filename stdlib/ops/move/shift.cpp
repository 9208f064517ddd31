// shift: every element moved along a dim; zeros come in, or with `wrap` what left at the other end.
// roll: the latter under NumPy's name.

#include <algorithm>

#include "ir/builder.h"
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

// ---- roll --------------------------------------------------------------------------------------

std::optional<TensorType> roll_type(OpCall& call, DiagSink& diags) {
  if (!find_dim(call, 0, dim_arg(call.args, "dim").name, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<ValueId> roll_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  OpArgs ring;
  ring.set("over", one_dim(dim_arg(call.args, "dim")));
  ring.set("by", int_arg(call.args, "by", 0));
  ring.set("wrap", true);
  return b.emit("shift", {x[0]}, std::move(ring));
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
    .linear = Linear::kEach,
    .narrow = true};

const OpDef kRoll{.name = "roll",
                  .summary = "every element moved around a dim as a ring",
                  .family = "indexing",
                  .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                             {.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
                             {.name = "by",
                              .kind = ParamKind::kInt,
                              .help = "how many positions; to the left if negative"}},
                  .shape_rule = kSameDims,
                  .example = R"(dim length = 4
let x = range(length)
assert all(roll(x, length, 1) == const([length], [3, 0, 1, 2]))
assert all(roll(x, length, -5) == const([length], [1, 2, 3, 0]))
)",
                  .type = roll_type,
                  .expand = roll_expand,
                  .narrow = true};

}  // namespace mtf::ops
