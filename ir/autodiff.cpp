// The backward pass. A slot per value collects its gradient; a slot may hold fewer dims than its
// value as long as it is only added to (the gradient is constant along the missing ones), and gets
// all of them before an operation reads it.

#include "ir/autodiff.h"

#include <algorithm>
#include <cassert>

namespace mtf {
namespace {

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

OpArgs to_shape(Shape shape) {
  OpArgs args;
  args.set("to", std::move(shape));
  return args;
}

// Per value up to `of`: does a gradient that arrives there reach one of the targets? Nothing flows
// through integers, or through an operation without a gradient rule.
std::vector<char> values_towards(const Program& program, ValueId of,
                                 std::span<const ValueId> targets) {
  std::vector<char> wanted(at(of) + 1);
  for (const ValueId target : targets) {
    if (at(target) < wanted.size()) {
      wanted[at(target)] = 1;
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Value& value = program.values[i];
    if (!is_float(value.type.dtype)) {
      wanted[i] = 0;
      continue;
    }
    if (value.op == nullptr || value.op->grad == nullptr) {
      continue;
    }
    for (const ValueId operand : value.operands) {
      wanted[i] = static_cast<char>(wanted[i] | wanted[at(operand)]);
    }
  }
  return wanted;
}

// Whether the operation passes its gradient on to anybody who wants it.
bool passes_on(const Value& value, std::span<const char> wanted) {
  if (value.op == nullptr || value.op->grad == nullptr) {
    return false;
  }
  return std::ranges::any_of(value.operands,
                             [&](ValueId operand) { return wanted[at(operand)] != 0; });
}

ValueId with_dims_of(Builder& builder, ValueId gradient, ValueId value) {
  const Shape& shape = builder.type_of(value).shape;
  if (same_dims(builder.type_of(gradient).shape, shape)) {
    return gradient;
  }
  return builder.emit("broadcast", {gradient}, to_shape(shape));
}

ValueId with_type_of(Builder& builder, ValueId gradient, ValueId value) {
  const Shape& shape = builder.type_of(value).shape;
  if (builder.type_of(gradient).shape == shape) {
    return gradient;
  }
  return builder.emit("transpose", {gradient}, to_shape(shape));
}

}  // namespace

bool GradBuilder::wants(std::size_t i) const {
  return wanted_[at(operands_[i])] != 0;
}

void GradBuilder::add_to(std::size_t i, ValueId gradient) {
  if (!wants(i)) {
    return;
  }
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
    gradient = emit("sum", {gradient}, to_shape(complete ? operand.shape : kept));
  }
  ValueId& slot = grad_of_[at(operands_[i])];
  slot = slot.valid() ? emit("add", {slot, gradient}) : gradient;
}

std::vector<ValueId> gradients(Builder& builder, ValueId of, std::span<const ValueId> targets) {
  assert(builder.type_of(of).shape.rank() == 0 && is_float(builder.type_of(of).dtype));
  const std::vector<char> wanted = values_towards(builder.program(), of, targets);
  std::vector<ValueId> grad_of(wanted.size());
  const SourceSpan span = builder.span();
  const std::int32_t frame = builder.frame();
  const std::int32_t region = builder.region();
  const bool outer = builder.is_backward();
  builder.backward(true);
  if (wanted[at(of)] != 0) {
    grad_of[at(of)] = builder.scalar(1.0, builder.type_of(of).dtype);
  }
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (wanted[i] == 0 || !grad_of[i].valid()) {
      continue;
    }
    const ValueId id{static_cast<std::int32_t>(i)};
    const OpDef* op = builder.program().at(id).op;
    builder.at(builder.program().at(id).span, builder.program().at(id).frame);
    builder.within(builder.program().at(id).region);
    grad_of[i] = with_dims_of(builder, grad_of[i], id);
    if (passes_on(builder.program().at(id), wanted)) {
      GradBuilder grad(builder, id, grad_of[i], grad_of, wanted);
      op->grad(grad);
    }
  }
  builder.at(span, frame);
  builder.within(region);
  builder.backward(outer);
  std::vector<ValueId> result;
  for (const ValueId target : targets) {
    const bool reached = at(target) < grad_of.size() && grad_of[at(target)].valid();
    result.push_back(reached ? with_type_of(builder, grad_of[at(target)], target) : ValueId{});
  }
  return result;
}

}  // namespace mtf
