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

std::optional<TensorType> whole_type(OpCall& call, DiagSink& /*diags*/) {
  if (call.args.get<Pin>("layout") != nullptr) {
    return call.operands[0];
  }
  Pin pin;
  for (const Dim& dim : call.operands[0].shape.dims()) {
    pin.rules.push_back({.dim = dim.name, .axes = {}});
  }
  call.args.set("layout", std::move(pin));
  return call.operands[0];
}

// The gradient has the layout of the tensor (GSPMD, section 3.6).
void pin_grad(GradBuilder& b) {
  b.add_to(0, b.emit("pin", {b.upstream()}, b.args()));
}

void whole_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
}

}  // namespace

const OpDef kWhole{.name = "whole",
                   .summary = "the tensor itself, complete on every rank, as `list(x)` needs it",
                   .family = "gradients",
                   .params = one_operand(),
                   .shape_rule = kSameDims,
                   .example = "dim io = 3\nprint whole(const([io], [1, 2, 3]))\n",
                   .type = whole_type,
                   .space = kept_space,
                   .grad = whole_grad,
                   .tile = copy_tile,
                   .linear = Linear::kEach,
                   .narrow = true,
                   .alias = true,
                   .primitive = Primitive::kWhole};

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
                 .narrow = true,
                 .alias = true,
                 .primitive = Primitive::kPin};

}  // namespace mtf::ops
