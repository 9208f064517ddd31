#include "lowering/partition/passing.h"

#include <algorithm>
#include <utility>

#include "ir/loops/loop.h"
#include "lowering/partition/digest.h"
#include "lowering/partition/stages.h"
#include "lowering/reshard/serve.h"

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

// Nothing moves.
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

constexpr std::int64_t kLong = 4096;  // elements of a slice; of fewer, one collective is quicker

bool is_read_once(const Program& source, ValueId id) {
  std::ptrdiff_t readers = std::ranges::count(source.outputs, id) +
                           std::ranges::count(source.updates, id, &Update::value);
  for (std::size_t i = at(id) + 1; i < source.values.size() && readers < 2; ++i) {
    readers += std::ranges::count(source.values[i].operands, id);
  }
  return readers == 1;
}

// The sum's own layout, with a dim split over the axes that it is partial over. nullopt: none can.
std::optional<ValueLayout> scattered(const ValueLayout& layout, const Shape& shape,
                                     const Mesh& mesh) {
  ValueLayout result = layout;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    Axes axes = layout.dims[d];
    axes.insert(axes.end(), layout.partial.begin(), layout.partial.end());
    if (mesh.splits(shape[d].size, axes)) {
      result.dims[d] = std::move(axes);
      result.partial.clear();
      return result;
    }
  }
  return std::nullopt;
}

// All-reducing 4 bytes of an element moves them twice; of a sum that is rounded, the second time as
// what it is rounded to.
std::optional<LoopSplit> scattering_split(const SpmdProgram& program, const Forms& forms,
                                          ValueId id, const IterationSpace& space) {
  const Program& source = program.source;
  const Value& value = source.at(id);
  if (!is(value, Primitive::kCast) || program.mesh.uneven) {
    return std::nullopt;
  }
  const ValueId sum = value.operands.front();
  const SpmdValue& made = program.at(forms.of(sum).front());
  const ValueLayout& wanted = forms.target(sum);
  const bool narrows = bytes_of(value.type.dtype) < bytes_of(source.at(sum).type.dtype);
  const bool is_plain = made.layout->where.empty() && made.layout->reach.empty() &&
                        made.type.shape == source.at(sum).type.shape &&
                        wanted.dims == made.layout->dims && wanted.where.empty();
  if (!narrows || made.layout->partial.empty() || !is_plain ||
      local_shape(made.type.shape, made.layout, program.mesh).volume() < kLong ||
      forms.find(sum, wanted).valid() || !is_read_once(source, sum)) {
    return std::nullopt;
  }
  std::optional<ValueLayout> layout = scattered(made.layout, made.type.shape, program.mesh);
  if (!layout) {
    return std::nullopt;
  }
  LoopSplit split;
  split.loops = project(space.operands[0], *layout, space, program.mesh);
  split.operands = {*layout};
  split.result = *std::move(layout);
  split.scatters = true;
  return split;
}

}  // namespace

std::optional<LoopSplit> waiting_split(const SpmdProgram& program, const Forms& forms, ValueId id,
                                       const IterationSpace& space, bool exact) {
  std::optional<LoopSplit> split =
      passing_split(program, forms, program.source.at(id), space, exact);
  return split ? std::move(split) : scattering_split(program, forms, id, space);
}

UnsplitCall known_call(MeshPlans& plans, const Program& source, ValueId id) {
  if (source.at(id).operands.empty()) {
    return {.call = unsplit_call(source, id)};
  }
  const Number number = plans.known.call(source, id);
  return {.call = plans.known[number], .number = number};
}

