#include "lowering/partition/passing.h"

#include <algorithm>
#include <utility>

#include "ir/loops/loop.h"

namespace mtf {
namespace {

// The layout of all operands, if they are sums over the same axes that may wait.
std::optional<ValueLayout> partial_layout(const SpmdProgram& program, const Forms& forms,
                                          const Value& value, bool exact) {
  const Linear linear = value.op->linear;
  if (linear == Linear::kNo || value.operands.empty() || (linear == Linear::kJoint && exact)) {
    return std::nullopt;
  }
  const Shape& shape = program.source.at(value.operands.front()).type.shape;
  const ValueLayout& layout = program.at(forms.of(value.operands.front()).front()).layout;
  const bool grows = value.type.shape.volume() > shape.volume();
  if (grows || layout.partial.empty()) {
    return std::nullopt;
  }
  const bool alike = std::ranges::all_of(value.operands, [&](ValueId operand) {
    const bool settled = forms.find(operand, forms.target(operand)).valid();
    return !settled && program.at(forms.of(operand).front()).layout == layout &&
           program.source.at(operand).type.shape == shape;
  });
  return alike ? std::optional(layout) : std::nullopt;
}

}  // namespace

std::optional<LoopSplit> passing_split(const SpmdProgram& program, const Forms& forms,
                                       const Value& value, const IterationSpace& space,
                                       bool exact) {
  const std::optional<ValueLayout> layout = partial_layout(program, forms, value, exact);
  if (!layout) {
    return std::nullopt;
  }
  const Mesh& mesh = program.mesh;
  LoopSplit split;
  split.loops = project(space.operands[0], *layout, space, mesh);
  for (std::size_t i = 0; i < space.operands.size(); ++i) {
    const auto dims = operand_from_loops(i, split.loops, space, mesh);
    if (!dims || dims->dims != layout->dims || !dims->reach.empty()) {
      return std::nullopt;
    }
    split.operands.push_back(*layout);
  }
  std::optional<ValueLayout> result = layout_from_loops(space.result, split.loops, space, mesh);
  if (!result) {
    return std::nullopt;
  }
  result->partial = layout->partial;
  add_reduced(split.loops, space, *result);
  split.result = *std::move(result);
  return split;
}

LoopSplit split_by_rules(MeshPlans& plans, const SpmdProgram& program, const Forms& forms,
                         const LocalCall& local, ValueId id, const OpDef* adds) {
  const Value& value = program.source.at(id);
  std::vector<ValueLayout> operands;
  for (const ValueId operand : value.operands) {
    operands.push_back(forms.target(operand));
  }
  return plans.splits.choose({.call = local.call,
                              .space = local.space,
                              .operands = operands,
                              .result = forms.target(id),
                              .firm = firm_layouts(program, id),
                              .copies = forms.copies_of(value),
                              .pinned = pinned_operands(program.source, value),
                              .adds = adds,
                              .price_only = plans.plan_for.price_only});
}

bool is_made_of_scalars(const Program& source, ValueId id) {
  const Value& value = source.at(id);
  return value.op != nullptr && !is(value, Primitive::kCarry) &&
         std::ranges::all_of(value.operands, [&source](ValueId operand) {
           return source.at(operand).type.shape.rank() == 0;
         });
}

}  // namespace mtf
