#include "frontend/elaborate/tensors/gradients/whole_calls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/rewrite/autodiff.h"

namespace mtf::host {
namespace {

// The gradients of the operands: those of the same call of opaque values.
std::vector<ValueId> follow_call(Builder& builder, const WholeCall& whole, ValueId upstream) {
  std::vector<ValueId> operands;
  for (const ValueId operand : whole.operands) {
    operands.push_back(builder.opaque(builder.latest(operand)));
  }
  const std::optional<ValueId> result = builder.call(*whole.op, operands, whole.args);
  if (!result) {  // it was right before
    throw Failure{.diag = builder.diags().diags().back()};
  }
  const ValueId total = builder.emit(Algebra::kEinsum, {*result, upstream}, to_shape(Shape()));
  return gradients(builder, total, operands);
}

bool is_through(const WholeCall& whole, const std::set<ValueId>& targets) {
  return std::ranges::any_of(whole.through,
                             [&targets](ValueId id) { return targets.contains(id); });
}

}  // namespace

std::vector<ValueId> gradients_by_whole_calls(Builder& builder, ValueId of,
                                              std::span<const ValueId> targets) {
  const std::set<ValueId> by(targets.begin(), targets.end());
  std::vector<ValueId> followed;
  for (const WholeCall& whole : builder.whole_calls()) {
    if (is_through(whole, by) && builder.own_gradient_of(whole.result) == nullptr) {
      followed.push_back(whole.result);
      builder.add({.results = {whole.result},
                   .by = whole.operands,
                   .rule = [&builder, whole](std::span<const ValueId> upstream) {
                     return follow_call(builder, whole, upstream.front());
                   }});
    }
  }
  std::vector<ValueId> found = gradients(builder, of, targets);
  for (const ValueId result : followed) {
    builder.forget_own_gradient_of(result);
  }
  return found;
}

}  // namespace mtf::host
