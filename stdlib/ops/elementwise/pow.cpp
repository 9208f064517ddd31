// pow and square.

#include <cmath>
#include <optional>
#include <span>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// By squaring, wrapping; a negative power of a whole number is 0 but for 1 and -1.
template <typename T>
T integer_power(T base, T exponent) {
  if (exponent < 0) {
    const T odd = static_cast<T>(exponent % 2 == 0 ? 1 : -1);
    return base == T{1} ? T{1} : base == T{-1} ? odd : T{0};
  }
  auto factor = to_wrapping(base);
  auto product = to_wrapping(T{1});
  for (T rest = exponent; rest > 0; rest /= 2) {
    product = rest % 2 == 0 ? product : product * factor;
    factor *= factor;
  }
  return static_cast<T>(product);
}

void pow_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_number(call.dtype, [&](auto type) {
    using T = decltype(type);
    const std::span a(static_cast<const T*>(in[0]), n);
    const std::span b(static_cast<const T*>(in[1]), n);
    const std::span y(static_cast<T*>(out), n);
    if constexpr (std::is_integral_v<T>) {
      for (std::size_t i = 0; i < n; ++i) {
        y[i] = integer_power(a[i], b[i]);
      }
    } else {
      vector_pow(a, b, call.isa, y);
    }
  });
}

// The exponent, if it is one number that is known.
std::optional<double> known_number(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  const bool is_number = value.op != nullptr && value.op->primitive == Primitive::kFill;
  const double* number = is_number ? value.args.get<double>("value") : nullptr;
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// Common powers by what takes a tenth of the time: of products, at most two, each rounded, for
// which narrow elements are too coarse. Invalid: another power.
ValueId common_power(Builder& b, ValueId x, double exponent, DType dtype) {
  if (exponent == 2) {
    return b.emit("square", {x});
  }
  if (exponent == 3 && !is_narrow(dtype)) {
    return b.emit("mul", {b.emit("square", {x}), x});
  }
  if (exponent == 4 && !is_narrow(dtype)) {
    return b.emit("square", {b.emit("square", {x})});
  }
  if (exponent == 0.5 && is_float(dtype)) {
    return b.emit("sqrt", {x});
  }
  if (exponent == -1 && is_float(dtype)) {
    return b.emit("div", {b.scalar(1, dtype), x});
  }
  return {};
}

// The same where the exponent is known, whatever the layout.
std::optional<ValueId> pow_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const std::optional<double> exponent = known_number(b.program(), x[1]);
  if (!exponent || !(call.operands[0] == call.result)) {
    return ValueId();
  }
  const ValueId power = common_power(b, x[0], *exponent, call.result.dtype);
  if (power.valid()) {
    b.look_through(x[1]);
  }
  return power;
}

// da = b a^(b-1), taken as 0 where b is 0; db = a^b log a, taken as 0 where a is not positive.
void pow_grad(GradBuilder& b) {
  const ValueId base = b.operand(0);
  const ValueId exponent = b.operand(1);
  const ValueId zero = b.scalar(0);
  const ValueId one = b.scalar(1);
  if (b.wants(0)) {
    const ValueId none = b.emit("equal", {exponent, zero});
    const ValueId safe = b.emit("where", {none, one, exponent});
    const ValueId lower = b.emit("pow", {base, b.emit("sub", {safe, one})});
    b.add_to(0, b.emit("mul", {b.upstream(), b.emit("mul", {exponent, lower})}));
  }
  if (b.wants(1)) {
    const ValueId positive = b.emit("greater", {base, zero});
    const ValueId log = b.emit("log", {b.emit("where", {positive, base, one})});
    b.add_to(1, b.emit("mul", {b.upstream(), b.emit("mul", {b.result(), log})}));
  }
}

struct Square {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(to_wrapping(a) * to_wrapping(a));
  }
};

void square_grad(GradBuilder& b) {
  const ValueId twice = b.emit("mul", {b.operand(0), b.scalar(2)});
  b.add_to(0, b.emit("mul", {b.upstream(), twice}));
}

double pow_host(std::span<const double> x) {
  return std::pow(x[0], x[1]);
}
double square_host(std::span<const double> x) {
  return x[0] * x[0];
}

}  // namespace

const OpDef kPow{.name = "pow",
                 .symbol = "**",
                 .precedence = 8,
                 .summary =
                     "a to the power of b; a negative a needs an integer power, and gives b no "
                     "gradient",
                 .family = "arithmetic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim io = 3
print const([io], [-2, 2, 3]) ** 5
)",
                 .type = number_elements,
                 .expand = pow_expand,
                 .space = kept_space,
                 .grad = pow_grad,
                 .flops = one_flop_each,
                 .tile = pow_tile,
                 .host = pow_host};

const OpDef kSquare{.name = "square",
                    .summary = "x * x for each element",
                    .family = "element-wise functions",
                    .params = one_operand(),
                    .shape_rule = kSameDims,
                    .example = R"(dim io = 3
print square(const([io], [-1, 2, 3]))
)",
                    .type = number_elements,
                    .space = kept_space,
                    .grad = square_grad,
                    .flops = one_flop_each,
                    .tile = unary_numbers<Square>,
                    .lanes = LaneFn::kSquare,
                    .host = square_host};

}  // namespace mtf::ops
