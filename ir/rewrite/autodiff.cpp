// The backward pass. A slot per value collects its gradient; a slot may hold fewer dims than its
// value as long as it is only added to (the gradient is constant along the missing ones), and gets
// all of them before an operation reads it.

#include "ir/rewrite/autodiff.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ir/rewrite/branch.h"

namespace mtf {
namespace {

// What gradients of the value flow to.
const std::vector<ValueId>& depends_on(Builder& builder, ValueId id) {
  const OwnGradient* own = builder.own_gradient_of(id);
  return own != nullptr ? own->by : builder.program().at(id).operands;
}

// Per value up to `of`: does a gradient that arrives there reach one of the targets? Nothing flows
// through integers, or through an operation without a gradient rule.
Adjoints adjoints_towards(Builder& builder, ValueId of, std::span<const ValueId> targets) {
  const Program& program = builder.program();
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
    for (const ValueId id : depends_on(builder, {static_cast<std::int32_t>(i)})) {
      wanted = wanted || adjoints.at(id).wanted;
    }
  }
  return adjoints;
}

// Whether the operation passes its gradient on to anybody who wants it.
bool passes_on(Builder& builder, ValueId id, const Adjoints& adjoints) {
  const Value& value = builder.program().at(id);
  if (value.op == nullptr || value.op->grad == nullptr) {
    return false;
  }
  return std::ranges::any_of(depends_on(builder, id),
                             [&](ValueId on) { return adjoints.at(on).wanted; });
}

ValueId with_dims_of(Builder& builder, ValueId gradient, ValueId value) {
  const Shape& shape = builder.type_of(value).shape;
  if (same_dims(builder.type_of(gradient).shape, shape)) {
    return gradient;
  }
  return builder.emit(Algebra::kBroadcast, {gradient}, to_shape(shape));
}

ValueId with_type_of(Builder& builder, ValueId gradient, ValueId value) {
  const TensorType type = builder.type_of(value);
  return builder.ordered(builder.cast(gradient, type.dtype), type.shape);
}

ValueId zeros_like(Builder& builder, ValueId value) {
  const TensorType type = builder.type_of(value);
  OpArgs args;
  args.set("shape", type.shape);
  args.set("value", 0.0);
  args.set("dtype", type.dtype);
  return builder.emit(Primitive::kFill, {}, std::move(args));
}

// In the wide dtype, where one of the two may be in it already.
ValueId added(Builder& builder, ValueId a, ValueId b) {
  return builder.emit(Primitive::kAdd, {builder.widened(a), builder.widened(b)});
}

}  // namespace

GradBuilder::GradBuilder(Builder& builder, ValueId result, ValueId upstream, Adjoints& adjoints)
    : builder_(builder),
      result_(result),
      upstream_(upstream),
      adjoints_(adjoints),
      operands_(builder.program().at(result).operands),
      seen_result_(builder.latest(result)) {
  const bool widens = !builder.program().at(result).op->narrow;
  const auto seen = [&](ValueId id) { return widens ? builder.widened(id) : id; };
  upstream_ = seen(upstream_);
  seen_result_ = seen(seen_result_);
  for (const ValueId operand : operands_) {
    seen_.push_back(seen(builder.latest(operand)));
  }
}

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
  assert(wide_of(type_of(gradient).dtype) == wide_of(operand.dtype));
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
    OpArgs to = to_shape(complete ? operand.shape : kept);
    to.set("dtype", wide_of(operand.dtype));
    gradient = builder_.emit(Algebra::kSum, {gradient}, std::move(to));
  }
  const ValueId below = taken_below(builder_, adjoints_, result_, i, taken);
  Adjoint& slot = adjoints_.at(operands_[i]);
  if (!slot.gradient.valid()) {
    slot.gradient = gradient;
    slot.taken = below;
    return;
  }
  slot.gradient = added(builder_, slot.gradient, gradient);
  if (slot.taken != below) {
    const bool both = slot.taken.valid() && below.valid();
    slot.taken = both ? builder_.emit(Primitive::kOr, {slot.taken, below}) : ValueId{};
  }
}

