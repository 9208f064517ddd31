#include "frontend/elaborate/tensors/gradients/differentiate.h"

#include "frontend/elaborate/tensors/gradients/whole_calls.h"
#include "ir/loops/carried.h"

namespace mtf::host {

std::optional<ValueId> loss_of(Units& units, const Operand& loss) {
  if (is_unknown(loss.value)) {
    return std::nullopt;
  }
  const auto* tensor = loss.value.get<Tensor>();
  if (tensor == nullptr) {
    units.report.error(
        DiagKind::kWrongType, loss.span,
        "the loss is a scalar tensor; this is " + kind_of(loss.value) +
            (loss.value.is<Function>() ? ", to be called, as in `grad(f(x), x)`" : ""));
    return std::nullopt;
  }
  if (tensor->type.shape.rank() > 0) {
    units.report.error(DiagKind::kNotDifferentiable, loss.span,
                       "the loss is " + mtf::to_string(tensor->type) +
                           "; a scalar is needed, as `mean(…)` or `sum(…)` gives");
    return std::nullopt;
  }
  if (!is_float(tensor->type.dtype)) {
    units.report.error(
        DiagKind::kNotDifferentiable, loss.span,
        "the loss is " + mtf::to_string(tensor->type) + "; only floats have gradients");
    return std::nullopt;
  }
  return record(units, *tensor, loss.span);
}

std::vector<ValueId> gradients_by(Units& units, Limits& limits, ValueId loss,
                                  const std::vector<Target>& targets, SourceSpan span) {
  std::vector<ValueId> flat;
  for (const Target& target : targets) {
    flat.insert(flat.end(), target.versions.begin(), target.versions.end());
  }
  Builder& builder = units.recording().builder;
  constexpr std::size_t kValuesPerStatement = 16;  // it walks the whole program: as long as these
  if (!may_go_on(limits, units, span, builder.program().values.size() / kValuesPerStatement)) {
    return std::vector<ValueId>(targets.size());
  }
  builder.at(span, units.frame);
  if (const ValueId carried = carried_between(builder, loss, flat); carried.valid()) {
    const mtf::Value& value = builder.program().at(carried);
    const std::string name = value.name.empty() ? "a value" : "`" + value.name + "`";
    units.report.error(
        DiagKind::kNotDifferentiable, span,
        "the loss depends on " + name +
            ", which a loop hands from trip to trip, as often as its condition says; "
            "a gradient needs a bound, as `for i in 0..100 while …` is one, or "
            "`stop_gradient`",
        {{.span = value.span, .text = "handed on by this loop"}});
    return {};
  }
  const std::size_t failures = units.report.failures();
  const std::vector<ValueId> all = gradients_by_whole_calls(builder, loss, flat);
  units.take_diags();
  if (units.report.failures() > failures) {  // in what a function says of its own gradient
    return {};
  }
  std::vector<ValueId> result;
  std::size_t at = 0;
  for (const Target& target : targets) {
    ValueId latest;
    for (std::size_t i = 0; i < target.versions.size(); ++i, ++at) {
      latest = all[at].valid() ? all[at] : latest;
    }
    const auto* tensor = target.operand.value.get<Tensor>();
    if (latest.valid() && tensor->where == Where::kVariable) {
      builder.program().at(latest).variable = tensor->variable->variable.path;
    }
    result.push_back(latest);
  }
  return result;
}

}  // namespace mtf::host
