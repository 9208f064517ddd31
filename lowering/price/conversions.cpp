#include "lowering/price/conversions.h"

#include <algorithm>

namespace mtf {
namespace {

// requires: narrow
const Conversion& conversion_of(DType dtype) {
  return *std::ranges::find(kConversions, dtype, &Conversion::dtype);
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

std::vector<std::string_view> conversions_of(const OpCall& call) {
  std::vector<std::string_view> names;
  if (!has_narrow(call) || is_in_registers(call) || !converts(call)) {
    return names;
  }
  for (const TensorType& operand : call.operands) {
    if (is_narrow(operand.dtype)) {
      names.push_back(conversion_of(operand.dtype).widening);
    }
  }
  if (is_narrow(call.result.dtype)) {
    names.push_back(conversion_of(call.result.dtype).rounding);
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
