// Calls of operations: of their operands and arguments, what they give.

#include <algorithm>

#include "frontend/elaborate/tensors/arguments/arguments.h"

namespace mtf::host {
namespace {

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

std::vector<Formal> formals_of(const OpDef& op) {
  std::vector<Formal> formals;
  formals.reserve(op.params.size());
  for (const OpParam& param : op.params) {
    formals.push_back({.name = std::string(param.name),
                       .required = param.required,
                       .many = param.kind == ParamKind::kTensors});
  }
  return formals;
}

// Dims that have their sizes from a file are declared by the call that names them; where it cannot
// be read, which is told, they are unknown.
void declare_file_dims(Context& c, const ast::Expr& shape, const Value& result) {
  const auto* list = std::get_if<ast::Bracket>(&shape.node);
  if (list == nullptr) {
    return;
  }
  const auto* tensor = result.get<Tensor>();
  for (const ast::Element& element : list->elements) {
    const auto* part = std::get_if<ast::Expr>(&element.node);
    const ast::NameRef* name = part == nullptr ? nullptr : ast::as_name(*part);
    if (name == nullptr || c.names.scope->find(name->text).binding != nullptr) {
      continue;
    }
    const Dim* dim = tensor == nullptr ? nullptr : tensor->type.shape.find(name->text);
    if (dim != nullptr) {
      declare_inline(c.names, *dim, part->span);
    } else {
      c.names.scope->declare(
          name->text, {.value = unknown(), .kind = NameKind::kInlineDim, .span = part->span});
    }
  }
}

// The result of a call that has declared what dims it makes.
Value declared_dims(Context& c, const OpDef& op, const Bound& bound, Value result) {
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (tells_sizes(op, op.params[i]) && !bound[i].empty()) {
      declare_file_dims(c, *bound[i].front(), result);
    }
  }
  return result;
}

std::vector<Shape> shapes_of(std::span<const Operand> operands) {
  std::vector<Shape> shapes;
  for (const Operand& operand : operands) {
    if (const auto* tensor = operand.value.get<Tensor>()) {
      shapes.push_back(tensor->type.shape);
    }
  }
  return shapes;
}

}  // namespace

Value call_op(Context& c, const OpDef& op, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals = formals_of(op);
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
  OpCallSite site{.c = c, .op = op, .span = span, .operands = shapes_of(operands)};
  const bool is_known = std::ranges::none_of(operands, is_unknown, &Operand::value);
  if (!is_known && op.file != FileUse::kWrites) {
    return unknown();
  }
  const std::size_t failures = c.report.failures();
  std::optional<OpArgs> args = evaluate_arguments(site, formals, *bound);
  if (!args || !is_known) {
    return op.effect && c.report.failures() == failures ? nothing()
                                                        : declared_dims(c, op, *bound, unknown());
  }
  Value result = declared_dims(c, op, *bound, called(site, operands, *args));
  return c.names.paired == &call && !op.companion.empty() && !is_unknown(result)
             ? with_companion(site, operands, *args, std::move(result))
             : result;
}

}  // namespace mtf::host
