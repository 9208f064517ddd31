// x @ [batch -> axis, ..]: the tensor itself, laid out so from here on.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> pin_type(OpCall& call, DiagSink& diags) {
  if (call.args.get<Pin>("layout") == nullptr) {
    diags.error(DiagKind::kMissingArgument, call.span,
                "a tensor is laid out by `x @ [dim -> axis, ..]`");
    return std::nullopt;
  }
  return call.operands[0];
}

// The gradient has the layout of the tensor (GSPMD, section 3.6).
void pin_grad(GradBuilder& b) {
  b.add_to(0, b.emit("pin", {b.upstream()}, b.args()));
}

}  // namespace

const OpDef kPin{.name = "pin",
                 .symbol = "@",
                 .precedence = 7,
                 .summary = "the tensor itself, with a layout of its own",
                 .family = "gradients",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = R"(dim batch = 4, io = 3
mesh line = [ranks: 2]
layout split on line { io -> () }
let x = normal([batch, io], seed = 1)
let h = relu(x) @ [batch -> ranks, ..]
print sum(h)
)",
                 .type = pin_type,
                 .space = kept_space,
                 .grad = pin_grad,
                 .tile = copy_tile,
                 .linear = Linear::kEach,
                 .alias = true,
                 .primitive = Primitive::kPin};

}  // namespace mtf::ops
