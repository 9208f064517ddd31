// Operations on tensors: operands brought into the unit, numbers lifted, results checked by the
// rule of the operation.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/precision/precision.h"
#include "frontend/elaborate/tensors/arguments/whole_numbers.h"

namespace mtf::host {
namespace {

std::string beyond(DType dtype) {
  return "beyond the range of " + std::string(mtf::to_string(dtype)) +
         (dtype == DType::kF16 ? "; that of f32 and bf16 is larger" : "");
}

// An operation computes with its numbers as wide as its result gets.
bool check_numbers(Units& units, const OpDef& op, const OpArgs& args, DType result,
                   SourceSpan span) {
  for (const auto& [name, arg] : args.entries()) {
    const auto* number = std::get_if<double>(&arg);
    if (number != nullptr && is_float(result) && !holds(wide_of(result), *number)) {
      units.report.error(DiagKind::kOverflow, span,
                         "`" + std::string(name) + "` of `" + std::string(op.name) + "` is " +
                             to_text(*number) + ", " + beyond(wide_of(result)));
      return false;
    }
  }
  return true;
}

// The dtype of a number that is cast: a float that becomes one is it at once, and so rounded once.
DType dtype_to_cast(const Value& number, const OpArgs& args) {
  const auto* to = args.get<DType>("dtype");
  if (number.is<double>()) {
    return to != nullptr && is_float(*to) ? *to : DType::kF64;
  }
  return holds(DType::kI32, number_of(number).value_or(0)) ? DType::kI32 : DType::kI64;
}

// The dtype that numbers among the operands get: that of the tensors beside them.
DType dtype_for_numbers(const OpDef& op, std::span<const Operand> operands, const OpArgs& args) {
  const bool by_element = op.tile != nullptr || op.expand != nullptr;
  bool is_real = false;
  for (const Operand& operand : operands) {
    const auto* tensor = operand.value.get<Tensor>();
    if (tensor != nullptr && tensor->type.dtype != DType::kBool &&
        (by_element || is_float(tensor->type.dtype))) {
      return tensor->type.dtype;
    }
    is_real = is_real || operand.value.is<double>();
  }
  if (op.primitive == Primitive::kCast) {
    return dtype_to_cast(operands[0].value, args);
  }
  return is_real ? DType::kF32 : DType::kI32;
}

// sum([1, 2, 3])   x + [1, 2, 3]: beside a tensor with a dim of so many, it has that.
std::string tensor_of_list(const Value& value, std::span<const Operand> operands) {
  const auto* list = value.get<List>();
  const bool has_numbers = list != nullptr && !list->items->empty() &&
                           std::ranges::all_of(*list->items, [](const Value& item) {
                             return is_number(item) || item.is<bool>();
                           });
  if (!has_numbers) {
    return "";
  }
  std::string dim = "n: " + std::to_string(list->items->size());
  for (const Operand& operand : operands) {
    const auto* tensor = operand.value.get<Tensor>();
    for (const Dim& own : tensor == nullptr ? std::span<const Dim>() : tensor->type.shape.dims()) {
      dim = own.size == std::ssize(*list->items) ? own.name : dim;
    }
  }
  return "; `const([" + dim + "], …)` makes a tensor of it";
}

std::optional<ValueId> operand_id(Units& units, const OpDef& op, const Operand& operand,
                                  DType numbers) {
  if (const auto* tensor = operand.value.get<Tensor>()) {
    return record(units, *tensor, operand.span);
  }
  if (!is_number(operand.value)) {
    units.report.error(DiagKind::kWrongType, operand.span,
                       "`" + std::string(op.name) + "` works on tensors; this is " +
                           kind_of(operand.value) +
                           (op.algebra == Algebra::kEinsum && operand.value.is<std::string>()
                                ? "; dims have names, and those of the result follow `->`: "
                                  "`einsum(x, w -> [batch, hidden])`"
                                : "") +
                           tensor_of_list(operand.value, {}));
    return std::nullopt;
  }
  const bool by_element = op.tile != nullptr || op.expand != nullptr;
  const bool keeps_int = !by_element && is_float(numbers) && as_int(operand.value);
  return lift(units, operand,
              operand.value.is<bool>() ? DType::kBool
              : keeps_int              ? DType::kI32
                                       : numbers);
}

// A check writes no files. What the program will read of those that it writes is known all the
// same: some tensor of that dtype.
std::optional<ValueId> read_back(Units& units, const OpDef& op, const OpArgs& args) {
  const auto* path = args.get<std::string>("path");
  const auto* shape = args.get<Shape>("shape");
  const auto found =
      path == nullptr ? units.execution.written.end() : units.execution.written.find(*path);
  if (op.file != FileUse::kReads || shape == nullptr || found == units.execution.written.end()) {
    return std::nullopt;
  }
  const auto* dtype = args.get<DType>("dtype");
  OpArgs like;
  like.set("shape", *shape);
  like.set("value", 0.0);
  like.set("dtype", dtype == nullptr ? found->second : *dtype);
  return units.recording().builder.emit(Primitive::kFill, {}, like);
}

// What is read has the sizes of a file that a check does not write.
bool is_known_later(Units& units, const OpDef& op, const OpArgs& args) {
  const auto* path = args.get<std::string>("path");
  return op.file == FileUse::kReads && path != nullptr && units.execution.written.contains(*path) &&
         args.get<Shape>("shape") == nullptr;
}

// Of a call that was recorded, or was refused.
Value result_of(Units& units, const OpDef& op, const OpArgs& args, std::optional<ValueId> result,
                SourceSpan span) {
  units.take_diags();
  if (!result) {
    units.report.fail();
    return unknown();
  }
  if (op.effect) {
    return nothing();
  }
  const DType dtype = units.recording().builder.type_of(*result).dtype;
  return check_numbers(units, op, args, dtype, span) ? recorded(units, *result) : unknown();
}

// As an einsum, whose result is a sum: wide.
Value sum_of_product(Units& units, std::span<const ValueId> factors, OpArgs args, SourceSpan span) {
  std::vector<Operand> operands;
  for (const ValueId factor : factors) {
    operands.push_back({.value = recorded(units, factor), .span = span});
  }
  if (args.find("dtype") == nullptr) {
    args.set("dtype", DType::kF32);
  }
  return apply_op(units, op_of(units.ops, Algebra::kEinsum), operands, std::move(args), span);
}

}  // namespace

void note_write(Units& units, const OpDef& op, const OpArgs& args, std::span<const ValueId> ids) {
  const auto* path = args.get<std::string>("path");
  if (units.execution.checks_only() && op.file == FileUse::kWrites && path != nullptr) {
    units.execution.written.insert_or_assign(
        *path, ids.empty() ? DType::kF32 : units.recording().builder.type_of(ids.front()).dtype);
  }
}

ValueId as_dtype(Units& units, ValueId id, DType dtype) {
  OpArgs args;
  args.set("dtype", dtype);
  return units.recording().builder.emit(Primitive::kCast, {id}, args);
}

namespace {

// A number of 64 bits as the sum of two that doubles hold.
ValueId lift_long(Builder& builder, std::int64_t number) {
  constexpr std::int64_t kLow = 0xFFFF'FFFF;
  const ValueId high = builder.scalar(static_cast<double>(number & ~kLow), DType::kI64);
  const ValueId low = builder.scalar(static_cast<double>(number & kLow), DType::kI64);
  return builder.emit(Primitive::kAdd, {high, low});
}

}  // namespace

std::optional<ValueId> lift(Units& units, const Operand& number, DType dtype) {
  const double value = number_of(number.value).value_or(0);
  if (!is_float(dtype) && number.value.is<double>()) {
    units.report.error(DiagKind::kDtypeMismatch, number.span,
                       "the float " + to_string(number.value) + " beside a tensor of " +
                           std::string(mtf::to_string(dtype)) + "; `cast` the tensor to f32");
    return std::nullopt;
  }
  const bool is_i64 = dtype == DType::kI64 && as_int(number.value);  // as it is, not as a double
  if (!is_i64 && !holds(dtype, value)) {
    units.report.error(DiagKind::kOverflow, number.span,
                       to_string(number.value) + " is " + beyond(dtype));
    return std::nullopt;
  }
  Recording& unit = units.recording();
  unit.builder.at(number.span, units.frame);
  return dtype == DType::kI64 && is_beyond_doubles(number.value)
             ? lift_long(unit.builder, *as_int(number.value))
             : unit.builder.scalar(value, dtype);
}

std::optional<ValueId> record(Units& units, const Tensor& tensor, SourceSpan span) {
  Recording& unit = units.recording();
  unit.builder.at(span, units.frame);
  if (tensor.where == Where::kRecorded && tensor.unit == unit.serial) {
    return unit.builder.latest(ValueId{tensor.index});
  }
  if (unit.kind == UnitKind::kInitial) {
    units.report.error(DiagKind::kBadArgument, span,
                       "an initial value is computed before anything else; it cannot use " +
                           (tensor.name.empty() ? "a tensor" : "the tensor `" + tensor.name + "`") +
                           "; begin with `zeros(shape(x), dtype(x))` and a count, `state seen = "
                           "zeros([], i32)`, and assign `where(seen == 0, x, …)`");
    return std::nullopt;
  }
  switch (tensor.where) {
    case Where::kVariable:
      return tensor.picks == nullptr ? unit.read(tensor.variable)
                                     : read_picked(units, tensor, span);
    case Where::kHandle:
      return unit.capture(tensor);
    case Where::kRecorded:
    case Where::kSlot:
    case Where::kOutput:
      break;
  }
  units.report.error(DiagKind::kBadArgument, span,
                     (tensor.name.empty() ? "this" : "`" + tensor.name + "`") +
                         " is a tensor of a call at top level that has ended, and a function that "
                         "it returned cannot read it; give it to that function as an argument");
  return std::nullopt;
}

Value recorded(Units& units, ValueId id) {
  return make(Tensor{.where = Where::kRecorded,
                     .type = units.recording().builder.type_of(id),
                     .handle = nullptr,
                     .variable = nullptr,
                     .index = id.index,
                     .unit = units.recording().serial,
                     .name = {},
                     .whole = false});
}

Value apply_op(Units& units, const OpDef& op, std::span<const Operand> operands, OpArgs args,
               SourceSpan span) {
  if (std::ranges::any_of(operands, [](const Operand& x) { return is_unknown(x.value); })) {
    return unknown();
  }
  if (std::optional<Value> value = on_host(units.report, units.ops, op, operands, args, span)) {
    return *value;
  }
  if (refuses_whole_start(units, op, args, operands, span)) {
    return unknown();
  }
  const DType numbers = dtype_for_numbers(op, operands, args);
  std::vector<ValueId> ids;
  std::vector<SourceSpan> spans;
  for (const Operand& operand : operands) {
    const std::optional<ValueId> id = operand_id(units, op, operand, numbers);
    if (!id) {
      return unknown();
    }
    ids.push_back(*id);
    spans.push_back(operand.span);
  }
  Recording& unit = units.recording();
  unit.builder.at(span, units.frame);
  if (op.effect && unit.alive.valid() && op.primitive != Primitive::kAssert &&
      op.primitive != Primitive::kCheckFinite) {
    units.report.error(DiagKind::kWrongType, span,
                       "`" + std::string(op.name) +
                           "` in a bounded loop whose condition is a tensor: it would be done in "
                           "each turn, also behind the last one; do it behind the loop, or use "
                           "`while`, whose trips end");
    return unknown();
  }
  if (is_known_later(units, op, args)) {
    return unknown();
  }
  if (const std::optional<ValueId> known = read_back(units, op, args)) {
    return recorded(units, *known);
  }
  if (const std::vector<ValueId> factors = summed_factors(units, op, ids); !factors.empty()) {
    return sum_of_product(units, factors, std::move(args), span);
  }
  fit_operands(units, op, args, ids);
  fit_whole_numbers(units, op, operands, args, ids);
  note_write(units, op, args, ids);
  return result_of(units, op, args, unit.builder.call(op, ids, args, spans), span);
}

Value apply_operator(Units& units, std::string_view symbol, std::span<const Operand> operands,
                     SourceSpan span) {
  if (std::ranges::any_of(operands, [](const Operand& x) { return is_unknown(x.value); })) {
    return unknown();
  }
  const OpDef* op = find_operator(units.ops, symbol);
  for (const Operand& operand : operands) {
    if (op == nullptr || (!operand.value.is<Tensor>() && !is_number(operand.value))) {
      units.report.error(
          DiagKind::kWrongType, operand.span,
          "`" + std::string(symbol) + "` between " + kind_of(operands.front().value) + " and " +
              kind_of(operands.back().value) + tensor_of_list(operand.value, operands));
      return unknown();
    }
  }
  return apply_op(units, *op, operands, {}, span);
}

}  // namespace mtf::host
