// The backward pass. A slot per value collects its gradient; a slot may hold fewer dims than its
// value as long as it is only added to (the gradient is constant along the missing ones), and gets
// all of them before an operation reads it.

#include "ir/rewrite/autodiff.h"

#include <algorithm>
#include <cassert>

#include "ir/rewrite/branch.h"

namespace mtf {
namespace {

// Per value up to `of`: does a gradient that arrives there reach one of the targets? Nothing flows
// through integers, or through an operation without a gradient rule.
Adjoints adjoints_towards(const Program& program, ValueId of, std::span<const ValueId> targets) {
  Adjoints adjoints{.slots = std::vector<Adjoint>(at(of) + 1)};
  for (const ValueId target : targets) {
    if (target <= of) {
      adjoints.at(target).wanted = true;
    }
  }
  for (std::size_t i = 0; i < adjoints.slots.size(); ++i) {
    const Value& value = program.values[i];
    bool& wanted = adjoints.slots[i].wanted;
    if (!is_float(value.type.dtype)) {
      wanted = false;
      continue;
    }
    if (value.op == nullptr || value.op->grad == nullptr) {
      continue;
    }
    for (const ValueId operand : value.operands) {
      wanted = wanted || adjoints.at(operand).wanted;
    }
  }
  return adjoints;
}

// Whether the operation passes its gradient on to anybody who wants it.
bool passes_on(const Value& value, const Adjoints& adjoints) {
  if (value.op == nullptr || value.op->grad == nullptr) {
    return false;
  }
  return std::ranges::any_of(value.operands,
                             [&](ValueId operand) { return adjoints.at(operand).wanted; });
}

ValueId with_dims_of(Builder& builder, ValueId gradient, ValueId value) {
  const Shape& shape = builder.type_of(value).shape;
  if (same_dims(builder.type_of(gradient).shape, shape)) {
    return gradient;
  }
  return builder.emit(Algebra::kBroadcast, {gradient}, to_shape(shape));
}

ValueId with_type_of(Builder& builder, ValueId gradient, ValueId value) {
  const Shape& shape = builder.type_of(value).shape;
  if (builder.type_of(gradient).shape == shape) {
    return gradient;
  }
  return builder.emit(Algebra::kTranspose, {gradient}, to_shape(shape));
}

}  // namespace

bool GradBuilder::wants(std::size_t i) const {
  return adjoints_.at(operands_[i]).wanted;
}

void GradBuilder::add_to(std::size_t i, ValueId gradient) {
  if (wants(i)) {
    const ValueId taken = adjoints_.at(result_).taken;
    collect(i, guarded(builder_, result_, i, gradient, taken), taken);
  }
}

void GradBuilder::add_where(ValueId taken, std::size_t i, ValueId gradient) {
  if (wants(i)) {
    const ValueId above = adjoints_.at(result_).taken;
    collect(i, gradient, above.valid() ? builder_.emit(Primitive::kAnd, {above, taken}) : taken);
  }
}

// `taken` is about the result.
void GradBuilder::collect(std::size_t i, ValueId gradient, ValueId taken) {
  const Shape wide = type_of(gradient).shape;
  const TensorType operand = type_of(operands_[i]);
  assert(type_of(gradient).dtype == operand.dtype);
  Shape kept = wide;
  for (const Dim& dim : wide.dims()) {
    if (!operand.shape.has(dim.name)) {
      kept = kept.without(dim.name);
    }
  }
  assert(contains(operand.shape, kept));
  if (kept.rank() < wide.rank()) {
    // In the operand's order where nothing is missing, so that no transpose is needed later.
    const bool complete = kept.rank() == operand.shape.rank();
    gradient = builder_.emit(Algebra::kSum, {gradient}, to_shape(complete ? operand.shape : kept));
  }
  const ValueId below = taken_below(builder_, adjoints_, result_, i, taken);
  Adjoint& slot = adjoints_.at(operands_[i]);
  if (!slot.gradient.valid()) {
    slot.gradient = gradient;
    slot.taken = below;
    return;
  }
  slot.gradient = builder_.emit(Primitive::kAdd, {slot.gradient, gradient});
  if (slot.taken != below) {
    const bool both = slot.taken.valid() && below.valid();
    slot.taken = both ? builder_.emit(Primitive::kOr, {slot.taken, below}) : ValueId{};
  }
}

std::vector<ValueId> gradients(Builder& builder, ValueId of, std::span<const ValueId> targets) {
  assert(builder.type_of(of).shape.rank() == 0 && is_float(builder.type_of(of).dtype));
  Adjoints adjoints = adjoints_towards(builder.program(), of, targets);
  const SourceSpan span = builder.span();
  const std::int32_t frame = builder.frame();
  const std::int32_t region = builder.region();
  const bool outer = builder.is_backward();
  builder.backward(true);
  if (adjoints.at(of).wanted) {
    adjoints.at(of).gradient = builder.scalar(1.0, builder.type_of(of).dtype);
  }
  for (ValueId id = of; id.valid(); --id.index) {
    Adjoint& slot = adjoints.at(id);
    if (!slot.wanted || !slot.gradient.valid()) {
      continue;
    }
    const OpDef* op = builder.program().at(id).op;
    builder.at(builder.program().at(id).span, builder.program().at(id).frame);
    builder.within(builder.program().at(id).region);
    slot.gradient = with_dims_of(builder, slot.gradient, id);
    if (passes_on(builder.program().at(id), adjoints)) {
      GradBuilder grad(builder, id, slot.gradient, adjoints);
      op->grad(grad);
    }
  }
  builder.at(span, frame);
  builder.within(region);
  builder.backward(outer);
  std::vector<ValueId> result;
  for (const ValueId target : targets) {
    const ValueId found = target <= of ? adjoints.at(target).gradient : ValueId{};
    result.push_back(found.valid() ? with_type_of(builder, found, target) : ValueId{});
  }
  return result;
}

}  // namespace mtf
