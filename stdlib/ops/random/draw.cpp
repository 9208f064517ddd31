// Streams, and the checks and parameters of what is drawn.

#include "stdlib/ops/random/draw.h"

#include "ir/support/number.h"
#include "runtime/vector_math/philox_lanes.h"
#include "stdlib/ops/rules.h"

namespace mtf {

DrawStream stream_of(const KernelCall& call, Distribution distribution) {
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

void draw(const DrawStream& stream, std::uint64_t first, Isa isa, std::span<PhiloxCounter> blocks) {
  const std::uint64_t upper = (std::uint64_t{stream.high} << 32U) | stream.low;
  std::size_t i = philox_blocks({.key = stream.key, .upper = upper}, first, blocks.size(), isa,
                                blocks.empty() ? nullptr : blocks.front().data());
  for (; i < blocks.size(); ++i) {
    const std::uint64_t block = first + i;
    blocks[i] = philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U),
                        stream.low, stream.high},
                       stream.key);
  }
}

std::optional<TensorType> drawn_type(OpCall& call, DType dtype, DiagSink& diags) {
  if (call.args.get<Shape>("shape") == nullptr) {
    diags.error(DiagKind::kMissingArgument, call.span,
                spelled(call) + " without a shape, as in `" + std::string(call.op->name) +
                    "([batch, io])`");
    return std::nullopt;
  }
  return result_type(call, dtype, shape_arg(call.args, "shape"), diags);
}

std::optional<TensorType> drawn_float_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  if (!is_float(dtype)) {
    diags.error(DiagKind::kDtypeMismatch, call.span,
                spelled(call) + " of " + std::string(to_string(dtype)) +
                    "; it draws floats, which `cast` makes whole");
    return std::nullopt;
  }
  std::optional<TensorType> type = drawn_type(call, dtype, diags);
  call.args.set("dtype", dtype);
  return type;
}

std::optional<TensorType> spread_type(OpCall& call, DiagSink& diags) {
  const double stddev = real_arg(call.args, "stddev", 1);
  const double mean = real_arg(call.args, "mean", 0);
  if (!(stddev >= 0)) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " with `stddev` " + shortest(stddev) + ", which is negative");
    return std::nullopt;
  }
  if (stddev == 0 && mean != 0) {  // normal([io], 0, 1), as others order them
    diags.warning(DiagKind::kBadArgument, call.span,
                  "all elements of this " + spelled(call) + " are " + shortest(mean) +
                      ", its `mean`: `stddev`, which comes first, is 0");
  }
  return drawn_float_type(call, diags);
}

OpParam seed_param() {
  return {.name = "seed",
          .kind = ParamKind::kInt,
          .required = false,
          .help = "the same numbers at every call (the program's stream, fresh each time)"};
}

OpParam real_param(std::string_view name, std::string_view help) {
  return {.name = name, .kind = ParamKind::kReal, .required = false, .help = help};
}

std::vector<OpParam> random_params(std::vector<OpParam> own, std::string_view dtype_help) {
  std::vector<OpParam> params = {{.name = "shape",
                                  .kind = ParamKind::kShape,
                                  .required = false,
                                  .help = "the dims (of a param or state, its own)"}};
  params.insert(params.end(), own.begin(), own.end());
  params.push_back(seed_param());
  if (!dtype_help.empty()) {
    params.push_back(
        {.name = "dtype", .kind = ParamKind::kDType, .required = false, .help = dtype_help});
  }
  return params;
}

}  // namespace mtf
