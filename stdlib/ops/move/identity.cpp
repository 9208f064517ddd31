// identity and stop_gradient, and abs and sign.

#include <cmath>
#include <cstring>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf {

void copy_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  if (in[0] != out && n > 0) {
    std::memcpy(out, in[0], n * bytes_of(call.dtype));
  }
}

}  // namespace mtf

namespace mtf::ops {
namespace {

struct Abs {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x < 0 ? 0U - to_wrapping(x) : to_wrapping(x));
    } else {
      return std::abs(x);
    }
  }
};

struct Sign {
  template <typename T>
  T operator()(T x) const {
    return x > T{0} ? T{1} : x < T{0} ? T{-1} : x;  // 0, -0 and NaN stay
  }
};

void identity_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
}

void abs_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("sign", {b.operand(0)})}));
}

double identity_host(std::span<const double> x) {
  return x[0];
}
double abs_host(std::span<const double> x) {
  return std::abs(x[0]);
}
double sign_host(std::span<const double> x) {
  return Sign{}(x[0]);
}

}  // namespace

const OpDef kIdentity{.name = "identity",
                      .summary = "the tensor itself",
                      .family = "activations",
                      .params = one_operand(),
                      .shape_rule = kSameDims,
                      .example = "dim io = 3\nprint identity(const([io], [1, 2, 3]))\n",
                      .type = any_elements,
                      .space = kept_space,
                      .grad = identity_grad,
                      .tile = copy_tile,
                      .host = identity_host,
                      .linear = Linear::kEach,
                      .narrow = true,
                      .algebra = Algebra::kMove};

const OpDef kStopGradient{.name = "stop_gradient",
                          .summary = "the tensor itself; gradients do not flow through it",
                          .family = "gradients",
                          .params = one_operand(),
                          .shape_rule = kSameDims,
                          .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
print grad(sum(x * stop_gradient(x)), [x])
)",
                          .type = any_elements,
                          .space = kept_space,
                          .tile = copy_tile,
                          .host = identity_host,
                          .linear = Linear::kEach,
                          .narrow = true,
                          .algebra = Algebra::kMove};

const OpDef kAbs{.name = "abs",
                 .summary = "the absolute value of each element; its gradient at 0 is 0",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = "dim io = 3\nprint abs(const([io], [-1, 0, 2]))\n",
                 .type = number_elements,
                 .space = kept_space,
                 .grad = abs_grad,
                 .flops = one_flop_each,
                 .tile = unary_numbers<Abs>,
                 .lanes = LaneFn::kMagnitude,
                 .host = abs_host};

const OpDef kSign{.name = "sign",
                  .summary = "-1, 0 or 1; its gradient is 0",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = "dim io = 3\nprint sign(const([io], [-3, 0, 2]))\n",
                  .type = number_elements,
                  .space = kept_space,
                  .flops = one_flop_each,
                  .tile = unary_numbers<Sign>,
                  .host = sign_host};

}  // namespace mtf::ops
