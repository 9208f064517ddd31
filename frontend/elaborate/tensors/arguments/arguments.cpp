#include "frontend/elaborate/tensors/arguments/arguments.h"

#include <algorithm>

namespace mtf::host {
namespace {

bool is_written(const ast::Expr& expr) {
  return std::holds_alternative<ast::Int>(expr.node) ||
         std::holds_alternative<ast::Float>(expr.node) ||
         std::holds_alternative<ast::String>(expr.node);
}

// Where two tensors or numbers are given to what goes over the dims of one: what takes two. For a
// sum, what is written out is a dim by its place or its name.
std::string of_two(const OpCallSite& site, const ast::Expr& expr) {
  const auto is_meant = [&](const OpDef* op) {
    return op->tile != nullptr && op->params.size() == 2 && op->name.starts_with(site.op.name) &&
           std::ranges::all_of(op->params, [](const OpParam& p) { return is_tensor_kind(p.kind); });
  };
  if (site.op.algebra == Algebra::kSum) {
    return is_written(expr)
               ? ""
               : ", and `a " + std::string(op_of(site.c.units.ops, Primitive::kAdd).symbol) +
                     " b` adds two";
  }
  const auto found = std::ranges::find_if(site.c.units.ops, is_meant);
  return found == site.c.units.ops.end()
             ? ""
             : ", and `" + std::string((*found)->name) + "(a, b)` takes two";
}

// sum(x, over = 0)   sum(x, over = "batch")
std::string by_name(const OpCallSite& site, const ast::Expr& expr) {
  std::vector<std::string> names;
  for (const Shape& operand : site.operands) {
    for (const Dim& dim : operand.dims()) {
      if (std::ranges::find(names, dim.name) == names.end()) {
        names.push_back(dim.name);
      }
    }
  }
  return names.empty() || !is_written(expr)
             ? ""
             : "; dims go by their names, here " + quoted_list(names);
}

// range(3)
std::string of_size(const OpCallSite& site, const ast::Expr& expr) {
  const auto* size = std::get_if<ast::Int>(&expr.node);
  return size == nullptr || size->value < 1 || !site.operands.empty()
             ? ""
             : "; one of that size is written [n: " + std::to_string(size->value) + "]";
}

// read_bytes("corpus.txt", u8)
std::string of_dtype(const OpCallSite& site, const ast::Expr& expr) {
  const ast::NameRef* name = ast::as_name(expr);
  const auto dtype = std::ranges::find(site.op.params, ParamKind::kDType, &OpParam::kind);
  return name == nullptr || dtype == site.op.params.end() || !find_dtype(name->text)
             ? ""
             : "; write `" + std::string(dtype->name) + " = " + name->text + "`";
}

std::optional<ArgValue> dims_argument(OpCallSite& site, const OpParam& param,
                                      const ast::Expr& expr) {
  const bool may_be_new = param.kind == ParamKind::kNewDim || param.kind == ParamKind::kNewDims;
  const std::string otherwise =
      (param.name == "over" ? by_name(site, expr) : of_size(site, expr)) +
      (param.kind == ParamKind::kDims ? of_two(site, expr) : of_dtype(site, expr));
  std::optional<std::vector<Dim>> dims =
      evaluate_dims(site.c, expr, site.operands, may_be_new, otherwise);
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

// top_k(x, 5)   reshape(x, 18)
std::string size_of_dim(const OpCallSite& site, const ast::Expr& expr) {
  const auto* size = std::get_if<ast::Int>(&expr.node);
  return size == nullptr || site.operands.empty()
             ? ""
             : ", and a size has its dim's name, as in [rows: " + std::to_string(size->value) + "]";
}

// normal(0.0, 1.0, [batch])   param w : f32[io] = normal(0.1)
std::string order_of(const OpCallSite& site, const ast::Expr& expr) {
  const auto number = std::ranges::find(site.op.params, ParamKind::kReal, &OpParam::kind);
  if (site.c.variables.initial_type != nullptr && number != site.op.params.end()) {
    return "; here it is the variable's own, without being given: `" + std::string(site.op.name) +
           "(" + std::string(number->name) + " = …)`";
  }
  std::string names;
  for (const OpParam& param : site.op.params) {
    names += (names.empty() ? "" : ", ") + std::string(param.name);
  }
  return "; `" + std::string(site.op.name) + "` takes (" + names + ")" + size_of_dim(site, expr);
}

std::optional<ArgValue> argument(OpCallSite& site, const OpParam& param, const ast::Expr& expr,
                                 const OpArgs& args) {
  switch (param.kind) {
    case ParamKind::kDim:
    case ParamKind::kNewDim:
    case ParamKind::kDims:
    case ParamKind::kNewDims:
      return dims_argument(site, param, expr);
    case ParamKind::kShape:
    case ParamKind::kNewShape:
      return evaluate_shape(site.c, expr, site.operands, param.kind == ParamKind::kNewShape,
                            order_of(site, expr));
    case ParamKind::kData:
      return data_argument(site, param, expr, args);
    case ParamKind::kInts:
      return ints_argument(site, param, expr);
    default:
      return plain_argument(site, param, expr);
  }
}

bool has_operands(const OpDef& op) {
  return std::ranges::any_of(op.params,
                             [](const OpParam& param) { return is_tensor_kind(param.kind); });
}

// What the type of a variable says about its initial value: `normal(stddev = 0.1)`.
std::optional<ArgValue> from_type(const OpCallSite& site, const OpParam& param) {
  const TensorType* type = site.c.variables.initial_type;
  if (type == nullptr || has_operands(site.op)) {
    return std::nullopt;
  }
  if (param.kind == ParamKind::kDType) {
    return type->dtype;
  }
  const bool is_shape = param.kind == ParamKind::kShape || param.kind == ParamKind::kNewShape;
  return is_shape ? std::optional<ArgValue>(type->shape) : std::nullopt;
}

// One that the call does not give; false: it is required, and nothing else tells it.
bool fill_in(const OpCallSite& site, const OpParam& param, OpArgs& args) {
  std::optional<ArgValue> filled = from_type(site, param);
  if (!filled) {
    return !param.required;
  }
  args.set(param.name, *std::move(filled));
  return true;
}

bool can_be_made(const OpCallSite& site, const OpArgs& args) {
  OpCall call{.op = &site.op,
              .operands = {},
              .args = args,
              .result = {},
              .span = site.span,
              .operand_spans = {}};
  DiagSink unheard;
  return site.op.type(call, unheard).has_value();
}

// What a variable's initial value is computed from need not have its dtype, as the whole numbers in
// `param w : f32[io] = cast(integers(low = 0, high = 5), f32)`.
OpArgs with_own_dtype(const OpCallSite& site, const Bound& bound, OpArgs args) {
  const auto dtype = std::ranges::find(site.op.params, ParamKind::kDType, &OpParam::kind);
  const bool is_filled = dtype != site.op.params.end() && from_type(site, *dtype) &&
                         bound[static_cast<std::size_t>(dtype - site.op.params.begin())].empty();
  if (!is_filled || can_be_made(site, args)) {
    return args;
  }
  OpArgs own = args;
  own.erase(dtype->name);
  return can_be_made(site, own) ? own : args;
}

// Where formals have what stands behind `->`, if the call gives one.
std::size_t target_of(std::span<const Formal> formals, const Bound& bound) {
  const auto target = std::ranges::find(formals, "to", &Formal::name);
  const auto at = static_cast<std::size_t>(target - formals.begin());
  return at < formals.size() && bound[at].empty() ? formals.size() : at;
}

}  // namespace

bool is_tensor_kind(ParamKind kind) {
  return kind == ParamKind::kTensor || kind == ParamKind::kTensors;
}

std::optional<OpArgs> evaluate_arguments(OpCallSite& site, std::span<const Formal> formals,
                                         const Bound& bound) {
  OpArgs args;
  const std::size_t to = target_of(formals, bound);
  std::optional<ArgValue> target;  // first: the others may name a dim that it declares
  if (to < formals.size()) {
    target = argument(site, site.op.params[to], *bound[to].front(), args);
  }
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const OpParam& param = site.op.params[i];
    if (bound[i].empty() && !fill_in(site, param, args)) {
      report_missing(site.c.report, site.op.name, formals, i, site.span);
      return std::nullopt;
    }
    if (bound[i].empty() || is_tensor_kind(param.kind)) {
      continue;
    }
    std::optional<ArgValue> value =
        i == to ? target : argument(site, param, *bound[i].front(), args);
    if (!value) {  // told, and the others may only be at other places than they were meant for
      note_write(site.c.units, site.op, args, {});  // of something, in a check
      return std::nullopt;
    }
    args.set(param.name, *std::move(value));
  }
  return with_own_dtype(site, bound, std::move(args));
}

}  // namespace mtf::host
