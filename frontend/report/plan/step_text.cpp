#include "frontend/report/plan/step_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "ir/support/number.h"

namespace mtf {
namespace {

constexpr std::size_t kLongestArgument = 40;
constexpr int kCallPrecedence = 9;

std::string argument_text(std::string_view name, const ArgValue& value) {
  OpArgs one;
  one.set(name, value);
  std::string text = to_string(one);
  const auto* dims = std::get_if<std::vector<Dim>>(&value);
  if (dims != nullptr && dims->size() == 1) {
    return std::string(name) + " = " + dims->front().name;
  }
  if (text.size() > kLongestArgument) {
    text.resize(kLongestArgument);
    text += " …]";
  }
  return text;
}

// The result's shape and element type are in the row of the value already.
bool is_shown(const LocalCall& call, const ArgValue& value) {
  if (const auto* shape = std::get_if<Shape>(&value)) {
    return !(*shape == call.split->call.result.shape);
  }
  if (const auto* dtype = std::get_if<DType>(&value)) {
    return *dtype != call.split->call.result.dtype;
  }
  return !std::holds_alternative<std::monostate>(value);
}

std::string_view combine_word(Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return "sum";
    case Combine::kMax:
      return "max";
    case Combine::kMin:
      return "min";
    case Combine::kProd:
      return "prod";
    case Combine::kLogSumExp:
      return "logsumexp";
    case Combine::kRecurrence:
      return "recurrence";
  }
  return "";
}

// The dims whose axes differ between two layouts of one value: fewer axes after it, or more.
std::vector<std::string> changed_dims(const SpmdProgram& program, const Step& step,
                                      bool joined_up) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < from.layout->dims.size(); ++i) {
    const Axes& before = joined_up ? from.layout->dims[i] : to.layout->dims[i];
    const Axes& after = joined_up ? to.layout->dims[i] : from.layout->dims[i];
    if (std::ranges::any_of(before, [&](AxisId axis) { return !has(after, axis); })) {
      dims.push_back(from.type.shape[i].name);
    }
  }
  return dims;
}

std::vector<std::string> reduced_dims(const LocalCall& call, const Axes* over) {
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < call.split->space->loops.size(); ++i) {
    const Axes& axes = call.split->loops[i];
    const bool wanted = over == nullptr ||
                        std::ranges::any_of(axes, [over](AxisId axis) { return has(*over, axis); });
    if (call.split->space->loops[i].role == DimRole::kReduced && wanted) {
      dims.push_back(call.split->space->loops[i].name);
    }
  }
  return dims;
}

// Of a sum over ranks: the dims of the call that left it partial. Other calls between them only
// passed it on.
std::vector<std::string> partial_dims(const Makers& makers, const Step& step) {
  std::vector<std::string> dims;
  const LocalCall* call = makers.of(step.from);
  while (call != nullptr && dims.empty()) {
    dims = reduced_dims(*call, &step.axes);
    call = call->operands.empty() ? nullptr : makers.of(call->operands.front());
  }
  return dims;
}

void append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

Makers::Makers(const SpmdProgram& program) : calls_(program.values.size(), nullptr) {
  for (const Step& step : program.steps) {
    for (const LocalCall& call : step.calls) {
      if (call.result.valid()) {
        calls_[static_cast<std::size_t>(call.result.index)] = &call;
      }
    }
  }
}

std::string literal_text(const LocalCall& call) {
  if (!call.operands.empty() || call.split->call.result.shape.rank() != 0) {
    return "";
  }
  std::string text;
  for (const auto& [name, value] : call.split->call.args.entries()) {
    if (const auto* real = std::get_if<double>(&value); real != nullptr && text.empty()) {
      text = shortest(*real);
    } else if (const auto* whole = std::get_if<std::int64_t>(&value);
               whole != nullptr && text.empty()) {
      text = std::to_string(*whole);
    } else if (const auto* data = std::get_if<std::vector<double>>(&value);
               data != nullptr && data->size() == 1 && text.empty()) {
      text = shortest(data->front());
    } else if (!std::holds_alternative<Shape>(value) && !std::holds_alternative<DType>(value) &&
               !std::holds_alternative<std::monostate>(value)) {
      return "";
    }
  }
  return text;
}

