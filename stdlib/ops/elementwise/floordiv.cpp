// floordiv and mod: Python's, rounded down, so that a == (a // b) * b + a % b.
//
// Whole numbers divided by zero give 0, as in NumPy: an element cannot stop the program.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// std::fmod, bits included. In f64 the quotient of two f32 is on the right side of each whole
// number up to 2^26, as no quotient is nearer to one than 2^-24, and its product with b has all its
// digits.
template <std::floating_point T>
T rest_of(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr double kMost = 1 << 26;
    const double quotient = static_cast<double>(a) / static_cast<double>(b);
    if (std::fabs(quotient) < kMost && std::isfinite(b)) {
      const double product =
          static_cast<double>(static_cast<std::int32_t>(quotient)) * static_cast<double>(b);
      return std::copysign(static_cast<float>(static_cast<double>(a) - product), a);
    }
  }
  return std::fmod(a, b);
}

template <typename T>
T floor_mod(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == T{-1}) {
      return 0;
    }
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const T rest = rest_of(a, b);
    if (rest == T{0}) {
      return std::copysign(T{0}, b);
    }
    const std::array<T, 2> added = {T{0}, b};  // as a branch would be guessed, wrong half the time
    return rest + added[(rest < T{0}) != (b < T{0}) ? 1 : 0];
  }
}

template <std::floating_point T>
T floor_div(T a, T b) {
  if (b == T{0}) {
    return a / b;
  }
  // (a - rest) / b is a whole number but for its own rounding; the rest towards 0 is no larger than
  // a, where that towards b may be infinite.
  const T rest = rest_of(a, b);
  const bool turns = rest != T{0} && (rest < T{0}) != (b < T{0});
  const T exact = (a - rest) / b - (turns ? T{1} : T{0});
  const T down = std::floor(exact);
  const T whole = exact - down > T{0.5} ? down + T{1} : down;
  return whole == T{0} ? std::copysign(T{0}, a / b) : whole;
}

template <std::integral T>
T floor_div(T a, T b) {
  if (b == 0) {
    return 0;
  }
  if (b == T{-1}) {
    return static_cast<T>(0U - to_wrapping(a));  // the smallest integer stays itself
  }
  const T quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

struct Mod {
  template <typename T>
  T operator()(T a, T b) const {
    return floor_mod(a, b);
  }
};

struct FloorDiv {
  template <typename T>
  T operator()(T a, T b) const {
    return floor_div(a, b);
  }
};

// Between its jumps a % b = a - b * (a // b), with a // b constant.
void mod_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
  if (b.wants(1)) {
    const ValueId times = b.emit("floordiv", {b.operand(0), b.operand(1)});
    b.add_to(1, b.emit("neg", {b.emit("mul", {b.upstream(), times})}));
  }
}

double mod_host(std::span<const double> x) {
  return floor_mod(x[0], x[1]);
}
double floordiv_host(std::span<const double> x) {
  return floor_div(x[0], x[1]);
}

}  // namespace

const OpDef kFloorDiv{.name = "floordiv",
                      .symbol = "//",
                      .precedence = 6,
                      .summary = "the quotient rounded down; integers divided by 0 give 0",
                      .family = "arithmetic",
                      .params = two_operands(),
                      .shape_rule = kUnionOfDims,
                      .example = R"(dim length = 6
print range(length) // 4
)",
                      .type = number_elements,
                      .space = kept_space,
                      .flops = one_flop_each,
                      .tile = binary_numbers<FloorDiv>,
                      .spreads = true,
                      .host = floordiv_host};

const OpDef kMod{
    .name = "mod",
    .symbol = "%",
    .precedence = 6,
    .summary = "the remainder of floordiv, with the sign of b; integers modulo 0 give 0",
    .family = "arithmetic",
    .params = two_operands(),
    .shape_rule = kUnionOfDims,
    .example = R"(dim length = 6
print range(length) % 4
)",
    .type = number_elements,
    .space = kept_space,
    .grad = mod_grad,
    .flops = one_flop_each,
    .tile = binary_numbers<Mod>,
    .spreads = true,
    .host = mod_host};

}  // namespace mtf::ops
