// mul, div and reciprocal.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) * to_wrapping(b));
  }
};

struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

struct Reciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};

std::optional<TensorType> div_type(OpCall& call, DiagSink& diags) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (is_integer(call.operands[i].dtype) && call.operands[i].dtype != DType::kU8) {
      diags.error(DiagKind::kDtypeMismatch, call.span_of(i),
                  "`/` of " + to_string(call.operands[i]) +
                      "; `//` divides integers, `cast(x, f32)` makes floats");
      return std::nullopt;
    }
  }
  return float_elements(call, diags);
}

void mul_grad(GradBuilder& b) {
  for (const std::size_t i : {0U, 1U}) {
    if (b.wants(i)) {
      b.add_to(i, b.emit("mul", {b.upstream(), b.operand(1 - i)}));
    }
  }
}

// With y = a / b: da = g / b and db = -(g / b) y.
void div_grad(GradBuilder& b) {
  const ValueId share = b.emit("div", {b.upstream(), b.operand(1)});
  b.add_to(0, share);
  if (b.wants(1)) {
    b.add_to(1, b.emit("neg", {b.emit("mul", {share, b.result()})}));
  }
}

void reciprocal_grad(GradBuilder& b) {
  const ValueId square = b.emit("square", {b.result()});
  b.add_to(0, b.emit("neg", {b.emit("mul", {b.upstream(), square})}));
}

void reciprocal_tile(const TileCall& call, std::span<const void* const> in, void* out,
                     std::size_t n) {
  with_float(call.dtype, [&](auto type) { unary_loop<Reciprocal, decltype(type)>(in, out, n); });
}

double mul_host(std::span<const double> x) {
  return x[0] * x[1];
}
double div_host(std::span<const double> x) {
  return x[0] / x[1];
}
double reciprocal_host(std::span<const double> x) {
  return 1.0 / x[0];
}

}  // namespace

const OpDef kMul{.name = "mul",
                 .symbol = "*",
                 .precedence = 6,
                 .summary = "the product of two tensors, element by element",
                 .family = "arithmetic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim batch = 2, io = 3
let x = const([batch], [10, 20])
let y = const([io], [1, 2, 3])
print x * y
)",
                 .type = number_elements,
                 .space = kept_space,
                 .grad = mul_grad,
                 .flops = one_flop_each,
                 .tile = binary_numbers<Multiply>,
                 .spreads = true,
                 .lanes = LaneFn::kMultiply,
                 .host = mul_host,
                 .algebra = Algebra::kProduct};

const OpDef kDiv{.name = "div",
                 .symbol = "/",
                 .precedence = 6,
                 .summary = "the quotient of two float tensors, element by element",
                 .family = "arithmetic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim io = 3
print const([io], [1, 2, 3]) / 4
)",
                 .type = div_type,
                 .space = kept_space,
                 .grad = div_grad,
                 .flops = one_flop_each,
                 .tile = binary_floats<Divide>,
                 .spreads = true,
                 .lanes = LaneFn::kDivide,
                 .host = div_host,
                 .primitive = Primitive::kDivide};

const OpDef kReciprocal{.name = "reciprocal",
                        .summary = "1 / x for each element",
                        .family = "element-wise functions",
                        .params = one_operand(),
                        .shape_rule = kSameDims,
                        .example = R"(dim io = 3
print reciprocal(const([io], [1, 2, 4]))
)",
                        .type = float_elements,
                        .space = kept_space,
                        .grad = reciprocal_grad,
                        .flops = one_flop_each,
                        .tile = reciprocal_tile,
                        .lanes = LaneFn::kReciprocal,
                        .host = reciprocal_host};

}  // namespace mtf::ops
