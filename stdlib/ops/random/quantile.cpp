// truncated_normal and gumbel: the place in the distribution is drawn, and its number computed, in
// double.

#include <array>
#include <cmath>

#include "stdlib/ops/ops.h"
#include "stdlib/ops/random/draw.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// Inside of (0, 1): of 32 bits for an f32, of 52 for an f64.
template <typename T>
void to_places(std::span<const PhiloxCounter> blocks, std::span<double> places) {
  constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint32_t);  // of a place
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PhiloxCounter& bits = blocks[i * kWords / 4];
    const std::size_t word = i * kWords % 4;
    if constexpr (std::is_same_v<T, float>) {
      places[i] = (bits[word] + 0.5) * 0x1p-32;
    } else {
      const std::uint64_t both = (std::uint64_t{bits[word + 1]} << 32U) | bits[word];
      places[i] = (static_cast<double>(both >> 12U) + 0.5) * 0x1p-52;
    }
  }
}

// -log(-log(u))
void to_gumbel(std::span<double> u, Isa isa) {
  for (int i = 0; i < 2; ++i) {
    vector_math(MathFn::kLog, u, isa, u);
    for (double& x : u) {
      x = -x;
    }
  }
}

template <typename... Rest>
double series(double x, double first, Rest... rest) {
  double sum = first;
  ((sum = sum * x + rest), ...);
  return sum;
}

// Wichura's AS 241, by the distance q from the middle of the distribution.
double near_the_middle(double q) {
  const double r = 0.180625 - q * q;
  const double p =
      series(r, 2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
             4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
             1.3314166789178437745e+2, 3.3871328727963666080e+0);
  return q * p /
         series(r, 5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
                2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
                4.2313330701600911252e+1, 1.0);
}

// By minus the logarithm of what lies beyond.
double near_an_end(double log) {
  const double r = std::sqrt(log) - 1.6;
  const double p =
      series(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
             1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
             4.63033784615654529590e+0, 1.42343711074968357734e+0);
  return p / series(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4,
                    1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1,
                    1.67638483018380384940e+0, 2.05319162663775882187e+0, 1.0);
}

constexpr double kBelow = 0.022750131948179207200;  // of a normal distribution, below -2

// The normal number at the place u of what lies between -2 and 2.
void to_truncated(std::span<double> u, Isa isa) {
  std::array<double, kRun> logs{};
  const std::span<double> beyond = std::span<double>(logs).first(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    beyond[i] = kBelow + std::min(u[i], 1 - u[i]) * (1 - 2 * kBelow);
  }
  vector_math(MathFn::kLog, beyond, isa, beyond);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double q = (u[i] - 0.5) * (1 - 2 * kBelow);
    u[i] = std::abs(q) <= 0.425 ? near_the_middle(q) : std::copysign(near_an_end(-beyond[i]), q);
  }
}

template <Distribution kDistribution>
void quantile_kernel(const KernelCall& call) {
  constexpr bool kNormal = kDistribution == Distribution::kTruncated;
  const Isa isa = call.host.cpu().isa;
  const double shift = real_arg(call.call.args, "mean", 0);
  const double scale = real_arg(call.call.args, "stddev", 1);
  with_float(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    constexpr std::size_t kEach = sizeof(T) == 4 ? 4 : 2;
    const auto make = [&](std::span<const PhiloxCounter> blocks, std::span<T> run) {
      std::array<double, kRun> numbers{};
      const std::span<double> part = std::span<double>(numbers).first(run.size());
      to_places<T>(blocks, part);
      kNormal ? to_truncated(part, isa) : to_gumbel(part, isa);
      for (std::size_t i = 0; i < run.size(); ++i) {
        run[i] = static_cast<T>(shift + scale * part[i]);
      }
    };
    fill_slice<kEach, T>(call, kDistribution, make);
  });
}

}  // namespace

const OpDef kTruncatedNormal{
    .name = "truncated_normal",
    .summary = "numbers drawn from a normal distribution truncated at two standard deviations",
    .family = "random numbers",
    .params = random_params({real_param("stddev", "of the distribution before it is cut (1)"),
                             real_param("mean", "(0)")},
                            "(f32)"),
    .shape_rule = "the shape",
    .example = R"(dim batch = 100, io = 30
assert max(abs(truncated_normal([batch, io], stddev = 0.5, seed = 7))) <= 1
)",
    .type = spread_type,
    .space = kept_space,
    .flops = one_flop_each,
    .kernel = quantile_kernel<Distribution::kTruncated>,
    .random = true};

const OpDef kGumbel{.name = "gumbel",
                    .summary = "numbers drawn from the Gumbel distribution, -log(-log(uniform))",
                    .family = "random numbers",
                    .params = random_params({}, "(f32)"),
                    .shape_rule = "the shape",
                    .example = "dim batch = 2, io = 3\nprint gumbel([batch, io], seed = 7)\n",
                    .type = drawn_float_type,
                    .space = kept_space,
                    .flops = one_flop_each,
                    .kernel = quantile_kernel<Distribution::kGumbel>,
                    .random = true};

}  // namespace mtf::ops