namespace {

// Computes the block of a value anew, up to the value, unless that was done. What lies before the
// block is kept, and read as it is; what the gradients turn out not to need is dropped later.
void recompute_block(Builder& builder, ValueId id) {
  Program& program = builder.program();
  std::vector<ValueId>& copies = builder.copies();
  const std::int32_t block = program.at(id).recompute.block;
  if (block < 0 || copies[at(id)].valid()) {
    return;
  }
  const auto again = static_cast<std::int32_t>(program.values.size());
  const auto is_in = [&](ValueId value) {  // inputs come up as they are asked for
    return program.at(value).op == nullptr || program.at(value).recompute.block == block;
  };
  ValueId next = id;
  while (next.index > 0 && is_in({next.index - 1})) {
    --next.index;
  }
  for (; next <= id; ++next.index) {
    const Value& original = program.at(next);
    if (original.op == nullptr || original.op->effect) {
      continue;
    }
    Value copy = original;
    for (ValueId& operand : copy.operands) {
      operand = builder.latest(operand);
    }
    const ValueId first = original.recompute.of.valid() ? original.recompute.of : next;
    copy.recompute = {.block = builder.recompute().block, .again = again, .of = first};
    copy.backward = true;
    copy.name.clear();
    program.values.push_back(std::move(copy));
    copies[at(next)] = program.last();
  }
}

// Where the results of a program's own gradient begin, its rule gives those of what it is by.
void follow_own(Builder& builder, const OwnGradient& own, Adjoints& adjoints) {
  std::vector<ValueId> upstream;
  for (const ValueId result : own.results) {
    const ValueId gradient =
        adjoints.slots.size() > at(result) ? adjoints.at(result).gradient : ValueId{};
    upstream.push_back(gradient.valid()
                           ? with_type_of(builder, with_dims_of(builder, gradient, result), result)
                           : zeros_like(builder, result));
  }
  const std::vector<ValueId> by = own.by;
  const std::vector<ValueId> gradients = own.rule(upstream);
  for (std::size_t i = 0; i < by.size() && i < gradients.size(); ++i) {
    Adjoint& slot = adjoints.at(by[i]);
    if (!slot.wanted || !gradients[i].valid()) {
      continue;
    }
    slot.taken = {};
    slot.gradient =
        slot.gradient.valid() ? added(builder, slot.gradient, gradients[i]) : gradients[i];
  }
}

bool any_gradient(const OwnGradient& own, const Adjoints& adjoints) {
  return std::ranges::any_of(own.results, [&](ValueId result) {
    return at(result) < adjoints.slots.size() && adjoints.at(result).gradient.valid();
  });
}

// One step backwards: from the gradient of a value to those of what it was computed from.
void go_back(Builder& builder, ValueId id, Adjoints& adjoints) {
  if (!adjoints.at(id).wanted) {
    return;
  }
  const OwnGradient* own = builder.own_gradient_of(id);
  const bool is_there = own != nullptr ? own->results.front() == id && any_gradient(*own, adjoints)
                                       : adjoints.at(id).gradient.valid();
  if (!is_there) {
    return;
  }
  const Value& value = builder.program().at(id);
  builder.at(value.span, value.frame);
  builder.within(value.region);
  const OpDef* op = value.op;
  ValueId& gradient = adjoints.at(id).gradient;
  if (gradient.valid()) {
    // What goes back to a wide tensor through a cast is not rounded on its way.
    const bool stays_wide = op != nullptr && op->primitive == Primitive::kCast;
    const ValueId own_dtype =
        stays_wide ? gradient : builder.cast(gradient, builder.type_of(id).dtype);
    gradient = with_dims_of(builder, own_dtype, id);
  }
  if (!passes_on(builder, id, adjoints)) {
    return;
  }
  const Recomputation outer = builder.recompute();
  recompute_block(builder, id);
  if (const ValueId copy = builder.latest(id); copy != id) {
    // What a rule computes of what the block was given must not be kept from the first time.
    const std::int32_t again = builder.program().at(copy).recompute.again;
    builder.recompute({.block = outer.block, .again = again, .of = {}});
  }
  if (own != nullptr) {
    follow_own(builder, *own, adjoints);
  } else {
    GradBuilder grad(builder, id, adjoints.at(id).gradient, adjoints);
    op->grad(grad);
  }
  builder.recompute(outer);
}

// A gradient is called as what it is one of; and so is what was computed anew. (Of a gradient of
// several, that holds for the last.)
void name_gradients(Builder& builder, ValueId of, const Adjoints& adjoints) {
  std::vector<Let>& lets = builder.program().lets;
  for (std::size_t i = 0, count = lets.size(); i < count; ++i) {
    const auto [path, value] = lets[i];
    if (value > of) {
      continue;
    }
    const ValueId gradient = adjoints.at(value).gradient;
    if (gradient.valid() &&
        same_dims(builder.type_of(gradient).shape, builder.type_of(value).shape)) {
      lets.push_back({.path = path, .value = gradient});
    }
    if (const ValueId copy = builder.latest(value); copy != value) {
      lets.push_back({.path = path, .value = copy});
    }
  }
}

}  // namespace

std::vector<ValueId> gradients(Builder& builder, ValueId of, std::span<const ValueId> targets) {
  assert(builder.type_of(of).shape.rank() == 0 && is_float(builder.type_of(of).dtype));
  Adjoints adjoints = adjoints_towards(builder, of, targets);
  const SourceSpan span = builder.span();
  const std::int32_t frame = builder.frame();
  const std::int32_t region = builder.region();
  const bool outer = builder.is_backward();
  const std::vector<ValueId> outer_copies =
      std::exchange(builder.copies(), std::vector<ValueId>(at(of) + 1));
  builder.backward(true);
  if (adjoints.at(of).wanted) {
    adjoints.at(of).gradient = builder.scalar(1.0, builder.type_of(of).dtype);
  }
  for (ValueId id = of; id.valid(); --id.index) {
    go_back(builder, id, adjoints);
  }
  name_gradients(builder, of, adjoints);
  builder.copies() = outer_copies;
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