namespace {

LoopSplit searched(MeshPlans& plans, const SpmdProgram& program, const Forms& forms, ValueId id,
                   const SplitCall& call, const OpDef* adds) {
  const Value& value = program.source.at(id);
  std::vector<ValueLayout> operands;
  for (const ValueId operand : value.operands) {
    operands.push_back(forms.target(operand));
  }
  return choose_split({.call = call.call,
                       .space = call.space,
                       .operands = operands,
                       .result = forms.target(id),
                       .firm = firm_layouts(program, id),
                       .copies = forms.copies_of(value),
                       .same = first_same(value.operands),
                       .is_kept = forms.is_kept(id),
                       .pinned = pinned_operands(program.source, value),
                       .adds = adds,
                       .price_only = plans.plan_for.price_only},
                      plans.resharder, plans.mesh);
}

KnownSplit split_from(MeshPlans& plans, LoopSplit split, const SplitCall& unsplit,
                      const ValueLayout& wanted, const OpDef* adds) {
  KnownSplit known{.call = with_loops(unsplit, split)};
  known.split = std::move(split);
  const SplitCall& whole = known.call;
  const StagedSum stages = in_stages(whole, adds, wanted, plans.resharder, plans.mesh);
  known.is_plain = stages.stages.empty() && !whole.call.op->effect &&
                   !digest_move(whole.call, whole.space, whole.loops, plans.mesh) &&
                   served_axes(whole.space, whole.loops, plans.mesh).empty();
  known.result = plans.known.layout(known.split.result);
  for (const ValueLayout& operand : known.split.operands) {
    known.operands.push_back(plans.known.layout(operand));
  }
  if (!known.is_plain) {
    return known;
  }
  const auto here = [&](const TensorType& type, const ValueLayout& layout) {
    return TensorType{type.dtype, local_shape(type.shape, layout, plans.mesh)};
  };
  OpCall call = whole.call;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    call.operands[i] = here(call.operands[i], known.split.operands[i]);
  }
  call.result = known.local = here(call.result, known.split.result);
  known.flops = call.op->flops == nullptr ? 0 : call.op->flops(call);
  return known;
}

}  // namespace

const KnownSplit& split_by_rules(MeshPlans& plans, const SpmdProgram& program, Forms& forms,
                                 ValueId id, const UnsplitCall& call, const OpDef* adds,
                                 KnownSplit& fresh) {
  const auto find = [&] {
    return split_from(plans, searched(plans, program, forms, id, call.call, adds), call.call,
                      forms.target(id), adds);
  };
  if (!call.number) {
    fresh = find();
    return fresh;
  }
  plans.problem = {*call.number};
  forms.add_problem(id, plans.problem);
  return plans.known.split(plans.problem, find);
}

bool is_made_of_scalars(const Program& source, ValueId id) {
  const Value& value = source.at(id);
  return value.op != nullptr && !is(value, Primitive::kCarry) &&
         std::ranges::all_of(value.operands, [&source](ValueId operand) {
           return source.at(operand).type.shape.rank() == 0;
         });
}

std::optional<LocalCall> made_of_scalars(const SpmdProgram& program, ValueId id,
                                         const ValueLayout& to) {
  if (!is_made_of_scalars(program.source, id)) {
    return std::nullopt;
  }
  SplitCall split = unsplit_call(program.source, id);
  split.loops = project(split.space->result, to, split.space, program.mesh);
  std::optional<ValueLayout> made =
      layout_from_loops(split.space->result, split.loops, split.space, program.mesh);
  if (made && can_hold(*made, to.where)) {
    made->where = to.where;
  }
  return made == to ? std::optional(LocalCall{.split = std::move(split), .origin = id})
                    : std::nullopt;
}

SpmdId source_of_elements(MeshPlans& plans, const SpmdProgram& program, const Forms& forms,
                          ValueId operand, const SplitCall& call, const ValueLayout& to) {
  const auto whole =
      layout_from_loops(call.space->operands.front(), call.loops, call.space, program.mesh);
  const Forms::Source source = forms.nearest_source(operand, call, to);
  if (!source.form.valid()) {
    return {};
  }
  const SpmdValue& nearest = program.at(forms.nearest(operand, *whole));
  const std::int64_t gathered =
      plans.resharder.received(nearest.type.shape, nearest.layout, *whole);
  return gathered <= source.received ? SpmdId{} : source.form;
}

}  // namespace mtf
