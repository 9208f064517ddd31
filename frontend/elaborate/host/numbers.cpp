#include "frontend/elaborate/host/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "ir/support/number.h"

namespace mtf::host {
namespace {

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // beyond, doubles skip whole numbers

// What the rule makes of scalars of whole numbers tells whether the result is one.
Value number_like(Reporter& report, const OpDef& op, std::span<const Operand> operands,
                  double number) {
  const bool is_real = std::ranges::any_of(
      operands, [](const Operand& operand) { return operand.value.is<double>(); });
  const bool is_bool = std::ranges::all_of(
      operands, [](const Operand& operand) { return operand.value.is<bool>(); });
  OpCall call{.op = &op, .operands = {}, .args = {}, .result = {}, .span = {}, .operand_spans = {}};
  for (const Operand& operand : operands) {
    const DType dtype = operand.value.is<bool>() ? DType::kBool
                        : is_real                ? DType::kF64
                                                 : DType::kI64;
    call.operands.push_back({.dtype = dtype, .shape = {}});
  }
  DiagSink ignored;
  const std::optional<TensorType> type = op.type == nullptr ? std::nullopt : op.type(call, ignored);
  if (type ? type->dtype == DType::kBool : is_bool) {
    return make(number != 0);
  }
  if (!type || !is_integer(type->dtype)) {
    return make(number);
  }
  const auto large = std::ranges::find_if(operands, is_beyond_doubles, &Operand::value);
  if (large != operands.end()) {
    report.error(DiagKind::kOverflow, large->span,
                 "`" + std::string(op.name) + "` takes numbers up to 2^53, and " +
                     to_string(large->value) + " is beyond");
    return unknown();
  }
  return std::abs(number) <= static_cast<double>(kExact) ? make(static_cast<std::int64_t>(number))
                                                         : make(number);
}

// Spelt by its name an operator is what it is between two numbers: exact, and never beyond 64 bits.
std::optional<Value> as_operator(Reporter& report, OpTable ops, const OpDef& op,
                                 std::span<const Operand> operands, SourceSpan span) {
  using enum ast::BinaryOp;
  constexpr std::array kOperators = {kEqual,        kNotEqual, kLess,     kLessEqual, kGreater,
                                     kGreaterEqual, kAdd,      kSubtract, kMultiply,  kDivide,
                                     kFloorDivide,  kModulo,   kPower};
  const auto* found = std::ranges::find(kOperators, op.symbol,
                                        [](ast::BinaryOp binary) { return to_string(binary); });
  const bool is_of_numbers = std::ranges::all_of(
      operands, [](const Operand& operand) { return as_real(operand.value).has_value(); });
  if (found == kOperators.end() || operands.size() != 2 || !is_of_numbers) {
    return std::nullopt;
  }
  return host_binary(report, ops, *found, operands[0], operands[1], span);
}

// What doubles cannot do, as bit by bit, is done as with tensors of i64 that have one element.
std::optional<Value> of_whole_numbers(const OpDef& op, std::span<const Operand> operands) {
  OpCall call{.op = &op, .operands = {}, .args = {}, .result = {}, .span = {}, .operand_spans = {}};
  std::vector<std::int64_t> numbers;
  for (const Operand& operand : operands) {
    const std::optional<std::int64_t> number = as_int(operand.value);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
    call.operands.push_back({.dtype = DType::kI64, .shape = {}});
  }
  DiagSink ignored;
  const std::optional<TensorType> type = op.type(call, ignored);
  if (!type || type->dtype != DType::kI64) {
    return std::nullopt;
  }
  std::vector<const void*> in;
  std::ranges::transform(numbers, std::back_inserter(in), [](const std::int64_t& x) { return &x; });
  std::int64_t result = 0;
  op.tile({.dtype = DType::kI64, .to = DType::kI64, .args = &call.args}, in, &result, 1);
  return make(result);
}

}  // namespace

bool is_number(const Value& value) {
  return value.is<bool>() || value.is<std::int64_t>() || value.is<double>() || value.is<Dim>();
}

std::optional<double> number_of(const Value& value) {
  if (const bool* flag = value.get<bool>()) {
    return *flag ? 1.0 : 0.0;
  }
  return as_real(value);
}

bool is_beyond_doubles(const Value& value) {
  const std::optional<std::int64_t> whole = as_int(value);
  return whole && (*whole > kExact || *whole < -kExact);
}

std::optional<Value> on_host(Reporter& report, OpTable ops, const OpDef& op,
                             std::span<const Operand> operands, const OpArgs& args,
                             SourceSpan span) {
  if (operands.empty() || !args.entries().empty()) {
    return std::nullopt;
  }
  if (op.host == nullptr) {
    const bool has_elements = op.tile != nullptr && op.type != nullptr && !op.effect;
    return has_elements ? of_whole_numbers(op, operands) : std::nullopt;
  }
  if (std::optional<Value> value = as_operator(report, ops, op, operands, span)) {
    return value;
  }
  std::vector<double> numbers;
  for (const Operand& operand : operands) {
    const std::optional<double> number = number_of(operand.value);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  const double result = op.host(numbers);
  const bool was_finite = std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
  if (was_finite && !std::isfinite(result)) {
    report.error(DiagKind::kBadArgument, span,
                 "`" + std::string(op.name) + "` of " + to_string(operands[0].value) +
                     (operands.size() > 1 ? " and " + to_string(operands[1].value) : "") + " is " +
                     to_text(result));
    return unknown();
  }
  return number_like(report, op, operands, result);
}

namespace {

void append(NumberRow& row, const Value& item, double number) {
  constexpr double kExactInF32 = 1 << 24;
  const std::optional<std::int64_t> whole = as_int(item);
  if (whole && row.whole.size() == row.numbers.size()) {
    row.whole.push_back(*whole);
  } else {
    row.whole.clear();
  }
  row.numbers.push_back(number);
  row.only_flags = row.only_flags && item.is<bool>();
  row.only_ints = row.only_ints && whole && std::abs(number) <= kExactInF32;
  row.long_number = is_beyond_doubles(item) ? to_string(item) : row.long_number;
}

bool append_at(Reporter& report, const Operand& data, std::size_t depth, NumberRow& row) {
  const std::optional<double> number = is_number(data.value) ? number_of(data.value) : std::nullopt;
  if (!number) {
    report.error(DiagKind::kWrongType, data.span,
                 "data is made of numbers, not of " + kind_of(data.value));
    return false;
  }
  if (depth != row.extents.size()) {
    report.error(DiagKind::kBadArgument, data.span, "these lists are not nested equally deep");
    return false;
  }
  append(row, data.value, *number);
  return true;
}

bool flatten_at(Reporter& report, const Operand& data, std::size_t depth, NumberRow& row) {
  std::vector<std::size_t>& extents = row.extents;
  const auto* list = data.value.get<List>();
  if (list == nullptr) {
    return append_at(report, data, depth, row);
  }
  if (depth == extents.size() && row.numbers.empty()) {
    extents.push_back(list->items->size());
  }
  if (depth >= extents.size() || extents[depth] != list->items->size()) {
    report.error(DiagKind::kBadArgument, data.span,
                 "these lists differ in length, or are not nested equally deep");
    return false;
  }
  return std::ranges::all_of(*list->items, [&](const Value& item) {
    return flatten_at(report, {.value = item, .span = data.span}, depth + 1, row);
  });
}

}  // namespace

bool flatten(Reporter& report, const Operand& data, NumberRow& row) {
  return flatten_at(report, data, 0, row);
}

}  // namespace mtf::host
