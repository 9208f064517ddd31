// Calls of operations: each argument as the kind its parameter declares.

#include <algorithm>
#include <cmath>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/numbers.h"

namespace mtf::host {
namespace {

// What an argument is, as whole numbers, where a double may not hold one of them.
struct LongNumbers {
  std::string_view param = {};
  std::vector<std::int64_t> numbers = {};  // none where some are floats
  std::string first = {};                  // of those; empty: there are none
};

struct OpCallSite {
  Context& c;
  const OpDef& op;
  SourceSpan span;
  std::vector<Shape> operands;  // of those that are tensors
  DType written = DType::kF32;  // kBool, kI32: all numbers that are written out are such
  LongNumbers long_numbers = {};
};

bool is_tensor_kind(ParamKind kind) {
  return kind == ParamKind::kTensor || kind == ParamKind::kTensors;
}

void wrong_kind(const OpCallSite& site, const OpParam& param, SourceSpan span,
                std::string_view wanted, const Value& value) {
  if (is_unknown(value)) {
    return;
  }
  site.c.report.error(DiagKind::kWrongType, span,
                      "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                          "` is " + std::string(wanted) + "; this is " + kind_of(value));
}

std::string extents_text(const std::vector<std::size_t>& extents) {
  std::string text;
  for (const std::size_t extent : extents) {
    text += (text.empty() ? "" : " by ") + std::to_string(extent);
  }
  return text;
}

// Flat, or nested as the shape in the same call is.
std::optional<ArgValue> data_argument(OpCallSite& site, const OpParam& param, const ast::Expr& expr,
                                      const OpArgs& args) {
  const Value value = evaluate(site.c, expr);
  if (is_unknown(value)) {
    return std::nullopt;
  }
  NumberRow row;
  if (!flatten(site.c.report, {.value = value, .span = expr.span}, row)) {
    return std::nullopt;
  }
  if (!row.long_number.empty()) {
    site.long_numbers = {
        .param = param.name, .numbers = std::move(row.whole), .first = row.long_number};
  }
  site.written = row.only_flags ? DType::kBool : row.only_ints ? DType::kI32 : DType::kF32;
  for (const auto& [name, arg] : args.entries()) {
    const auto* shape = std::get_if<Shape>(&arg);
    if (shape == nullptr || row.extents.size() < 2) {
      continue;
    }
    const bool fits =
        std::ranges::equal(shape->dims(), row.extents, [](const Dim& dim, std::size_t extent) {
          return dim.size == static_cast<std::int64_t>(extent);
        });
    if (!fits) {
      site.c.report.error(
          DiagKind::kBadArgument, expr.span,
          "data of " + extents_text(row.extents) + " for the shape " + mtf::to_string(*shape));
      return std::nullopt;
    }
  }
  return std::move(row.numbers);
}

std::optional<ArgValue> checked_choice(const OpCallSite& site, const OpParam& param,
                                       const std::string& text, SourceSpan span) {
  if (param.choices.empty() || std::ranges::find(param.choices, text) != param.choices.end()) {
    return text;
  }
  std::string choices;
  for (const std::string_view choice : param.choices) {
    choices += (choices.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  }
  const std::vector<std::string> names(param.choices.begin(), param.choices.end());
  site.c.report.error(DiagKind::kBadArgument, span,
                      "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                          "` is one of " + choices + suggest(text, names).text);
  return std::nullopt;
}

std::optional<ArgValue> plain_argument(OpCallSite& site, const OpParam& param,
                                       const ast::Expr& expr) {
  const Value value = evaluate(site.c, expr);
  std::string_view wanted;
  switch (param.kind) {
    case ParamKind::kDType:
      if (const auto* dtype = value.get<DType>()) {
        return *dtype;
      }
      wanted = "a dtype, as f32";
      break;
    case ParamKind::kInt:
      if (const std::optional<std::int64_t> number = as_int(value)) {
        return *number;
      }
      wanted = "an int";
      break;
    case ParamKind::kReal:
      if (const bool* flag = value.get<bool>()) {
        site.written = param.required ? DType::kBool : DType::kF32;
        return *flag ? 1.0 : 0.0;
      }
      if (const std::optional<double> number = as_real(value)) {
        if (is_beyond_doubles(value)) {
          site.long_numbers = {
              .param = param.name, .numbers = {*as_int(value)}, .first = to_string(value)};
        }
        return *number;
      }
      wanted = "a number";
      break;
    case ParamKind::kBool:
      if (const bool* flag = value.get<bool>()) {
        return *flag;
      }
      wanted = "a bool";
      break;
    default:
      if (const auto* text = value.get<std::string>()) {
        return checked_choice(site, param, *text, expr.span);
      }
      wanted = "a string";
      break;
  }
  wrong_kind(site, param, expr.span, wanted, value);
  return std::nullopt;
}

// One number, one of the parameter's words, or all numbers of a list.
std::optional<ArgValue> ints_argument(OpCallSite& site, const OpParam& param,
                                      const ast::Expr& expr) {
  const Value value = evaluate(site.c, expr);
  if (const std::optional<std::int64_t> number = as_int(value)) {
    return *number;
  }
  if (const auto* text = value.get<std::string>(); text != nullptr && !param.choices.empty()) {
    return checked_choice(site, param, *text, expr.span);
  }
  NumberRow row;
  if (value.is<List>() && flatten(site.c.report, {.value = value, .span = expr.span}, row)) {
    const bool are_ints =
        std::ranges::all_of(row.numbers, [](double x) { return x == std::floor(x); });
    if (are_ints) {
      return std::move(row.numbers);
    }
  } else if (value.is<List>()) {
    return std::nullopt;  // said already
  }
  std::string wanted = "a whole number, or a list of one for each dim";
  for (const std::string_view word : param.choices) {
    wanted += ", or \"" + std::string(word) + "\"";
  }
  wrong_kind(site, param, expr.span, wanted, value);
  return std::nullopt;
}

std::optional<ArgValue> argument(OpCallSite& site, const OpParam& param, const ast::Expr& expr,
                                 const OpArgs& args) {
  switch (param.kind) {
    case ParamKind::kDim:
    case ParamKind::kNewDim:
    case ParamKind::kDims:
    case ParamKind::kNewDims: {
      const bool may_be_new = param.kind == ParamKind::kNewDim || param.kind == ParamKind::kNewDims;
      std::optional<std::vector<Dim>> dims = evaluate_dims(site.c, expr, site.operands, may_be_new);
      if (!dims) {
        return std::nullopt;
      }
      const bool takes_one = param.kind == ParamKind::kDim || param.kind == ParamKind::kNewDim;
      if (takes_one && dims->size() != 1) {
        site.c.report.error(DiagKind::kBadArgument, expr.span,
                            "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                                "` is one dim, not " + std::to_string(dims->size()));
        return std::nullopt;
      }
      for (const Dim& dim : *dims) {
        site.c.names.dims.insert(dim.name);
      }
      return *std::move(dims);
    }
    case ParamKind::kShape:
    case ParamKind::kNewShape: {
      std::optional<Shape> shape =
          evaluate_shape(site.c, expr, site.operands, param.kind == ParamKind::kNewShape);
      return shape ? std::optional<ArgValue>(*std::move(shape)) : std::nullopt;
    }
    case ParamKind::kData:
      return data_argument(site, param, expr, args);
    case ParamKind::kInts:
      return ints_argument(site, param, expr);
    default:
      return plain_argument(site, param, expr);
  }
}

// Operands in the order of the parameters; lists among `kTensors` are spread out.
std::vector<Operand> evaluate_operands(Context& c, const OpDef& op, const Bound& bound) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (!is_tensor_kind(op.params[i].kind)) {
      continue;
    }
    for (const ast::Expr* expr : bound[i]) {
      Value value = evaluate(c, *expr);
      const auto* list = value.get<List>();
      if (list == nullptr || op.params[i].kind == ParamKind::kTensor) {
        operands.push_back({.value = std::move(value), .span = expr->span});
        continue;
      }
      for (const Value& item : *list->items) {
        operands.push_back({.value = item, .span = expr->span});
      }
    }
  }
  return operands;
}

// What the type of a variable says about its initial value: `normal(stddev = 0.1)`.
std::optional<ArgValue> from_type(const Variables& variables, const OpParam& param) {
  if (variables.initial_type == nullptr) {
    return std::nullopt;
  }
  if (param.kind == ParamKind::kDType) {
    return variables.initial_type->dtype;
  }
  return param.kind == ParamKind::kShape ? std::optional<ArgValue>(variables.initial_type->shape)
                                         : std::nullopt;
}

bool has_operands(const OpDef& op) {
  return std::ranges::any_of(op.params,
                             [](const OpParam& param) { return is_tensor_kind(param.kind); });
}

// nullopt after an error.
std::optional<OpArgs> evaluate_arguments(OpCallSite& site, std::span<const Formal> formals,
                                         const Bound& bound) {
  OpArgs args;
  bool is_known = true;
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const OpParam& param = site.op.params[i];
    if (bound[i].empty()) {
      std::optional<ArgValue> filled =
          has_operands(site.op) ? std::nullopt : from_type(site.c.variables, param);
      if (filled) {
        args.set(param.name, *std::move(filled));
      } else if (param.required) {
        report_missing(site.c.report, site.op.name, formals, i, site.span);
        return std::nullopt;
      }
      continue;
    }
    if (is_tensor_kind(param.kind)) {
      continue;
    }
    std::optional<ArgValue> value = argument(site, param, *bound[i].front(), args);
    is_known = is_known && value.has_value();
    if (value) {
      args.set(param.name, *std::move(value));
    }
  }
  if (!is_known) {
    note_write(site.c.units, site.op, args, {});  // of something, in a check
  }
  return is_known ? std::optional(std::move(args)) : std::nullopt;
}

// Tensors of numbers of 64 bits, as the sum of two whose numbers doubles hold.
Value called_with_long(const OpCallSite& site, const OpArgs& args) {
  constexpr std::int64_t kLow = 0xFFFF'FFFF;
  std::vector<Operand> parts;
  for (const std::int64_t mask : {~kLow, kLow}) {
    std::vector<double> numbers;
    for (const std::int64_t number : site.long_numbers.numbers) {
      numbers.push_back(static_cast<double>(number & mask));
    }
    OpArgs part = args;
    if (site.op.primitive == Primitive::kFill) {
      part.set(site.long_numbers.param, numbers.front());
    } else {
      part.set(site.long_numbers.param, std::move(numbers));
    }
    parts.push_back({.value = apply_op(site.c.units, site.op, {}, std::move(part), site.span),
                     .span = site.span});
  }
  return apply_op(site.c.units, op_of(site.c.units.ops, Primitive::kAdd), parts, {}, site.span);
}

// Whether the numbers are all that the tensors are made of.
bool makes_long_numbers(const OpCallSite& site, const OpArgs& args) {
  const bool is_made_of_them =
      site.op.primitive == Primitive::kFill ||
      std::ranges::find(site.op.params, ParamKind::kData, &OpParam::kind) != site.op.params.end();
  const auto* dtype = args.get<DType>("dtype");
  return is_made_of_them && !site.long_numbers.numbers.empty() && dtype != nullptr &&
         *dtype == DType::kI64;
}

// What the operation gives. Of numbers that are written out and no dtype with them, it has what
// they look like.
Value called(const OpCallSite& site, std::span<const Operand> operands, OpArgs args) {
  const OpDef& op = site.op;
  const auto dtype = std::ranges::find(op.params, ParamKind::kDType, &OpParam::kind);
  const bool is_free = dtype != op.params.end() && args.find(dtype->name) == nullptr;
  if (is_free && site.written == DType::kBool) {
    args.set(dtype->name, DType::kBool);
  }
  if (makes_long_numbers(site, args)) {
    return called_with_long(site, args);
  }
  Value result = apply_op(site.c.units, op, operands, std::move(args), site.span);
  auto* tensor = std::get_if<Tensor>(&result.node);
  if (tensor == nullptr) {
    return result;
  }
  if (tensor->type.dtype == DType::kI64 && !site.long_numbers.first.empty()) {
    site.c.report.error(DiagKind::kOverflow, site.span,
                        "`" + std::string(op.name) + "` takes numbers up to 2^53, and " +
                            site.long_numbers.first +
                            " is beyond; added to a tensor of i64 it is exact");
    return unknown();
  }
  tensor->whole = is_free && site.written == DType::kI32;
  return result;
}

// The result for the first of two names, and what is for the second.
Value with_companion(const OpCallSite& site, std::span<const Operand> operands, const OpArgs& args,
                     Value result) {
  const OpDef& companion = *find_op(site.c.units.ops, site.op.companion);
  Value second = apply_op(site.c.units, companion, operands, args, site.span);
  return make(
      Results{std::make_shared<const Values>(Values{std::move(result), std::move(second)})});
}

}  // namespace

Value call_op(Context& c, const OpDef& op, const ast::Call& call, SourceSpan span) {
  std::vector<Formal> formals;
  for (const OpParam& param : op.params) {
    formals.push_back({.name = std::string(param.name),
                       .required = param.required,
                       .many = param.kind == ParamKind::kTensors});
  }
  if (call.name) {
    c.report.error(DiagKind::kBadArgument, call.name->span,
                   "`as` names the variables of a function's call; `" + std::string(op.name) +
                       "` is an operation and has none");
    return unknown();
  }
  const std::optional<Bound> bound = bind_arguments(c.report, c.names, op.name, formals, call);
  if (!bound) {
    return unknown();
  }
  const std::vector<Operand> operands = evaluate_operands(c, op, *bound);
  OpCallSite site{.c = c, .op = op, .span = span, .operands = {}};
  bool is_known = true;
  for (const Operand& operand : operands) {
    if (const auto* tensor = operand.value.get<Tensor>()) {
      site.operands.push_back(tensor->type.shape);
    }
    is_known = is_known && !is_unknown(operand.value);
  }
  if (!is_known && op.file != FileUse::kWrites) {
    return unknown();
  }
  const std::size_t failures = c.report.failures();
  std::optional<OpArgs> args = evaluate_arguments(site, formals, *bound);
  if (!args || !is_known) {
    return op.effect && c.report.failures() == failures ? nothing() : unknown();
  }
  Value result = called(site, operands, *args);
  return c.names.paired == &call && !op.companion.empty() && !is_unknown(result)
             ? with_companion(site, operands, *args, std::move(result))
             : result;
}

}  // namespace mtf::host
