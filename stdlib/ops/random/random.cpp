// normal and uniform: of each Philox block four f32 or two f64.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ir/builder.h"
#include "ir/support/number.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/random/draw.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> uniform_type(OpCall& call, DiagSink& diags) {
  const double low = real_arg(call.args, "low", 0);
  const double high = real_arg(call.args, "high", 1);
  if (low > high) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`uniform` with `low` " + shortest(low) + " above `high` " + shortest(high));
    return std::nullopt;
  }
  std::optional<TensorType> type = drawn_float_type(call, diags);
  const bool is_single = type && wide_of(type->dtype) == DType::kF32;
  const double most =
      is_single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (type && !(high - low <= most)) {
    diags.error(DiagKind::kOverflow, call.span,
                "`uniform` with `high` further above `low` than " +
                    std::string(to_string(wide_of(type->dtype))) + " reaches");
    return std::nullopt;
  }
  return type;
}

// The number that comes before `x`.
template <typename T>
T before(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(x, -std::numeric_limits<T>::infinity());
  } else {  // the sign, then the size
    constexpr std::uint16_t kSign = 0x8000;
    const bool is_zero = (x.bits & ~kSign) == 0;
    const int bits = is_zero ? kSign + 1 : (x.bits & kSign) != 0 ? x.bits + 1 : x.bits - 1;
    x.bits = static_cast<std::uint16_t>(bits);
    return x;
  }
}

// The last number that may be drawn: below `high`, unless `low` is all that there is.
template <typename T>
double last_drawn(const OpArgs& args) {
  const auto low = static_cast<T>(real_arg(args, "low", 0));
  const auto high = static_cast<T>(real_arg(args, "high", 1));
  return std::max(static_cast<double>(before(high)), static_cast<double>(low));
}

// Of a narrow dtype, one that is rounded, but not up to `high`. An invalid id: the call stands for
// itself.
std::optional<ValueId> uniform_expand(Builder& b, const OpCall& call,
                                      std::span<const ValueId> /*operands*/) {
  const DType dtype = call.result.dtype;
  if (!is_narrow(dtype)) {
    return ValueId{};
  }
  OpArgs args = call.args;
  args.set("dtype", wide_of(dtype));
  const ValueId rounded = b.cast(b.emit("uniform", {}, std::move(args)), dtype);
  const double last =
      dtype == DType::kBF16 ? last_drawn<BFloat16>(call.args) : last_drawn<Float16>(call.args);
  return b.emit("minimum", {rounded, b.scalar(last, dtype)});
}

// Uniform in [0, 1), on a grid that the type holds exactly.
std::array<float, 4> unit_floats(const PhiloxCounter& bits, float /*tag*/) {
  std::array<float, 4> u{};
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = static_cast<float>(static_cast<std::int32_t>(bits[i] >> 8U)) * 0x1p-24F;
  }
  return u;
}

std::array<double, 2> unit_floats(const PhiloxCounter& bits, double /*tag*/) {
  std::array<double, 2> u{};
  for (std::size_t i = 0; i < u.size(); ++i) {
    const std::uint64_t word = (std::uint64_t{bits[2 * i + 1]} << 32U) | bits[2 * i];
    u[i] = static_cast<double>(word >> 11U) * 0x1p-53;
  }
  return u;
}

template <typename T>
inline constexpr std::size_t kPerBlock = std::tuple_size_v<decltype(unit_floats({}, T{}))>;

template <typename T>
void to_units(std::span<const PhiloxCounter> blocks, std::span<T> units) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto u = unit_floats(blocks[i], T{});
    std::copy(u.begin(), u.end(), units.begin() + static_cast<std::ptrdiff_t>(i * kPerBlock<T>));
  }
}

