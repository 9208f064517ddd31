// floor, ceil, round and trunc: the whole number below, above, nearest, towards 0. Whole numbers
// stay as they are. Constant between their jumps, so nothing flows back.

#include <cmath>

#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

template <auto kOfFloat, auto kOfDouble>
struct Rounding {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, float>) {
      return kOfFloat(x);
    } else if constexpr (std::is_same_v<T, double>) {
      return kOfDouble(x);
    } else {
      return x;
    }
  }
};

// Lambdas, so that each call is one instruction; rint rounds halves to even, as the processor does.
using Floor =
    Rounding<[](float x) { return std::floor(x); }, [](double x) { return std::floor(x); }>;
using Ceil = Rounding<[](float x) { return std::ceil(x); }, [](double x) { return std::ceil(x); }>;
using Round = Rounding<[](float x) { return std::rint(x); }, [](double x) { return std::rint(x); }>;
using Trunc =
    Rounding<[](float x) { return std::trunc(x); }, [](double x) { return std::trunc(x); }>;

template <typename F>
double rounded(std::span<const double> x) {
  return F{}(x[0]);
}

template <typename F>
OpDef rounding(OpDef def) {
  def.family = "element-wise functions";
  def.params = one_operand();
  def.shape_rule = kSameDims;
  def.type = number_elements;
  def.space = kept_space;
  def.flops = one_flop_each;
  def.tile = unary_numbers<F>;
  def.host = rounded<F>;
  return def;
}

}  // namespace

const OpDef kFloor = rounding<Floor>(
    {.name = "floor", .summary = "the largest integer that is not above x", .example = R"(dim io = 4
assert all(floor(const([io], [-1.5, -0.5, 0.5, 2])) == const([io], [-2, -1, 0, 2]))
)"});

const OpDef kCeil = rounding<Ceil>(
    {.name = "ceil", .summary = "the smallest integer that is not below x", .example = R"(dim io = 4
assert all(ceil(const([io], [-1.5, -0.5, 0.5, 2])) == const([io], [-1, 0, 1, 2]))
)"});

const OpDef kRound = rounding<Round>({.name = "round",
                                      .summary = "the nearest integer; halves go to the even one",
                                      .example = R"(dim io = 5
assert all(round(const([io], [-1.5, 0.5, 1.5, 2.5, 2.6])) == const([io], [-2, 0, 2, 2, 3]))
)"});

const OpDef kTrunc =
    rounding<Trunc>({.name = "trunc", .summary = "x rounded towards 0", .example = R"(dim io = 4
assert all(trunc(const([io], [-1.5, -0.5, 0.5, 2.9])) == const([io], [-1, 0, 0, 2]))
)"});

}  // namespace mtf::ops