int precedence_of(const LocalCall& call) {
  return call.op().precedence == 0 ? kCallPrecedence : call.op().precedence;
}

namespace {

// "-" of "unary -", "not ".
std::string prefix_text(std::string_view symbol) {
  constexpr std::string_view kUnary = "unary ";
  return symbol.starts_with(kUnary) ? std::string(symbol.substr(kUnary.size()))
                                    : std::string(symbol) + " ";
}

}  // namespace

std::string call_text(const LocalCall& call, const OperandText& operand) {
  const OpDef& op = call.op();
  const int level = precedence_of(call);
  if (!op.symbol.empty() && call.operands.size() == 2) {
    const bool chains = level >= 5 && level <= 6;  // from left to right
    return operand(call.operands[0], chains ? level : level + 1) + " " + std::string(op.symbol) +
           " " + operand(call.operands[1], level + 1);
  }
  if (!op.symbol.empty() && call.operands.size() == 1) {
    return prefix_text(op.symbol) + operand(call.operands[0], level + 1);
  }
  std::vector<std::string> parts;
  for (const SpmdId id : call.operands) {
    parts.push_back(operand(id, 0));
  }
  for (const auto& [name, value] : call.split->call.args.entries()) {
    if (is_shown(call, value)) {
      parts.push_back(argument_text(name, value));
    }
  }
  std::string text = std::string(op.name) + "(" + joined(parts, ", ") + ")";
  return call.part == CallPart::kDigest ? "digest(" + text + ")" : text;
}

namespace {

constexpr std::string_view kWhere = "where";

// "ff over x", "to y == z"; "" where a rank keeps all that it has.
std::string slice_text(const SpmdProgram& program, const Step& step, const std::string& dims) {
  std::string text;
  Axes cut;  // the axes that now split a dim
  for (const Axes& axes : program.at(step.to).layout->dims) {
    std::ranges::copy_if(axes, std::back_inserter(cut),
                         [&](AxisId axis) { return has(step.axes, axis); });
  }
  if (!dims.empty()) {
    std::ranges::sort(cut);
    text = dims + " over " + to_string(program.mesh, cut);
  }
  if (program.at(step.from).layout->where.size() < program.at(step.to).layout->where.size()) {
    text += text.empty() ? "to" : ", to";
    text += to_string(program.at(step.to).layout->where, program.mesh).substr(kWhere.size());
  }
  return text;
}

// ", in 4 pieces of ff"
std::string pieces_text(const SpmdValue& value) {
  return value.pieces == 1 ? ""
                           : ", in " + std::to_string(value.pieces) + " pieces of " +
                                 value.type.shape[value.cut].name;
}

}  // namespace

namespace {

// The dims of the operand that are split and whose elements move.
std::vector<std::string> exchanged_dims(const SpmdProgram& program, const Step& step) {
  const SpmdValue& from = program.at(step.from);
  std::vector<std::string> dims;
  for (std::size_t d = 0; d < from.layout->dims.size(); ++d) {
    if (std::ranges::any_of(from.layout->dims[d],
                            [&](AxisId axis) { return has(step.axes, axis); })) {
      dims.push_back(from.type.shape[d].name);
    }
  }
  return dims;
}

std::string exchange_text(const SpmdProgram& program, const Step& step, const ValueNames& names) {
  const auto operand = [&](SpmdId id, int /*precedence*/) { return names.of(id); };
  const std::string what =
      step.calls.empty() ? names.of(step.from) : call_text(step.calls.front(), operand);
  return std::string(to_string(step.kind)) + "(" + what + ", " +
         joined(exchanged_dims(program, step), ", ") + " over " +
         to_string(program.mesh, step.axes) + ")";
}

}  // namespace

