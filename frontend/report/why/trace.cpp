#include "frontend/report/why/trace.h"

#include <algorithm>

namespace mtf {
namespace {

std::size_t index(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

std::size_t index(SpmdId id) {
  return static_cast<std::size_t>(id.index);
}

bool is_of(const DimMap& map, std::size_t dim, std::size_t loop) {
  return dim < map.size() && std::ranges::find(map[dim], loop) != map[dim].end();
}

}  // namespace

std::optional<std::size_t> dim_with(const ValueLayout& layout, AxisId axis) {
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    if (has(layout.dims[d], axis)) {
      return d;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> loop_with(const LocalCall& call, AxisId axis) {
  for (std::size_t l = 0; l < call.split->loops.size(); ++l) {
    if (has(call.split->loops[l], axis)) {
      return l;
    }
  }
  return std::nullopt;
}

Tracer::Tracer(const SpmdProgram& program)
    : program_(program),
      by_value_(program.source.values.size()),
      by_slice_(program.values.size()),
      steps_(program.values.size()),
      slices_(program.source.values.size()) {
  find_slices();
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::kKernel) {
      steps_[index(step.to)] = &step;
    }
    for (const LocalCall& call : step.calls) {
      if (by_value_[index(call.origin)] == nullptr) {
        by_value_[index(call.origin)] = &call;
      }
      if (call.result.valid()) {
        by_slice_[index(call.result)] = &call;
        steps_[index(call.result)] = &step;
      }
    }
  }
}

void Tracer::find_slices() {
  for (std::size_t v = program_.values.size(); v-- > 0;) {
    const SpmdValue& value = program_.values[v];
    if (is_sum_of_blocks(program_, {static_cast<std::int32_t>(v)})) {
      continue;
    }
    SpmdId& slice = slices_[index(value.origin)];
    if (!slice.valid() || program_.at(slice).layout != program_.target(value.origin).layout ||
        value.layout == program_.target(value.origin).layout) {
      slice = {static_cast<std::int32_t>(v)};
    }
  }
}

const LocalCall* Tracer::maker(ValueId id) const {
  return by_value_[index(id)];
}

const LocalCall* Tracer::maker(SpmdId id) const {
  return by_slice_[index(id)];
}

const LocalCall* Tracer::first_maker(SpmdId id) const {
  while (maker(id) == nullptr && step(id) != nullptr) {
    id = step(id)->from;
  }
  return maker(id);
}

SpmdId Tracer::slice(ValueId id) const {
  return slices_[index(id)];
}

const Step* Tracer::step(SpmdId id) const {
  return steps_[index(id)];
}

Path Tracer::at_rest(ValueId id, AxisId axis) const {
  Path path{.axis = axis, .hops = {}};
  while (id.valid() && path.hops.size() < program_.source.values.size()) {
    const Target& target = program_.target(id);
    const std::optional<std::size_t> dim = dim_with(target.layout, axis);
    if (!dim) {
      break;
    }
    const auto place = static_cast<std::size_t>(std::ranges::find(target.layout.dims[*dim], axis) -
                                                target.layout.dims[*dim].begin());
    const Cause& cause = target.causes[*dim][place];
    path.hops.push_back(
        {.value = id, .dim = program_.source.at(id).type.shape[*dim].name, .cause = cause});
    id = ValueId{cause.from};
  }
  return path;
}

std::vector<Path> Tracer::of_loop(const LocalCall& call, std::size_t loop, AxisId axis) const {
  std::vector<Path> paths;
  std::set<std::int32_t> seen;
  add_loop(call, loop, axis, seen, paths);
  return paths;
}

std::vector<Path> Tracer::of_slice(SpmdId id, AxisId axis) const {
  std::vector<Path> paths;
  std::set<std::int32_t> seen;
  add_slice(id, axis, seen, paths);
  return paths;
}

void Tracer::add_loop(const LocalCall& call, std::size_t loop, AxisId axis,
                      std::set<std::int32_t>& seen, std::vector<Path>& paths) const {
  if (!call.operands.empty() && is_sum_of_blocks(program_, call.operands.front())) {
    add_slice(call.operands.front(), axis, seen, paths);  // a later stage of a sum
    return;
  }
  std::vector<ValueId> tensors = program_.source.at(call.origin).operands;
  std::vector<DimMap> maps = call.split->space->operands;
  maps.resize(tensors.size());  // the rest reads a digest
  if (call.result.valid() && !is_sum_of_blocks(program_, call.result)) {
    tensors.push_back(call.origin);
    maps.push_back(call.split->space->result);
  }
  std::vector<ValueId> named;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::optional<std::size_t> dim = dim_with(program_.target(tensors[t]).layout, axis);
    if (dim && is_of(maps[t], *dim, loop) && std::ranges::find(named, tensors[t]) == named.end()) {
      named.push_back(tensors[t]);
      paths.push_back(at_rest(tensors[t], axis));
    }
  }
  if (!paths.empty()) {
    return;
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const std::optional<std::size_t> dim = dim_with(program_.at(call.operands[i]).layout, axis);
    if (dim && is_of(call.split->space->operands[i], *dim, loop)) {
      add_slice(call.operands[i], axis, seen, paths);
      return;
    }
  }
}

void Tracer::add_slice(SpmdId id, AxisId axis, std::set<std::int32_t>& seen,
                       std::vector<Path>& paths) const {
  if (!seen.insert(id.index).second) {
    return;  // another way to it led nowhere
  }
  const SpmdValue& value = program_.at(id);
  const std::optional<std::size_t> dim = dim_with(value.layout, axis);
  if (dim && !is_sum_of_blocks(program_, id) &&
      dim_with(program_.target(value.origin).layout, axis) == dim) {
    paths.push_back(at_rest(value.origin, axis));
    return;
  }
  if (const LocalCall* call = maker(id); call != nullptr) {
    if (const std::optional<std::size_t> loop = loop_with(*call, axis)) {
      add_loop(*call, *loop, axis, seen, paths);
    } else if (!call->operands.empty()) {  // a partial sum that passes through
      add_slice(call->operands.front(), axis, seen, paths);
    }
    return;
  }
  const Step* moved = step(id);
  if (moved == nullptr) {
    return;
  }
  const bool read = moved->need.user.valid() && moved->need.user != value.origin;
  if (const LocalCall* user = read ? maker(moved->need.user) : nullptr; user != nullptr) {
    if (const std::optional<std::size_t> loop = loop_with(*user, axis)) {
      add_loop(*user, *loop, axis, seen, paths);
    }
  }
  if (paths.empty()) {
    add_slice(moved->from, axis, seen, paths);
  }
}

}  // namespace mtf
