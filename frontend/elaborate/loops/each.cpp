// each(f, x, over = d, where = c): one call of f for all positions of a dim. What f declares has
// the dim as well, so that each position has its own; where c does not hold, `<-` changes nothing.
// With pick = r and at = i it has the dim r, too, of which f sees position i alone.

#include <algorithm>
#include <array>
#include <map>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

using Versions = std::map<const VariableRecord*, ValueId>;

Versions versions_of(Recording& unit) {
  Versions versions;
  for (const VariableUse& use : unit.variables()) {
    versions.emplace(use.variable.get(), use.versions.back());
  }
  return versions;
}

// What was assigned is chosen where `holds`, and stays as it was elsewhere.
void keep_elsewhere(Context& c, const Versions& before, const Operand& holds) {
  Recording& unit = c.units.recording();
  const Tensor condition = *holds.value.get<Tensor>();
  const std::vector<VariableUse> uses = unit.variables();
  for (const VariableUse& use : uses) {
    const auto known = before.find(use.variable.get());
    const ValueId was = known == before.end() ? use.versions.front() : known->second;
    if (use.versions.back() == was) {
      continue;
    }
    const TensorType& type = use.variable->variable.type;
    for (const Dim& dim : condition.type.shape.dims()) {
      if (!type.shape.has(dim.name)) {
        c.report.error(DiagKind::kDimMissing, holds.span,
                       "`" + use.variable->variable.path +
                           "` is assigned in what `each` calls, and " + mtf::to_string(type) +
                           " has no `" + dim.name + "`, which `where` tells apart");
        return;
      }
    }
    const std::array<Operand, 3> parts{
        holds, Operand{.value = recorded(c.units, use.versions.back()), .span = holds.span},
        Operand{.value = recorded(c.units, was), .span = holds.span}};
    const OpDef& select = op_of(c.units.ops, Primitive::kSelect);
    const Operand chosen{.value = apply_op(c.units, select, parts, {}, holds.span),
                         .span = holds.span};
    if (const std::optional<ValueId> id = fitted(c.units, chosen, type)) {
      unit.assign(use.variable, *id);
    }
  }
}

// The condition of `where`; no value if there is none. nullopt: an error.
std::optional<Operand> condition_of(Context& c, const std::vector<const ast::Expr*>& bound) {
  if (bound.empty()) {
    return Operand{.value = nothing(), .span = {}};
  }
  const ast::Expr& expr = *bound.front();
  Operand holds{.value = evaluate(c, expr), .span = expr.span};
  const auto* tensor = holds.value.get<Tensor>();
  if (tensor != nullptr && tensor->type.dtype == DType::kBool) {
    return holds;
  }
  if (!is_unknown(holds.value)) {
    c.report.error(DiagKind::kWrongType, expr.span,
                   "`where` takes a tensor of bools; this is " + kind_of(holds.value));
  }
  return std::nullopt;
}

const Function* each_callee(Reporter& report, const Operand& f) {
  const auto* function = f.value.get<Function>();
  bool fits = function != nullptr && !function->fn->parameters.empty();
  for (std::size_t i = 1; fits && i < function->fn->parameters.size(); ++i) {
    fits = function->fn->parameters[i].initial.has_value();
  }
  if (!fits && !is_unknown(f.value)) {
    report.error(DiagKind::kWrongType, f.span,
                 "`each` calls a function of one value; this is " +
                     (function == nullptr ? kind_of(f.value)
                                          : "`" + function->fn->name.text + "`, which takes " +
                                                std::to_string(function->fn->parameters.size())));
  }
  return fits ? function : nullptr;
}

}  // namespace

std::optional<ValueId> for_each_position(Units& units, const Shape& dims,
                                         const std::function<std::optional<ValueId>()>& value) {
  std::optional<ValueId> first = value();
  if (!first || dims.rank() == 0) {
    return first;
  }
  Builder& builder = units.recording().builder;
  for (const Dim& dim : dims.dims()) {
    if (builder.type_of(*first).shape.has(dim.name)) {
      units.report.error(DiagKind::kRepeatedDim, builder.span(),
                         "this has the dim `" + dim.name +
                             "`, and `each` gives it to all that is declared in what it calls");
      return std::nullopt;
    }
  }
  const std::vector<mtf::Value>& values = builder.program().values;
  const bool is_random = std::ranges::any_of(
      values, [](const mtf::Value& made) { return made.op != nullptr && made.op->random; });
  if (!is_random) {
    std::vector<Dim> all(dims.dims().begin(), dims.dims().end());
    const Shape type = builder.type_of(*first).shape;
    all.insert(all.end(), type.dims().begin(), type.dims().end());
    return builder.emit(Algebra::kBroadcast, {*first}, to_shape(Shape(std::move(all))));
  }
  constexpr std::int64_t kMostDraws = std::int64_t{1} << 20;
  if (dims.checked_volume().value_or(kMostDraws + 1) > kMostDraws) {
    units.report.error(DiagKind::kOverflow, builder.span(),
                       "`each` draws this once for every position of " + mtf::to_string(dims) +
                           ", and at most " + std::to_string(kMostDraws) +
                           " times; declared outside of it, with these dims, it is drawn at once");
    return std::nullopt;
  }
  std::vector<ValueId> parts{*first};
  while (std::ssize(parts) < dims.volume()) {
    const std::optional<ValueId> part = value();
    if (!part) {
      return std::nullopt;
    }
    parts.push_back(*part);
  }
  for (std::size_t i = dims.rank(); i-- > 0;) {  // of the last dim positions are next to each other
    const auto size = static_cast<std::ptrdiff_t>(dims[i].size);
    std::vector<ValueId> joined;
    for (auto at = parts.begin(); at != parts.end(); at += size) {
      OpArgs args;
      args.set("dim", std::vector{dims[i]});
      joined.push_back(builder.emit(Primitive::kStack, {at, at + size}, std::move(args)));
    }
    parts = std::move(joined);
  }
  return parts.front();
}

