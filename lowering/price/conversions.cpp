#include "lowering/price/conversions.h"

#include <algorithm>
#include <array>

namespace mtf {
namespace {

struct Names {
  DType dtype = DType::kF16;
  std::string_view from;
  std::string_view to;
};
constexpr std::array kNames = std::to_array<Names>({
    {DType::kBF16, "cast.from_bf16", "cast.to_bf16"},
    {DType::kF16, "cast.from_f16", "cast.to_f16"},
    {DType::kI8, "cast.from_i8", "cast.to_i8"},
    {DType::kI16, "cast.from_i16", "cast.to_i16"},
});

const Names& names_of(DType dtype) {
  return *std::ranges::find(kNames, dtype, &Names::dtype);
}

bool has_narrow(const OpCall& call) {
  return is_narrow(call.result.dtype) ||
         std::ranges::any_of(call.operands,
                             [](const TensorType& type) { return is_narrow(type.dtype); });
}

// Whether values stay in registers as floats, where bf16 is read and written as such (LaneFn).
bool is_in_registers(const OpCall& call) {
  const auto fits = [](const TensorType& type) {
    return type.dtype == DType::kF32 || type.dtype == DType::kBF16 || type.dtype == DType::kBool;
  };
  return call.op->lanes != LaneFn::kNone && fits(call.result) &&
         std::ranges::all_of(call.operands, fits);
}

// What takes narrow elements as they are moves them, but for a cast, and a sum, which is wide.
bool converts(const OpCall& call) {
  return is_widened(call) || call.op->algebra == Algebra::kSum ||
         (call.op->primitive == Primitive::kCast &&
          call.operands.front().dtype != call.result.dtype);
}

}  // namespace

std::string_view widening_of(DType dtype) {
  return names_of(dtype).from;
}

std::string_view rounding_of(DType dtype) {
  return names_of(dtype).to;
}

std::vector<std::string_view> conversions_of(const OpCall& call) {
  std::vector<std::string_view> names;
  if (!has_narrow(call) || is_in_registers(call) || !converts(call)) {
    return names;
  }
  for (const TensorType& operand : call.operands) {
    if (is_narrow(operand.dtype)) {
      names.push_back(widening_of(operand.dtype));
    }
  }
  if (is_narrow(call.result.dtype)) {
    names.push_back(rounding_of(call.result.dtype));
  }
  return names;
}

double conversion_seconds(const std::vector<std::string_view>& conversions,
                          const Hardware& hardware) {
  double seconds = 0;
  for (const std::string_view name : conversions) {
    seconds += hardware.seconds_of_element(name);
  }
  return seconds;
}

}  // namespace mtf
