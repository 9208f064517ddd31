// Activations that change their formula at a point: leaky_relu, elu, selu, and those of straight
// lines, hard_tanh, hard_sigmoid and hard_swish.

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// Klambauer et al. (2017): fixed point of mean 0 and variance 1.
constexpr double kSeluScale = 1.0507009873554804934;
constexpr double kSeluAlpha = 1.6732632423543772848;

ValueId is_positive(GradBuilder& b) {
  return b.emit("greater", {b.operand(0), b.scalar(0)});
}

// ---- leaky_relu --------------------------------------------------------------------------------

constexpr double kLeak = 0.01;

void leaky_relu_tile(const TileCall& call, std::span<const void* const> in, void* out,
                     std::size_t n) {
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    const auto alpha = static_cast<T>(real_arg(*call.args, "alpha", kLeak));
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = x[i] * (x[i] > T{0} ? T{1} : alpha);
    }
  });
}

void leaky_relu_grad(GradBuilder& b) {
  const ValueId alpha = b.scalar(real_arg(b.args(), "alpha", kLeak));
  const ValueId slope = b.emit("where", {is_positive(b), b.scalar(1), alpha});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

double leaky_relu_host(std::span<const double> x) {
  return x[0] * (x[0] > 0 ? 1 : kLeak);
}

// ---- elu and selu ------------------------------------------------------------------------------

// scale x above 0, scale alpha (exp(x) - 1) below.
template <typename T>
void elu_piece(const T* x, std::size_t n, T scale, T alpha, Isa isa, T* y) {
  std::array<T, kPiece> bent;  // NOLINT: clearing it would take longer
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::span<T> part = std::span<T>(bent).first(std::min(kPiece, n - begin));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = x[begin + i] > T{0} ? T{0} : x[begin + i];
    }
    vector_math(MathFn::kExpm1, part, isa, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      y[begin + i] = scale * (x[begin + i] > T{0} ? x[begin + i] : alpha * part[i]);
    }
  }
}

void elu_of(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n,
            double scale, double alpha) {
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    elu_piece(static_cast<const T*>(in[0]), n, static_cast<T>(scale), static_cast<T>(alpha),
              call.isa, static_cast<T*>(out));
  });
}

void elu_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  elu_of(call, in, out, n, 1, real_arg(*call.args, "alpha", 1));
}

void selu_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  elu_of(call, in, out, n, kSeluScale, kSeluAlpha);
}

// Below 0 the slope is scale alpha exp(x); the result and scale alpha are that, too, but for the
// digits that a result near -scale alpha has lost.
void elu_slope(GradBuilder& b, double scale, double alpha) {
  const ValueId power = b.emit("exp", {b.operand(0)});
  const ValueId below = b.emit("mul", {power, b.scalar(scale * alpha)});
  const ValueId slope = b.emit("where", {is_positive(b), b.scalar(scale), below});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void elu_grad(GradBuilder& b) {
  elu_slope(b, 1, real_arg(b.args(), "alpha", 1));
}

void selu_grad(GradBuilder& b) {
  elu_slope(b, kSeluScale, kSeluAlpha);
}

double elu_host(std::span<const double> x) {
  return x[0] > 0 ? x[0] : std::expm1(x[0]);
}
double selu_host(std::span<const double> x) {
  return kSeluScale * (x[0] > 0 ? x[0] : kSeluAlpha * std::expm1(x[0]));
}

// ---- straight lines ----------------------------------------------------------------------------

struct HardTanh {
  template <typename T>
  T operator()(T x) const {
    return x < T{-1} ? T{-1} : x > T{1} ? T{1} : x;
  }
};

struct HardSigmoid {
  template <typename T>
  T operator()(T x) const {
    return x < T{-3} ? T{0} : x > T{3} ? T{1} : (x + T{3}) / T{6};
  }
};

struct HardSwish {
  template <typename T>
  T operator()(T x) const {
    return x < T{-3} ? T{0} : x > T{3} ? x : x * ((x + T{3}) / T{6});
  }
};

template <typename F>
void hard_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_float(call.dtype, [&](auto type) { unary_loop<F, decltype(type)>(in, out, n); });
}

