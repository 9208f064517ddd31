// sin, cos, tan, and the hyperbolic ones.

#include <cmath>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

void sin_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("cos", {b.operand(0)})}));
}

void cos_grad(GradBuilder& b) {
  const ValueId slope = b.emit("neg", {b.emit("sin", {b.operand(0)})});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void tan_grad(GradBuilder& b) {
  const ValueId slope = b.emit("add", {b.scalar(1), b.emit("square", {b.result()})});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void sinh_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("cosh", {b.operand(0)})}));
}

void cosh_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("sinh", {b.operand(0)})}));
}

void tanh_grad(GradBuilder& b) {
  const ValueId slope = b.emit("sub", {b.scalar(1), b.emit("square", {b.result()})});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

double sin_host(std::span<const double> x) {
  return std::sin(x[0]);
}
double cos_host(std::span<const double> x) {
  return std::cos(x[0]);
}
double tan_host(std::span<const double> x) {
  return std::tan(x[0]);
}
double sinh_host(std::span<const double> x) {
  return std::sinh(x[0]);
}
double cosh_host(std::span<const double> x) {
  return std::cosh(x[0]);
}
double tanh_host(std::span<const double> x) {
  return std::tanh(x[0]);
}

}  // namespace

const OpDef kSin{.name = "sin",
                 .summary = "the sine of each element, in radians",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint sin(const([io], [0, 1, 2]))\n",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = sin_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kSin>,
                 .host = sin_host};

const OpDef kCos{.name = "cos",
                 .summary = "the cosine of each element, in radians",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint cos(const([io], [0, 1, 2]))\n",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = cos_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kCos>,
                 .host = cos_host};

const OpDef kTan{.name = "tan",
                 .summary = "the tangent of each element, in radians",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint tan(const([io], [0, 1, 2]))\n",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = tan_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kTan>,
                 .host = tan_host};

const OpDef kSinh{.name = "sinh",
                  .summary = "the hyperbolic sine of each element",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint sinh(const([io], [-1, 0, 1]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = sinh_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kSinh>,
                  .host = sinh_host};

const OpDef kCosh{.name = "cosh",
                  .summary = "the hyperbolic cosine of each element",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint cosh(const([io], [-1, 0, 1]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = cosh_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kCosh>,
                  .host = cosh_host};

const OpDef kTanh{.name = "tanh",
                  .summary = "the hyperbolic tangent of each element",
                  .family = "activations",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint tanh(const([io], [-1, 0, 1]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = tanh_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kTanh>,
                  .host = tanh_host};

}  // namespace mtf::ops
