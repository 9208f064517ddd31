// normal and uniform: element i of a tensor depends on the seed, the stream and i alone, so every
// layout draws the same numbers.
//
// A draw is a Philox block: four f32 or two f64. Its key is the seed; its counter is the number of
// the block, then the stream: the op's own with `seed =`, else the execution and the place of the
// call in the program.

#include <array>
#include <cmath>
#include <numbers>

#include "ir/kernel.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/source/philox.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

enum class Distribution : std::uint32_t { kGauss = 1, kEven = 2 };

std::optional<TensorType> random_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  if (!is_float(dtype)) {
    diags.error(DiagKind::kDtypeMismatch, call.span,
                spelled(call) + " of " + std::string(to_string(dtype)) +
                    "; it draws f32 or f64, which `cast` makes whole");
    return std::nullopt;
  }
  if (call.args.get<Shape>("shape") == nullptr) {
    diags.error(DiagKind::kMissingArgument, call.span,
                spelled(call) + " without a shape, as in `" + std::string(call.op->name) +
                    "([batch, io])`");
    return std::nullopt;
  }
  call.args.set("dtype", dtype);
  return result_type(call, dtype, shape_arg(call.args, "shape"), diags);
}

std::optional<TensorType> normal_type(OpCall& call, DiagSink& diags) {
  const double stddev = real_arg(call.args, "stddev", 1);
  if (!(stddev >= 0)) {
    diags.error(DiagKind::kBadArgument, call.span, "`normal` with a negative `stddev`");
    return std::nullopt;
  }
  return random_type(call, diags);
}

std::optional<TensorType> uniform_type(OpCall& call, DiagSink& diags) {
  if (real_arg(call.args, "low", 0) > real_arg(call.args, "high", 1)) {
    diags.error(DiagKind::kBadArgument, call.span, "`uniform` with `low` above `high`");
    return std::nullopt;
  }
  return random_type(call, diags);
}

struct Stream {
  PhiloxKey key{};
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

Stream stream_of(const KernelCall& call, Distribution distribution) {
  const auto* given = call.call.args.get<std::int64_t>("seed");
  const std::uint64_t seed =
      given == nullptr ? call.host.seed() : static_cast<std::uint64_t>(*given);
  const PhiloxKey key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  if (given != nullptr) {
    return {.key = key, .low = static_cast<std::uint32_t>(distribution), .high = UINT32_MAX};
  }
  return {.key = key,
          .low = static_cast<std::uint32_t>(call.ordinal),
          .high = static_cast<std::uint32_t>(call.host.execution())};
}

PhiloxCounter draw(const Stream& stream, std::uint64_t block) {
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U),
                 stream.low, stream.high},
                stream.key);
}

