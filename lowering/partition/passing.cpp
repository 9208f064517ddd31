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
  const Value& value = source.at(id);
  if (value.operands.empty()) {
    return {.local = unsplit_call(source, id)};
  }
  const Number number = plans.known.call(source, id);
  const KnownCall& known = plans.known[number];
  UnsplitCall call{.local = {}, .number = number};
  call.local.call = {.op = value.op,
                     .operands = known.operands,
                     .args = value.args,
                     .result = known.result,
                     .span = value.span,
                     .operand_spans = {}};
  call.local.origin = id;
  call.local.space = known.space;
  return call;
}

namespace {

LoopSplit searched(MeshPlans& plans, const SpmdProgram& program, const Forms& forms,
                   const LocalCall& local, const OpDef* adds) {
  const ValueId id = local.origin;
  const Value& value = program.source.at(id);
  std::vector<ValueLayout> operands;
  for (const ValueId operand : value.operands) {
    operands.push_back(forms.target(operand));
  }
  return choose_split({.call = local.call,
                       .space = local.space,
                       .operands = operands,
                       .result = forms.target(id),
                       .firm = firm_layouts(program, id),
                       .copies = forms.copies_of(value),
                       .pinned = pinned_operands(program.source, value),
                       .adds = adds,
                       .price_only = plans.plan_for.price_only},
                      plans.resharder, plans.mesh);
}

KnownSplit split_from(MeshPlans& plans, LoopSplit split, const LocalCall& local,
                      const ValueLayout& wanted, const OpDef* adds) {
  KnownSplit known{.split = std::move(split)};
  const std::vector<Axes>& loops = known.split.loops;
  const StagedSum stages = in_stages({.call = local.call, .space = local.space, .loops = loops},
                                     adds, wanted, plans.resharder, plans.mesh);
  known.is_plain = stages.stages.empty() && !local.call.op->effect &&
                   !digest_move(local.call, local.space, loops, plans.mesh) &&
                   served_axes(local.space, loops, plans.mesh).empty();
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
  OpCall call = local.call;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    call.operands[i] = here(call.operands[i], known.split.operands[i]);
  }
  call.result = known.local = here(call.result, known.split.result);
  known.flops = call.op->flops == nullptr ? 0 : call.op->flops(call);
  return known;
}

}  // namespace

const KnownSplit& split_by_rules(MeshPlans& plans, const SpmdProgram& program, Forms& forms,
                                 const UnsplitCall& call, const OpDef* adds, KnownSplit& fresh) {
  const ValueId id = call.local.origin;
  const auto find = [&] {
    return split_from(plans, searched(plans, program, forms, call.local, adds), call.local,
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
  LocalCall local = unsplit_call(program.source, id);
  local.loops = project(local.space->result, to, local.space, program.mesh);
  std::optional<ValueLayout> made =
      layout_from_loops(local.space->result, local.loops, local.space, program.mesh);
  if (made && can_hold(*made, to.where)) {
    made->where = to.where;
  }
  return made == to ? std::optional(std::move(local)) : std::nullopt;
}

SpmdId source_of_elements(MeshPlans& plans, const SpmdProgram& program, const Forms& forms,
                          LocalCall& local, const ValueLayout& to) {
  const ValueId operand = program.source.at(local.origin).operands.front();
  local.loops = project(local.space->result, to, local.space, program.mesh);
  const auto whole =
      layout_from_loops(local.space->operands.front(), local.loops, local.space, program.mesh);
  const Forms::Source source = forms.nearest_source(operand, local, to);
  if (!source.form.valid()) {
    return {};
  }
  const SpmdValue& nearest = program.at(forms.nearest(operand, *whole));
  const std::int64_t gathered =
      plans.resharder.received(nearest.type.shape, nearest.layout, *whole);
  return gathered <= source.received ? SpmdId{} : source.form;
}

}  // namespace mtf
