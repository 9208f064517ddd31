// erf, the error function, and erfc, which is 1 - erf.

#include <cmath>
#include <numbers>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// The slope of erf is 2 / sqrt(pi) exp(-x^2).
void bell_grad(GradBuilder& b, double sign) {
  const ValueId bell = b.emit("exp", {b.emit("neg", {b.emit("square", {b.operand(0)})})});
  const ValueId slope = b.emit("mul", {bell, b.scalar(sign * 2 * std::numbers::inv_sqrtpi)});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void erf_grad(GradBuilder& b) {
  bell_grad(b, 1);
}

void erfc_grad(GradBuilder& b) {
  bell_grad(b, -1);
}

double erf_host(std::span<const double> x) {
  return std::erf(x[0]);
}

double erfc_host(std::span<const double> x) {
  return std::erfc(x[0]);
}

}  // namespace

const OpDef kErf{.name = "erf",
                 .summary = "the error function of each element",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = R"(dim io = 3
let y = erf(const([io], [-1, 0, 0.5]))
assert all(abs(y - const([io], [-0.84270079, 0, 0.52049988])) < 0.000001)
)",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = erf_grad,
                 .flops = one_flop_each,
                 .tile = math_tile<MathFn::kErf>,
                 .host = erf_host};

const OpDef kErfc{.name = "erfc",
                  .summary = "1 - erf(x), exact far to the right",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = R"(dim io = 3
let y = erfc(const([io], [-1, 0.5, 4]))
assert all(abs(y / const([io], [1.84270079, 0.47950012, 1.54172579e-8]) - 1) < 0.000001)
)",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = erfc_grad,
                  .flops = one_flop_each,
                  .tile = math_tile<MathFn::kErfc>,
                  .host = erfc_host};

}  // namespace mtf::ops
