// Comparisons: two tensors of one dtype to bools. NaN equals nothing, not even itself. And
// isfinite, isinf, isnan.

#include <cmath>

#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

struct Less {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a <= b;
  }
};

struct Greater {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterEqual {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a >= b;
  }
};

struct Equal {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <typename T>
  std::uint8_t operator()(T a, T b) const {
    return a != b;
  }
};

struct IsFinite {
  template <typename T>
  std::uint8_t operator()(T x) const {
    return std::isfinite(x);
  }
};

struct IsInf {
  template <typename T>
  std::uint8_t operator()(T x) const {
    return std::isinf(x);
  }
};

struct IsNan {
  template <typename T>
  std::uint8_t operator()(T x) const {
    return std::isnan(x);
  }
};

template <typename F>
void number_test_tile(const TileCall& call, std::span<const void* const> in, void* out,
                      std::size_t n) {
  with_float(call.dtype, [&](auto type) { unary_loop<F, decltype(type)>(in, out, n); });
}

std::optional<TensorType> bools(std::optional<TensorType> type) {
  if (type) {
    type->dtype = DType::kBool;
  }
  return type;
}

std::optional<TensorType> ordered_type(OpCall& call, DiagSink& diags) {
  if (!check_operands(call, Accepts::kOrdered, diags)) {
    return std::nullopt;
  }
  return bools(any_elements(call, diags));
}

std::optional<TensorType> equal_type(OpCall& call, DiagSink& diags) {
  return bools(any_elements(call, diags));
}

std::optional<TensorType> number_test_type(OpCall& call, DiagSink& diags) {
  return bools(float_elements(call, diags));
}

template <typename F>
double number_test_host(std::span<const double> x) {
  return F{}(x[0]);
}
double less_host(std::span<const double> x) {
  return x[0] < x[1] ? 1 : 0;
}
double less_equal_host(std::span<const double> x) {
  return x[0] <= x[1] ? 1 : 0;
}
double greater_host(std::span<const double> x) {
  return x[0] > x[1] ? 1 : 0;
}
double greater_equal_host(std::span<const double> x) {
  return x[0] >= x[1] ? 1 : 0;
}
double equal_host(std::span<const double> x) {
  return x[0] == x[1] ? 1 : 0;
}
double not_equal_host(std::span<const double> x) {
  return x[0] != x[1] ? 1 : 0;
}

OpDef comparison(OpDef def) {
  def.family = "comparisons";
  def.params = two_operands();
  def.shape_rule = kUnionOfDims;
  def.space = kept_space;
  def.flops = one_flop_each;
  return def;
}

template <typename F>
OpDef number_test(OpDef def) {
  def.family = "comparisons";
  def.params = one_operand();
  def.shape_rule = kSameDims;
  def.type = number_test_type;
  def.space = kept_space;
  def.flops = one_flop_each;
  def.tile = number_test_tile<F>;
  def.host = number_test_host<F>;
  def.tests_numbers = true;
  return def;
}

}  // namespace

const OpDef kLess = comparison({.name = "less",
                                .symbol = "<",
                                .precedence = 4,
                                .summary = "whether a is less than b",
                                .example = "dim length = 4\nprint range(length) < 2\n",
                                .type = ordered_type,
                                .tile = binary_any<Less>,
                                .spreads = true,
                                .lanes = LaneFn::kIsLess,
                                .host = less_host});

const OpDef kLessEqual = comparison({.name = "less_equal",
                                     .symbol = "<=",
                                     .precedence = 4,
                                     .summary = "whether a is less than b, or equal",
                                     .example = "dim length = 4\nprint range(length) <= 2\n",
                                     .type = ordered_type,
                                     .tile = binary_any<LessEqual>,
                                     .spreads = true,
                                     .lanes = LaneFn::kIsAtMost,
                                     .host = less_equal_host});

const OpDef kGreater = comparison({.name = "greater",
                                   .symbol = ">",
                                   .precedence = 4,
                                   .summary = "whether a is greater than b",
                                   .example = "dim length = 4\nprint range(length) > 2\n",
                                   .type = ordered_type,
                                   .tile = binary_any<Greater>,
                                   .spreads = true,
                                   .lanes = LaneFn::kIsGreater,
                                   .host = greater_host,
                                   .primitive = Primitive::kGreater});

const OpDef kGreaterEqual = comparison({.name = "greater_equal",
                                        .symbol = ">=",
                                        .precedence = 4,
                                        .summary = "whether a is greater than b, or equal",
                                        .example = "dim length = 4\nprint range(length) >= 2\n",
                                        .type = ordered_type,
                                        .tile = binary_any<GreaterEqual>,
                                        .spreads = true,
                                        .lanes = LaneFn::kIsAtLeast,
                                        .host = greater_equal_host});

const OpDef kEqual = comparison({.name = "equal",
                                 .symbol = "==",
                                 .precedence = 4,
                                 .summary = "whether a and b are the same",
                                 .example = "dim length = 4\nprint range(length) == 2\n",
                                 .type = equal_type,
                                 .tile = binary_any<Equal>,
                                 .spreads = true,
                                 .lanes = LaneFn::kIsEqual,
                                 .host = equal_host});

const OpDef kNotEqual = comparison({.name = "not_equal",
                                    .symbol = "!=",
                                    .precedence = 4,
                                    .summary = "whether a and b differ",
                                    .example = "dim length = 4\nprint range(length) != 2\n",
                                    .type = equal_type,
                                    .tile = binary_any<NotEqual>,
                                    .spreads = true,
                                    .lanes = LaneFn::kIsUnequal,
                                    .host = not_equal_host});

const OpDef kIsFinite =
    number_test<IsFinite>({.name = "isfinite",
                           .summary = "whether each element is a number, neither infinite nor NaN",
                           .example = R"(dim io = 3
print isfinite(log(const([io], [-1, 0, 1])))
)"});

const OpDef kIsInf =
    number_test<IsInf>({.name = "isinf",
                        .summary = "whether each element is infinite, of either sign",
                        .example = R"(dim io = 3
print isinf(log(const([io], [-1, 0, 1])))
)"});

const OpDef kIsNan = number_test<IsNan>({.name = "isnan",
                                         .summary = "whether each element is NaN, not a number",
                                         .example = R"(dim io = 3
print isnan(log(const([io], [-1, 0, 1])))
)"});

}  // namespace mtf::ops