namespace {

// What `pick` and `at` say, or nothing; false after an error.
bool evaluate_picked(Context& c, const Bound& bound, SourceSpan span,
                     std::optional<Picked>& picked) {
  const bool is_picked = !bound[4].empty();
  if (is_picked != !bound[5].empty()) {
    c.report.error(DiagKind::kMissingArgument, span,
                   "`pick = dim` and `at = position` of `each` go together");
    return false;
  }
  if (!is_picked) {
    return true;
  }
  const std::optional<Shape> dims = evaluate_shape(c, *bound[4].front());
  Value at = evaluate(c, *bound[5].front());
  if (!dims || is_unknown(at)) {
    return false;
  }
  const auto* tensor = at.get<Tensor>();
  if (dims->rank() != 1 || tensor == nullptr) {
    c.report.error(DiagKind::kWrongType, bound[tensor == nullptr ? 5 : 4].front()->span,
                   tensor == nullptr ? "`at` is a tensor of positions; this is " + kind_of(at)
                                     : "`pick` is one dim; this is " + mtf::to_string(*dims));
    return false;
  }
  picked = Picked{.dim = (*dims)[0], .at = std::move(at)};
  return true;
}

// Whether what is declared in this call, and in those around it, has each dim once.
bool are_new_dims(Context& c, const Shape& over, const std::optional<Picked>& picked,
                  const Bound& bound) {
  const auto is_new = [&c](const Dim& dim, const ast::Expr& written, std::string_view what) {
    if (!c.variables.stacked.has(dim.name)) {
      return true;
    }
    c.report.error(DiagKind::kRepeatedDim, written.span,
                   std::string(what) + " `" + dim.name +
                       "`, which an `each` around this one gives to all that is declared here; " +
                       "a dim of another name, by `rename`, goes beside it");
    return false;
  };
  if (picked && over.has(picked->dim.name)) {
    c.report.error(DiagKind::kRepeatedDim, bound[4].front()->span,
                   "`pick` is `" + picked->dim.name +
                       "`, which this `each` goes over; it is a dim of its own, of which each "
                       "position along the other has one");
    return false;
  }
  return std::ranges::all_of(
             over.dims(),
             [&](const Dim& dim) { return is_new(dim, *bound[2].front(), "`each` over"); }) &&
         (!picked || is_new(picked->dim, *bound[4].front(), "`pick` is"));
}

}  // namespace

Value each_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "f"},
                                    {.name = "x"},
                                    {.name = "over"},
                                    {.name = "where", .required = false},
                                    {.name = "pick", .required = false},
                                    {.name = "at", .required = false}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  CallSite site = bound_site(c, span);
  if (!bound || !name_site(c, call, site)) {
    return unknown();
  }
  const Restore outer(c.variables.call_name, std::string());
  const auto expr = [&](std::size_t i) -> const ast::Expr& { return *(*bound)[i].front(); };
  const Operand f{.value = evaluate(c, expr(0)), .span = expr(0).span};
  const Operand x{.value = evaluate(c, expr(1)), .span = expr(1).span};
  const std::optional<Shape> over = evaluate_shape(c, expr(2), shapes_in({&x.value, 1}));
  const std::optional<Operand> holds = condition_of(c, (*bound)[3]);
  const Function* function = each_callee(c.report, f);
  std::optional<Picked> picked;
  if (function == nullptr || is_unknown(x.value) || !over || !holds ||
      !evaluate_picked(c, *bound, span, picked) || !are_new_dims(c, *over, picked, *bound)) {
    return unknown();
  }
  Arguments arguments(function->fn->parameters.size());
  arguments.front() = x;
  const Versions before = versions_of(c.units.recording());
  std::vector<Dim> stacked(c.variables.stacked.dims().begin(), c.variables.stacked.dims().end());
  std::vector<Picked> all_picked = c.variables.picked;
  if (picked) {
    stacked.push_back(picked->dim);
    all_picked.push_back(*std::move(picked));
  }
  stacked.insert(stacked.end(), over->dims().begin(), over->dims().end());
  const Restore picks(c.variables.picked, std::move(all_picked));
  const Restore dims(c.variables.stacked, Shape(std::move(stacked)));
  Value result = call_inline(c, *function, arguments, site);
  if (!holds->value.is<Nothing>() && !is_unknown(result)) {
    keep_elsewhere(c, before, *holds);
  }
  return result;
}

}  // namespace mtf::host
