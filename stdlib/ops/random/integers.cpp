// integers: whole numbers from low to below high, all as likely; of each Philox block two.

#include <array>
#include <limits>

#include "stdlib/ops/ops.h"
#include "stdlib/ops/random/draw.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

bool check_bounds(const OpCall& call, DType dtype, DiagSink& diags) {
  const std::int64_t low = int_arg(call.args, "low", 0);
  const std::int64_t high = int_arg(call.args, "high", 1);
  if (low >= high) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`integers` from " + std::to_string(low) + " to below " + std::to_string(high) +
                    ", which are none");
    return false;
  }
  using I32 = std::numeric_limits<std::int32_t>;
  if (dtype == DType::kI32 && (low < I32::min() || high - 1 > I32::max())) {
    diags.error(DiagKind::kOverflow, call.span,
                "`integers` from " + std::to_string(low) + " to below " + std::to_string(high) +
                    " are beyond the range of i32; `dtype = i64` holds them");
    return false;
  }
  return true;
}

std::optional<TensorType> integers_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kI32);
  if (dtype != DType::kI32 && dtype != DType::kI64) {
    diags.error(DiagKind::kDtypeMismatch, call.span,
                "`integers` of " + std::string(to_string(dtype)) + "; it draws i32 or i64");
    return std::nullopt;
  }
  if (!check_bounds(call, dtype, diags)) {
    return std::nullopt;
  }
  std::optional<TensorType> type = drawn_type(call, dtype, diags);
  call.args.set("dtype", dtype);
  return type;
}

// The upper half of the product with 64 random bits: one number is at most 2^-64 likelier.
void integers_kernel(const KernelCall& call) {
  __extension__ using Wide = unsigned __int128;
  const auto low = static_cast<std::uint64_t>(int_arg(call.call.args, "low", 0));
  const std::uint64_t count = static_cast<std::uint64_t>(int_arg(call.call.args, "high", 1)) - low;
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      const auto make = [&](std::span<const PhiloxCounter> blocks, std::span<T> run) {
        for (std::size_t i = 0; i < run.size(); ++i) {
          const PhiloxCounter& bits = blocks[i / 2];
          const std::size_t half = i % 2;
          const std::uint64_t word = (std::uint64_t{bits[2 * half + 1]} << 32U) | bits[2 * half];
          const auto drawn = static_cast<std::uint64_t>((Wide{word} * count) >> 64U);
          run[i] = static_cast<T>(static_cast<std::int64_t>(low + drawn));
        }
      };
      fill_slice<2, T>(call, Distribution::kWhole, make);
    }
  });
}

}  // namespace

const OpDef kIntegers{
    .name = "integers",
    .summary = "integers drawn from the uniform distribution over [low, high)",
    .family = "random numbers",
    .params = random_params(
        {{.name = "low",
          .kind = ParamKind::kInt,
          .required = false,
          .help = "the inclusive lower bound (0)"},
         {.name = "high", .kind = ParamKind::kInt, .help = "the exclusive upper bound"}},
        "i32 or i64 (i32)"),
    .shape_rule = "the shape",
    .example = R"(dim batch = 8
let die = integers([batch], low = 1, high = 7, seed = 7)
assert min(die) >= 1 and max(die) <= 6
)",
    .type = integers_type,
    .space = kept_space,
    .flops = one_flop_each,
    .kernel = integers_kernel,
    .random = true};

}  // namespace mtf::ops