// Box and Muller: two uniform numbers become two normal ones.
template <typename T>
void to_normal(std::span<T> units, Isa isa) {
  std::array<T, kRun / 2> radius{};
  std::array<T, kRun / 2> angle{};
  std::array<T, kRun / 2> cosine{};
  const std::size_t pairs = units.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    radius[i] = T{1} - units[2 * i];  // in (0, 1], so that its logarithm is finite
    angle[i] = units[2 * i + 1] * (T{2} * std::numbers::pi_v<T>);
  }
  const auto part = [&](std::array<T, kRun / 2>& all) { return std::span<T>(all).first(pairs); };
  vector_math(MathFn::kLog, part(radius), isa, part(radius));
  vector_math(MathFn::kCos, part(angle), isa, part(cosine));
  vector_math(MathFn::kSin, part(angle), isa, part(angle));
  for (std::size_t i = 0; i < pairs; ++i) {
    const T length = std::sqrt(T{-2} * radius[i]);
    units[2 * i] = length * cosine[i];
    units[2 * i + 1] = length * angle[i];
  }
}

// What becomes of a number of the plain distribution: shift + scale * number, `last` at most.
template <typename T>
struct Fitted {
  T shift;
  T scale;
  T last;
};

template <typename T>
Fitted<T> fitted_normal(const OpArgs& args) {
  return {.shift = static_cast<T>(real_arg(args, "mean", 0)),
          .scale = static_cast<T>(real_arg(args, "stddev", 1)),
          .last = std::numeric_limits<T>::infinity()};
}

template <typename T>
Fitted<T> fitted_uniform(const OpArgs& args) {
  const auto low = static_cast<T>(real_arg(args, "low", 0));
  return {.shift = low,
          .scale = static_cast<T>(real_arg(args, "high", 1)) - low,
          .last = static_cast<T>(last_drawn<T>(args))};
}

template <Distribution kDistribution>
void random_kernel(const KernelCall& call) {
  constexpr bool kNormal = kDistribution == Distribution::kGauss;
  const OpArgs& args = call.call.args;
  const Isa isa = call.host.cpu().isa;
  with_float(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const Fitted<T> fitted = kNormal ? fitted_normal<T>(args) : fitted_uniform<T>(args);
    const auto make = [&](std::span<const PhiloxCounter> blocks, std::span<T> run) {
      to_units(blocks, run);
      if constexpr (kNormal) {
        to_normal(run, isa);
      }
      for (T& number : run) {
        const T found = fitted.shift + fitted.scale * number;
        number = found > fitted.last ? fitted.last : found;
      }
    };
    fill_slice<kPerBlock<T>, T>(call, kDistribution, make);
  });
}

}  // namespace

const OpDef kNormal{
    .name = "normal",
    .summary = "numbers drawn from a normal distribution",
    .family = "random numbers",
    .params = random_params(
        {real_param("stddev", "standard deviation (1)"), real_param("mean", "(0)")}, "(f32)"),
    .shape_rule = "the shape",
    .example = "dim batch = 2, io = 3\nprint normal([batch, io], seed = 7)\n",
    .type = spread_type,
    .space = kept_space,
    .flops = one_flop_each,
    .kernel = random_kernel<Distribution::kGauss>,
    .random = true};

const OpDef kUniform{.name = "uniform",
                     .summary = "numbers drawn from the uniform distribution over [low, high)",
                     .family = "random numbers",
                     .params = random_params({real_param("low", "the inclusive lower bound (0)"),
                                              real_param("high", "just above the greatest (1)")},
                                             "(f32)"),
                     .shape_rule = "the shape",
                     .example = R"(dim batch = 2, io = 3
let x = uniform([batch, io], low = 1, high = 2, seed = 7)
assert all(1 <= x and x < 2)
)",
                     .type = uniform_type,
                     .expand = uniform_expand,
                     .space = kept_space,
                     .flops = one_flop_each,
                     .kernel = random_kernel<Distribution::kEven>,
                     .narrow = true,
                     .random = true};

}  // namespace mtf::ops