template <typename F>
double hard_host(std::span<const double> x) {
  return F{}(x[0]);
}

// 0 below -bound, `above` above bound, `between` between.
void lines_grad(GradBuilder& b, double bound, double above, ValueId between) {
  const ValueId low = b.emit("less", {b.operand(0), b.scalar(-bound)});
  const ValueId high = b.emit("greater", {b.operand(0), b.scalar(bound)});
  const ValueId beyond = b.emit("where", {high, b.scalar(above), between});
  const ValueId slope = b.emit("where", {low, b.scalar(0), beyond});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void hard_tanh_grad(GradBuilder& b) {
  lines_grad(b, 1, 0, b.scalar(1));
}
void hard_sigmoid_grad(GradBuilder& b) {
  lines_grad(b, 3, 0, b.scalar(1.0 / 6));
}
void hard_swish_grad(GradBuilder& b) {
  const ValueId third = b.emit("mul", {b.operand(0), b.scalar(1.0 / 3)});
  lines_grad(b, 3, 1, b.emit("add", {third, b.scalar(0.5)}));
}

OpDef bend(OpDef def) {
  def.family = "activations";
  def.params.insert(def.params.begin(), one_operand().front());
  def.shape_rule = kSameDims;
  def.type = float_elements;
  def.space = kept_space;
  def.flops = one_flop_each;
  return def;
}

OpParam alpha_param(std::string_view help) {
  return {.name = "alpha", .kind = ParamKind::kReal, .required = false, .help = help};
}

}  // namespace

const OpDef kLeakyRelu = bend({.name = "leaky_relu",
                               .summary = "x where it is positive, else alpha x",
                               .params = {alpha_param("the slope below 0 (0.01)")},
                               .example = R"(dim io = 3
print leaky_relu(const([io], [-1, 0, 2]), alpha = 0.2)
)",
                               .grad = leaky_relu_grad,
                               .tile = leaky_relu_tile,
                               .host = leaky_relu_host});

const OpDef kElu = bend({.name = "elu",
                         .summary = "x where it is positive, else alpha (exp(x) - 1)",
                         .params = {alpha_param("the negative of the limit at minus infinity (1)")},
                         .example = "dim io = 3\nprint elu(const([io], [-1, 0, 2]))\n",
                         .grad = elu_grad,
                         .tile = elu_tile,
                         .host = elu_host});

const OpDef kSelu = bend({.name = "selu",
                          .summary = "1.0507 elu(x, alpha = 1.6733), which keeps mean and variance",
                          .example = "dim io = 3\nprint selu(const([io], [-1, 0, 2]))\n",
                          .grad = selu_grad,
                          .tile = selu_tile,
                          .host = selu_host});

const OpDef kHardTanh = bend({.name = "hard_tanh",
                              .summary = "x clamped to [-1, 1]",
                              .example = "dim io = 3\nprint hard_tanh(const([io], [-2, 0.5, 2]))\n",
                              .grad = hard_tanh_grad,
                              .tile = hard_tile<HardTanh>,
                              .host = hard_host<HardTanh>});

const OpDef kHardSigmoid =
    bend({.name = "hard_sigmoid",
          .summary = "x / 6 + 1/2 between -3 and 3, 0 below and 1 above",
          .example = "dim io = 3\nprint hard_sigmoid(const([io], [-4, 0, 1.5]))\n",
          .grad = hard_sigmoid_grad,
          .tile = hard_tile<HardSigmoid>,
          .host = hard_host<HardSigmoid>});

const OpDef kHardSwish = bend({.name = "hard_swish",
                               .summary = "x hard_sigmoid(x)",
                               .example = "dim io = 3\nprint hard_swish(const([io], [-4, 1, 5]))\n",
                               .grad = hard_swish_grad,
                               .tile = hard_tile<HardSwish>,
                               .host = hard_host<HardSwish>});

}  // namespace mtf::ops
