// relu, sigmoid, gelu, silu, softplus and log_sigmoid.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

constexpr double kGeluScale = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;
constexpr double kFar = 100;  // beyond it a sigmoid is 0 or 1

struct Relu {
  template <typename T>
  T operator()(T x) const {
    return x < T{0} ? T{0} : x;  // NaN stays
  }
};

void relu_grad(GradBuilder& b) {
  const ValueId zero = b.scalar(0);
  const ValueId on = b.emit("greater", {b.result(), zero});  // which is often kept anyway
  b.add_to(0, b.emit("where", {on, b.upstream(), zero}));
}

void sigmoid_grad(GradBuilder& b) {
  const ValueId rest = b.emit("sub", {b.scalar(1), b.result()});
  const ValueId slope = b.emit("mul", {b.result(), rest});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

// With s = sigmoid(2 c (x + k x^3)), which is (1 + tanh) / 2 without what that loses where it is
// near 0: dy = s + 2 c x s (1 - s) (1 + 3 k x^2). x stays what squares.
void gelu_grad(GradBuilder& b) {
  const ValueId one = b.scalar(1);
  const ValueId above = b.emit("maximum", {b.operand(0), b.scalar(-kFar)});
  const ValueId x = b.emit("minimum", {above, b.scalar(kFar)});
  const ValueId squared = b.emit("square", {x});
  const ValueId scaled = b.emit("mul", {x, b.scalar(2 * kGeluScale)});
  const ValueId stretch = b.emit("add", {one, b.emit("mul", {squared, b.scalar(kGeluCubic)})});
  const ValueId s = b.emit("sigmoid", {b.emit("mul", {scaled, stretch})});
  const ValueId bend = b.emit("mul", {s, b.emit("sub", {one, s})});
  const ValueId steep = b.emit("add", {one, b.emit("mul", {squared, b.scalar(3 * kGeluCubic)})});
  const ValueId change = b.emit("mul", {b.emit("mul", {scaled, bend}), steep});
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("add", {s, change})}));
}

// dy = s + y (1 - s), with s = sigmoid(x). The two nearly cancel where silu turns, so that y has to
// have all its digits.
void silu_grad(GradBuilder& b) {
  const ValueId s = b.emit("sigmoid", {b.operand(0)});
  const ValueId rest = b.emit("sub", {b.scalar(1), s});
  ValueId y = b.result();
  if (b.is_rounded()) {
    y = b.emit("mul", {b.emit("maximum", {b.operand(0), b.scalar(-kFar)}), s});
  }
  const ValueId slope = b.emit("add", {s, b.emit("mul", {y, rest})});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void softplus_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("sigmoid", {b.operand(0)})}));
}

// -softplus(-x); 0 - … so that it is 0, not -0, where x is large. The gradient is sigmoid(-x).
std::optional<ValueId> log_sigmoid_expand(Builder& b, const OpCall& call,
                                          std::span<const ValueId> x) {
  const ValueId rest = b.emit("softplus", {b.emit("neg", {x[0]})});
  return b.emit("sub", {b.scalar(0, call.result.dtype), rest});
}

double relu_host(std::span<const double> x) {
  return Relu{}(x[0]);
}
double sigmoid_host(std::span<const double> x) {
  return 1.0 / (1.0 + std::exp(-x[0]));
}
double silu_host(std::span<const double> x) {
  return x[0] / (1.0 + std::exp(-x[0]));
}
double gelu_host(std::span<const double> x) {
  return x[0] / (1.0 + std::exp(-2 * kGeluScale * x[0] * (1.0 + kGeluCubic * x[0] * x[0])));
}
double softplus_host(std::span<const double> x) {
  return std::max(x[0], 0.0) + std::log1p(std::exp(-std::abs(x[0])));
}
double log_sigmoid_host(std::span<const double> x) {
  return std::min(x[0], 0.0) - std::log1p(std::exp(-std::abs(x[0])));
}

}  // namespace

const OpDef kRelu{.name = "relu",
                  .summary = "x where it is positive, else 0",
                  .family = "activations",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint relu(const([io], [-1, 0, 2]))\n",
                  .type = number_elements,
                  .space = kept_space,
                  .grad = relu_grad,
                  .flops = one_flop_each,
                  .tile = unary_numbers<Relu>,
                  .lanes = LaneFn::kRectify,
                  .host = relu_host};

const OpDef kSigmoid{.name = "sigmoid",
                     .summary = "1 / (1 + exp(-x))",
                     .family = "activations",
                     .params = one_operand(),
                     .shape_rule = kSameDims,
                     .example = "dim io = 3\nprint sigmoid(const([io], [-1, 0, 2]))\n",
                     .type = float_elements,
                     .space = kept_space,
                     .grad = sigmoid_grad,
                     .flops = one_flop_each,
                     .tile = math_tile<MathFn::kSigmoid>,
                     .host = sigmoid_host};

const OpDef kGelu{.name = "gelu",
                  .summary = "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
                  .family = "activations",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint gelu(const([io], [-1, 0, 2]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = gelu_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kGelu>,
                  .host = gelu_host};

const OpDef kSilu{.name = "silu",
                  .summary = "x sigmoid(x), also called swish",
                  .family = "activations",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint silu(const([io], [-1, 0, 2]))\n",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = silu_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kSilu>,
                  .host = silu_host};

const OpDef kSoftplus{.name = "softplus",
                      .summary = "log(1 + exp(x)), without overflow",
                      .family = "activations",
                      .params = one_operand(),
                      .shape_rule = kSameDims,
                      .example = "dim io = 3\nprint softplus(const([io], [-1, 0, 100]))\n",
                      .type = float_elements,
                      .space = kept_space,
                      .grad = softplus_grad,
                      .flops = one_flop_each,
                      .tile = math_tile<MathFn::kSoftplus>,
                      .host = softplus_host};

const OpDef kLogSigmoid{.name = "log_sigmoid",
                        .summary = "log(sigmoid(x)), without overflow",
                        .family = "activations",
                        .params = one_operand(),
                        .shape_rule = kSameDims,
                        .example = R"(dim io = 3
let x = const([io], [-10000, 0, 10000])
assert all(log_sigmoid(x) == const([io], [-10000, -0.6931472, 0]))
assert all(grad(sum(log_sigmoid(x)), x) == const([io], [1, 0.5, 0]))
)",
                        .type = float_elements,
                        .expand = log_sigmoid_expand,
                        .host = log_sigmoid_host};

}  // namespace mtf::ops
