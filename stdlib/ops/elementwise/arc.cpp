// asin, acos, atan, and the angle of a point.

#include <cmath>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// 1 / sqrt(1 - x^2), by factors, which lose nothing near 1
ValueId arc_slope(GradBuilder& b) {
  const ValueId one = b.scalar(1);
  const ValueId below = b.emit("sub", {one, b.operand(0)});
  const ValueId above = b.emit("add", {one, b.operand(0)});
  return b.emit("rsqrt", {b.emit("mul", {below, above})});
}

void asin_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), arc_slope(b)}));
}

void acos_grad(GradBuilder& b) {
  b.add_to(0, b.emit("neg", {b.emit("mul", {b.upstream(), arc_slope(b)})}));
}

void atan_grad(GradBuilder& b) {
  const ValueId below = b.emit("add", {b.scalar(1), b.emit("square", {b.operand(0)})});
  b.add_to(0, b.emit("div", {b.upstream(), below}));
}

// With r^2 = y^2 + x^2: x / r^2 by y, -y / r^2 by x.
void atan2_grad(GradBuilder& b) {
  const ValueId y = b.operand(0);
  const ValueId x = b.operand(1);
  const ValueId square = b.emit("add", {b.emit("square", {y}), b.emit("square", {x})});
  const ValueId part = b.emit("div", {b.upstream(), square});
  if (b.wants(0)) {
    b.add_to(0, b.emit("mul", {part, x}));
  }
  if (b.wants(1)) {
    b.add_to(1, b.emit("neg", {b.emit("mul", {part, y})}));
  }
}

void atan2_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    vector_atan2(std::span(static_cast<const T*>(in[0]), n),
                 std::span(static_cast<const T*>(in[1]), n), call.isa,
                 std::span(static_cast<T*>(out), n));
  });
}

double asin_host(std::span<const double> x) {
  return std::asin(x[0]);
}
double acos_host(std::span<const double> x) {
  return std::acos(x[0]);
}
double atan_host(std::span<const double> x) {
  return std::atan(x[0]);
}
double atan2_host(std::span<const double> x) {
  return std::atan2(x[0], x[1]);
}

OpDef arc(OpDef def) {
  def.family = "element-wise functions";
  def.shape_rule = kSameDims;
  def.params = one_operand();
  def.type = float_elements;
  def.space = kept_space;
  def.flops = one_flop_each;
  return def;
}

}  // namespace

const OpDef kAsin = arc({.name = "asin",
                         .summary = "the angle whose sine is x, from -pi/2 to pi/2; NaN beyond 1",
                         .example = "dim io = 3\nprint asin(const([io], [-1, 0, 0.5]))\n",
                         .grad = asin_grad,
                         .tile = math_tile<MathFn::kAsin>,
                         .host = asin_host});

const OpDef kAcos = arc({.name = "acos",
                         .summary = "the angle whose cosine is x, from 0 to pi; NaN beyond 1",
                         .example = "dim io = 3\nprint acos(const([io], [-1, 0, 0.5]))\n",
                         .grad = acos_grad,
                         .tile = math_tile<MathFn::kAcos>,
                         .host = acos_host});

const OpDef kAtan = arc({.name = "atan",
                         .summary = "the angle whose tangent is x, from -pi/2 to pi/2",
                         .example = "dim io = 3\nprint atan(const([io], [-1, 0, 100]))\n",
                         .grad = atan_grad,
                         .tile = math_tile<MathFn::kAtan>,
                         .host = atan_host});

const OpDef kAtan2{
    .name = "atan2",
    .summary = "the angle of the point (x, y), from -pi to pi",
    .family = "element-wise functions",
    .params = {{.name = "y", .kind = ParamKind::kTensor, .help = "how far up the point is"},
               {.name = "x", .kind = ParamKind::kTensor, .help = "how far to the right"}},
    .shape_rule = kUnionOfDims,
    .example = R"(dim io = 4
print atan2(const([io], [0, 1, 0, -1]), const([io], [1, 0, -1, 0]))
)",
    .type = float_elements,
    .space = kept_space,
    .grad = atan2_grad,
    .flops = one_flop_each,
    .tile = atan2_tile,
    .host = atan2_host};

}  // namespace mtf::ops
