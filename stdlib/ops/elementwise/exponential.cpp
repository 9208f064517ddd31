// exp, log, sqrt and their relatives. Gradients are written with the result where that is cheaper.

#include <cmath>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

void exp_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.result()}));
}

// The result and 1 are that, too, but for the digits that a result near -1 has lost.
void expm1_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("exp", {b.operand(0)})}));
}

void log_grad(GradBuilder& b) {
  b.add_to(0, b.emit("div", {b.upstream(), b.operand(0)}));
}

void log1p_grad(GradBuilder& b) {
  const ValueId shifted = b.emit("add", {b.operand(0), b.scalar(1)});
  b.add_to(0, b.emit("div", {b.upstream(), shifted}));
}

void sqrt_grad(GradBuilder& b) {
  const ValueId half = b.emit("mul", {b.upstream(), b.scalar(0.5)});
  b.add_to(0, b.emit("div", {half, b.result()}));
}

// y = x^(-1/2), so dy = -y^3 / 2.
void rsqrt_grad(GradBuilder& b) {
  const ValueId y = b.result();
  const ValueId cube = b.emit("mul", {b.emit("square", {y}), y});
  const ValueId slope = b.emit("mul", {cube, b.scalar(-0.5)});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

double exp_host(std::span<const double> x) {
  return std::exp(x[0]);
}
double expm1_host(std::span<const double> x) {
  return std::expm1(x[0]);
}
double log_host(std::span<const double> x) {
  return std::log(x[0]);
}
double log1p_host(std::span<const double> x) {
  return std::log1p(x[0]);
}
double sqrt_host(std::span<const double> x) {
  return std::sqrt(x[0]);
}
double rsqrt_host(std::span<const double> x) {
  return 1.0 / std::sqrt(x[0]);
}

}  // namespace

const OpDef kExp{.name = "exp",
                 .summary = "e to the power of each element",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint exp(const([io], [0, 1, 2]))\n",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = exp_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kExp>,
                 .host = exp_host};

const OpDef kExpm1{.name = "expm1",
                   .summary = "exp(x) - 1, exact near 0",
                   .family = "element-wise functions",
                   .params = one_operand(),
                   .shape_rule = kSameDims,
                   .example = R"(dim io = 3
let x = const([io], [0, 0.001, -20])
assert all(expm1(x) == const([io], [0, 0.0010005002, -1]))
assert all(abs(grad(sum(expm1(x)), x) / exp(x) - 1) < 0.000001)
)",
                   .type = float_elements,
                   .space = kept_space,
                   .grad = expm1_grad,
                   .flops = one_flop_each,
                   .tile = math_tile<MathFn::kExpm1>,
                   .host = expm1_host};

const OpDef kLog{.name = "log",
                 .summary = "the natural logarithm of each element",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint log(const([io], [1, 2, 4]))\n",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = log_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kLog>,
                 .host = log_host};

const OpDef kLog1p{.name = "log1p",
                   .summary = "log(1 + x), exact near 0",
                   .family = "element-wise functions",
                   .params = one_operand(),
                   .shape_rule = kSameDims,
                   .example = "dim io = 3\nprint log1p(const([io], [0, 0.001, 2]))\n",
                   .type = float_elements,
                   .space = kept_space,
                   .grad = log1p_grad,
                   .flops = one_flop_each,
                   .tile = math_tile<MathFn::kLog1p>,
                   .host = log1p_host};

const OpDef kSqrt{.name = "sqrt",
                  .summary = "the square root of each element",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint sqrt(const([io], [1, 2, 4]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = sqrt_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kSqrt>,
                  .lanes = LaneFn::kRoot,
                  .host = sqrt_host};

const OpDef kRsqrt{.name = "rsqrt",
                   .summary = "1 / sqrt(x) for each element",
                   .family = "element-wise functions",
                   .params = one_operand(),
                   .shape_rule = kSameDims,
                   .example = "dim io = 3\nprint rsqrt(const([io], [1, 2, 4]))\n",
                   .type = float_elements,
                   .space = kept_space,
                   .grad = rsqrt_grad,
                   .flops = one_flop_each,
                   .tile = math_tile<MathFn::kRsqrt>,
                   .lanes = LaneFn::kReciprocalRoot,
                   .host = rsqrt_host};

}  // namespace mtf::ops