std::string move_text(const SpmdProgram& program, const Step& step, const ValueNames& names) {
  // The operand may have other dims than the result.
  if (step.kind == StepKind::kHaloExchange || step.kind == StepKind::kServe ||
      step.kind == StepKind::kSortExchange) {
    return exchange_text(program, step, names);
  }
  const std::string axes = to_string(program.mesh, step.axes);
  const std::string before = joined(changed_dims(program, step, true), ", ");
  const std::string after = joined(changed_dims(program, step, false), ", ");
  std::string what;
  switch (step.kind) {
    case StepKind::kSlice:
      what = slice_text(program, step, after);
      if (what.empty()) {
        return "copy(" + names.of(step.from) + ")";
      }
      break;
    case StepKind::kAllGather:
      what = before + " over " + axes + pieces_text(program.at(step.to));
      break;
    case StepKind::kAllToAll:
      what = before + " -> " + after + " over " + axes;
      break;
    case StepKind::kPermute:
      what = "to " +
             to_string(program.at(step.to).type.shape, program.at(step.to).layout, program.mesh);
      break;
    case StepKind::kKernel:
    case StepKind::kHaloExchange:
    case StepKind::kSortExchange:
    case StepKind::kServe:
      break;
    case StepKind::kExclusiveScan:
    case StepKind::kAllReduce:
      what = std::string(combine_word(step.combine)) + " over " + axes;
      break;
    case StepKind::kReduceScatter:
      what = std::string(combine_word(step.combine)) + " over " + axes + " -> " + after;
      break;
    case StepKind::kBroadcast:
      what = "over " + axes + " from" +
             to_string(program.at(step.from).layout->where, program.mesh).substr(kWhere.size());
      break;
    case StepKind::kReduce:
      what = std::string(combine_word(step.combine)) + " over " + axes + " to" +
             to_string(program.at(step.to).layout->where, program.mesh).substr(kWhere.size());
      break;
  }
  return std::string(to_string(step.kind)) + "(" + names.of(step.from) + ", " + what + ")" +
         (step.with_next ? " +" : "");  // and the next one, in one message
}

std::vector<std::string> dims_of(const SpmdProgram& program, const Makers& makers,
                                 const Step& step) {
  std::vector<std::string> dims;
  switch (step.kind) {
    case StepKind::kKernel:
      for (const LocalCall& call : step.calls) {
        append(dims, reduced_dims(call, nullptr));
      }
      break;
    case StepKind::kAllReduce:
    case StepKind::kReduce:
      dims = partial_dims(makers, step);
      break;
    case StepKind::kReduceScatter:
      dims = partial_dims(makers, step);
      append(dims, changed_dims(program, step, false));
      break;
    case StepKind::kHaloExchange:
    case StepKind::kServe:
    case StepKind::kExclusiveScan:
    case StepKind::kSortExchange:
      dims = exchanged_dims(program, step);
      break;
    case StepKind::kSlice:
    case StepKind::kAllGather:
    case StepKind::kAllToAll:
    case StepKind::kPermute:
    case StepKind::kBroadcast:
      dims = changed_dims(program, step, true);
      append(dims, changed_dims(program, step, false));
      break;
  }
  return dims;
}

std::size_t width_but_for_numbers(std::string_view text) {
  constexpr std::size_t kDigits = 2;
  std::size_t width = 0;
  bool in_number = false;
  for (const char letter : text) {
    const bool is_digit = letter >= '0' && letter <= '9';
    const bool is_inside = (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U;  // of a letter
    width += is_digit ? (in_number ? 0 : kDigits) : is_inside ? 0 : 1;
    in_number = is_digit;
  }
  return width;
}

std::string type_text(const SpmdValue& value) {
  return type_text(value, value.local.shape);
}

std::string type_text(const SpmdValue& value, const Shape& own) {
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < value.type.shape.rank(); ++i) {
    const Dim& whole = value.type.shape[i];
    const Dim& local = own[i];
    const std::string part = whole.size == local.size ? "" : std::to_string(local.size) + "/";
    dims.push_back(whole.name + " " + part + std::to_string(whole.size));
  }
  return std::string(to_string(value.type.dtype)) + "[" + joined(dims, ", ") + "]";
}

}  // namespace mtf