// Uniform in [0, 1), on a grid that the type holds exactly.
std::array<float, 4> unit_floats(const PhiloxCounter& bits, float /*tag*/) {
  std::array<float, 4> u{};
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = static_cast<float>(bits[i] >> 8U) * 0x1p-24F;
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

// A run of elements with global indices [first, first + out.size()): units in, numbers out.
constexpr std::size_t kRun = 512;

template <typename T>
void draw_units(const Stream& stream, std::uint64_t first_block, std::span<T> units) {
  for (std::size_t i = 0; i < units.size(); i += kPerBlock<T>) {
    const auto u = unit_floats(draw(stream, first_block + i / kPerBlock<T>), T{});
    std::copy(u.begin(), u.end(), units.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Box and Muller: two uniform numbers become two normal ones.
template <typename T>
void to_normal(std::span<T> units) {
  std::array<T, kRun / 2> radius{};
  std::array<T, kRun / 2> angle{};
  std::array<T, kRun / 2> cosine{};
  const std::size_t pairs = units.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    radius[i] = T{1} - units[2 * i];  // in (0, 1], so that its logarithm is finite
    angle[i] = units[2 * i + 1] * (T{2} * std::numbers::pi_v<T>);
  }
  const auto part = [&](std::array<T, kRun / 2>& all) { return std::span<T>(all).first(pairs); };
  vector_math(MathFn::kLog, part(radius), local_isa(), part(radius));
  vector_math(MathFn::kCos, part(angle), local_isa(), part(cosine));
  vector_math(MathFn::kSin, part(angle), local_isa(), part(angle));
  for (std::size_t i = 0; i < pairs; ++i) {
    const T length = std::sqrt(T{-2} * radius[i]);
    units[2 * i] = length * cosine[i];
    units[2 * i + 1] = length * angle[i];
  }
}

// Fills `out` with the elements from global index `first` on; units are drawn in whole blocks.
template <typename T>
void fill_run(const KernelCall& call, Distribution distribution, const Stream& stream,
              std::int64_t first, std::span<T> out) {
  const OpArgs& args = call.call.args;
  const bool normal = distribution == Distribution::kGauss;
  const auto shift = static_cast<T>(real_arg(args, normal ? "mean" : "low", 0));
  const auto scale = normal ? static_cast<T>(real_arg(args, "stddev", 1))
                            : static_cast<T>(real_arg(args, "high", 1)) - shift;
  constexpr auto kBlock = static_cast<std::int64_t>(kPerBlock<T>);
  std::array<T, kRun> units{};
  std::size_t done = 0;
  while (done < out.size()) {
    const std::int64_t index = first + static_cast<std::int64_t>(done);
    const auto skip = static_cast<std::size_t>(index % kBlock);
    const std::size_t count = std::min(out.size() - done, kRun - skip);
    const std::size_t drawn = (skip + count + kPerBlock<T> - 1) / kPerBlock<T> * kPerBlock<T>;
    const std::span<T> run = std::span<T>(units).first(drawn);
    draw_units(stream, static_cast<std::uint64_t>(index / kBlock), run);
    if (normal) {
      to_normal(run);
    }
    for (std::size_t i = 0; i < count; ++i) {
      out[done + i] = shift + scale * run[skip + i];
    }
    done += count;
  }
}

// The slice in rows: positions next to each other in the whole tensor too.
template <typename T>
void fill_slice(const KernelCall& call, Distribution distribution) {
  const Stream stream = stream_of(call, distribution);
  const Shape& local = call.out.shape;
  const std::vector<std::int64_t> global = strides_of(call.call.result.shape);
  const std::span<T> out = elements<T>(call.out);
  const std::size_t rank = local.rank();
  const std::size_t row = rank == 0 ? 1 : static_cast<std::size_t>(local[rank - 1].size);
  std::vector<std::int64_t> index(rank, 0);
  for (std::size_t done = 0; done < out.size(); done += row) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t offset = call.out.offset.empty() ? 0 : call.out.offset[i];
      first += (offset + index[i]) * global[i];
    }
    fill_run(call, distribution, stream, first, out.subspan(done, row));
    for (std::size_t i = rank; i-- > 1;) {  // the next row: count up all dims but the last
      if (++index[i - 1] < local[i - 1].size) {
        break;
      }
      index[i - 1] = 0;
    }
  }
}

template <Distribution kDistribution>
void random_kernel(const KernelCall& call) {
  with_float(call.out.dtype, [&](auto type) { fill_slice<decltype(type)>(call, kDistribution); });
}

std::vector<OpParam> random_params(OpParam first, OpParam second) {
  return {{.name = "shape",
           .kind = ParamKind::kShape,
           .required = false,
           .help = "the dims (of a param or state, its own)"},
          first,
          second,
          {.name = "seed",
           .kind = ParamKind::kInt,
           .required = false,
           .help = "the same numbers at every call (the program's stream, fresh each time)"},
          {.name = "dtype", .kind = ParamKind::kDType, .required = false, .help = "(f32)"}};
}

OpParam real_param(std::string_view name, std::string_view help) {
  return {.name = name, .kind = ParamKind::kReal, .required = false, .help = help};
}

}  // namespace

const OpDef kNormal{.name = "normal",
                    .summary = "numbers drawn from a normal distribution",
                    .family = "random numbers",
                    .params = random_params(real_param("stddev", "standard deviation (1)"),
                                            real_param("mean", "(0)")),
                    .shape_rule = "the shape",
                    .example = "dim batch = 2, io = 3\nprint normal([batch, io], seed = 7)\n",
                    .type = normal_type,
                    .space = kept_space,
                    .flops = one_flop_each,
                    .kernel = random_kernel<Distribution::kGauss>,
                    .random = true};

const OpDef kUniform{.name = "uniform",
                     .summary = "numbers drawn evenly from low to high",
                     .family = "random numbers",
                     .params = random_params(real_param("low", "the least (0)"),
                                             real_param("high", "just above the greatest (1)")),
                     .shape_rule = "the shape",
                     .example = "dim batch = 2, io = 3\nprint uniform([batch, io], seed = 7)\n",
                     .type = uniform_type,
                     .space = kept_space,
                     .flops = one_flop_each,
                     .kernel = random_kernel<Distribution::kEven>,
                     .random = true};

}  // namespace mtf::ops
