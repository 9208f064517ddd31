// `<-`: what a param or state is from here on.

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

// requires: the target is a variable, or what `each` picked of one.
void store(Context& c, const Value& target, const Operand& value) {
  const Tensor& tensor = *target.get<Tensor>();
  const Operand all{.value = tensor.picks != nullptr ? with_picked(c, tensor, value) : value.value,
                    .span = value.span};
  if (const std::optional<ValueId> id = fitted(c.units, all, tensor.variable->variable.type)) {
    c.units.recording().assign(tensor.variable, *id);
  }
}

}  // namespace

void run_update(Context& c, const ast::Update& update, SourceSpan span) {
  const auto assign = [&]() -> Values {
    const Value target = evaluate(c, update.target);
    const Operand value{.value = evaluate(c, update.value), .span = update.value.span};
    if (is_unknown(target) || is_unknown(value.value)) {
      return {};
    }
    const auto* tensor = target.get<Tensor>();
    if (tensor == nullptr || tensor->variable == nullptr) {
      c.report.error(DiagKind::kWrongType, update.target.span,
                     "`<-` assigns to a param or state; this is " + kind_of(target));
      return {};
    }
    if (c.units.recording().kind == UnitKind::kInitial) {
      c.report.error(DiagKind::kBadArgument, span, "an initial value cannot assign to a variable");
      return {};
    }
    store(c, target, value);
    return {};
  };
  if (c.units.at_top_level()) {
    static_cast<void>(compute(c, assign));
  } else {
    static_cast<void>(assign());
  }
}

}  // namespace mtf::host
