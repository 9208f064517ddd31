// minimum and maximum of two tensors. A NaN in either wins, as in NumPy; equal elements share the
// gradient, half each.

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Without branches, for vectors. Equal elements have equal bits but for the sign of a zero; with a
// NaN all comparisons are false, and a + b is one.
template <typename T>
T chosen(T a, T b, T won, Bits<T> tied) {
  const T ordered = a == b ? std::bit_cast<T>(tied) : won;
  const T sum = a + b;
  return std::isunordered(a, b) ? sum : ordered;
}

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return std::min(a, b);
    } else {
      return chosen<T>(a, b, a < b ? a : b, std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
    }
  }
};

struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return std::max(a, b);
    } else {
      return chosen<T>(a, b, a > b ? a : b, std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
    }
  }
};

void share(GradBuilder& b, std::string_view wins) {
  const ValueId zero = b.scalar(0);
  const ValueId half = b.emit("mul", {b.upstream(), b.scalar(0.5)});
  const ValueId tied = b.emit("equal", {b.operand(0), b.operand(1)});
  const ValueId others = b.emit("where", {tied, half, zero});
  for (const std::size_t i : {0U, 1U}) {
    if (b.wants(i)) {
      const ValueId won = b.emit(wins, {b.operand(i), b.operand(1 - i)});
      b.add_to(i, b.emit("where", {won, b.upstream(), others}));
    }
  }
}

void minimum_grad(GradBuilder& b) {
  share(b, "less");
}
void maximum_grad(GradBuilder& b) {
  share(b, "greater");
}

double minimum_host(std::span<const double> x) {
  return Minimum{}(x[0], x[1]);
}
double maximum_host(std::span<const double> x) {
  return Maximum{}(x[0], x[1]);
}

}  // namespace

const OpDef kMinimum{.name = "minimum",
                     .summary =
                         "the smaller of two elements; NaN if either is; ties share the "
                         "gradient equally",
                     .family = "arithmetic",
                     .params = two_operands(),
                     .shape_rule = kUnionOfDims,
                     .example = R"(dim io = 3
print minimum(const([io], [1, 5, 9]), 4)
)",
                     .type = number_elements,
                     .space = kept_space,
                     .grad = minimum_grad,
                     .flops = one_flop_each,
                     .tile = binary_numbers<Minimum>,
                     .spreads = true,
                     .lanes = LaneFn::kSmaller,
                     .host = minimum_host};

const OpDef kMaximum{.name = "maximum",
                     .summary =
                         "the larger of two elements; NaN if either is; ties share the "
                         "gradient equally",
                     .family = "arithmetic",
                     .params = two_operands(),
                     .shape_rule = kUnionOfDims,
                     .example = R"(dim io = 3
print maximum(const([io], [1, 5, 9]), 4)
)",
                     .type = number_elements,
                     .space = kept_space,
                     .grad = maximum_grad,
                     .flops = one_flop_each,
                     .tile = binary_numbers<Maximum>,
                     .spreads = true,
                     .lanes = LaneFn::kLarger,
                     .host = maximum_host};

}  // namespace mtf::ops
