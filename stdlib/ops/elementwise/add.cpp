// add, sub and neg: what a partial sum passes through.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) + to_wrapping(b));
  }
};

struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) - to_wrapping(b));
  }
};

struct Negate {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(0U - to_wrapping(a));
    } else {
      return -a;
    }
  }
};

void add_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
  b.add_to(1, b.upstream());
}

void sub_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
  if (b.wants(1)) {
    b.add_to(1, b.emit("neg", {b.upstream()}));
  }
}

void neg_grad(GradBuilder& b) {
  b.add_to(0, b.emit("neg", {b.upstream()}));
}

double add_host(std::span<const double> x) {
  return x[0] + x[1];
}
double sub_host(std::span<const double> x) {
  return x[0] - x[1];
}
double neg_host(std::span<const double> x) {
  return -x[0];
}

}  // namespace

const OpDef kAdd{.name = "add",
                 .symbol = "+",
                 .precedence = 5,
                 .summary = "the sum of two tensors, element by element",
                 .family = "arithmetic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
let bias = const([io], [1, 2, 3])
print x + bias
)",
                 .type = number_elements,
                 .space = kept_space,
                 .grad = add_grad,
                 .flops = one_flop_each,
                 .tile = binary_numbers<Add>,
                 .spreads = true,
                 .lanes = LaneFn::kAdd,
                 .host = add_host,
                 .linear = Linear::kJoint,
                 .primitive = Primitive::kAdd};

const OpDef kSub{.name = "sub",
                 .symbol = "-",
                 .precedence = 5,
                 .summary = "the difference of two tensors, element by element",
                 .family = "arithmetic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
print x - const([io], [1, 2, 3])
)",
                 .type = number_elements,
                 .space = kept_space,
                 .grad = sub_grad,
                 .flops = one_flop_each,
                 .tile = binary_numbers<Subtract>,
                 .spreads = true,
                 .lanes = LaneFn::kSubtract,
                 .host = sub_host,
                 .linear = Linear::kJoint,
                 .primitive = Primitive::kSubtract};

const OpDef kNeg{.name = "neg",
                 .symbol = "unary -",
                 .precedence = 7,
                 .summary = "the negative of each element",
                 .family = "arithmetic",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = R"(dim io = 3
print -const([io], [1, -2, 3])
)",
                 .type = number_elements,
                 .space = kept_space,
                 .grad = neg_grad,
                 .flops = one_flop_each,
                 .tile = unary_numbers<Negate>,
                 .lanes = LaneFn::kNegate,
                 .host = neg_host,
                 .linear = Linear::kJoint,
                 .primitive = Primitive::kNegate};

}  // namespace mtf::ops
