#include "lowering/partition/reason.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lowering/partition/stages.h"

namespace mtf {
namespace {

// How a dim is split that a reason speaks of: moves on the way may have put what it was split over
// into another order than that of a rule.
enum class Told : std::uint8_t { kHad, kHas };

// Of these axes, empty unless the dim has them all.
std::vector<Cause> causes_on(const Target& target, std::size_t dim, const Axes& axes, Told told) {
  const Axes& has = target.layout.dims[dim];
  Axes shared;
  std::vector<Cause> causes;
  for (std::size_t a = 0; a < has.size(); ++a) {
    if (std::ranges::find(axes, has[a]) != axes.end()) {
      shared.push_back(has[a]);
      causes.push_back(target.causes[dim][a]);
    }
  }
  const bool all = told == Told::kHad ? shared.size() == axes.size() : shared == axes;
  return all ? causes : std::vector<Cause>();
}

// What one value says that has all of the axes on the dim by one rule; none where that takes
// several of them.
Cause cause_of(const SpmdProgram& program, const std::string& dim, const Axes& axes,
               const std::vector<ValueId>& values, Told told) {
  for (const ValueId id : values) {
    const Target& target = program.target(id);
    const std::optional<std::size_t> d = program.source.at(id).type.shape.index_of(dim);
    if (!d || target.layout.dims.empty()) {
      continue;
    }
    const std::vector<Cause> causes = causes_on(target, *d, axes, told);
    const bool is_one = std::ranges::all_of(
        causes, [&](const Cause& cause) { return is_same(cause, causes.front()); });
    if (!causes.empty() && is_one) {
      return causes.front();
    }
  }
  return {};
}

Cause first_cause(const SpmdProgram& program, ValueId id) {
  for (const std::vector<Cause>& of_dim : program.target(id).causes) {
    if (!of_dim.empty()) {
      return of_dim.front();
    }
  }
  return {};
}

// The operands of an operation, and its result.
std::vector<ValueId> around(const SpmdProgram& program, ValueId id) {
  std::vector<ValueId> values = program.source.at(id).operands;
  values.push_back(id);
  return values;
}

// A partial sum comes from the reduced loops of its operation, or of one that it only passed
// through.
std::vector<Reason> reduced(const SpmdProgram& program, std::span<const std::int32_t> makers,
                            const Step& step) {
  const auto maker = [&](ValueId id) {
    const std::int32_t made = makers[static_cast<std::size_t>(id.index)];
    return made < 0 ? nullptr : &program.steps[static_cast<std::size_t>(made)].calls.front();
  };
  const auto overlaps = [&](const Axes& axes) {
    return std::ranges::any_of(axes, [&](AxisId axis) { return has(step.axes, axis); });
  };
  std::vector<Reason> reasons;
  const LocalCall* call = maker(program.at(step.from).origin);
  while (call != nullptr) {
    for (std::size_t l = 0; l < call->split->loops.size(); ++l) {
      const LoopDim& loop = call->split->space->loops[l];
      if (loop.role == DimRole::kReduced && overlaps(call->split->loops[l])) {
        reasons.push_back({.kind = ReasonKind::kReduced,
                           .span = program.source.at(call->origin).span,
                           .cause = cause_of(program, loop.name, call->split->loops[l],
                                             around(program, call->origin), Told::kHas),
                           .dim = loop.name,
                           .has = call->split->loops[l]});
      }
    }
    if (!reasons.empty() && carried_by(program, step)) {
      reasons.push_back(
          {.kind = ReasonKind::kCarried, .span = program.source.at(call->origin).span});
    }
    if (!reasons.empty() || call->operands.empty()) {
      break;
    }
    call = maker(program.at(call->operands.front()).origin);
  }
  return reasons;
}

// The axes of a step that were not there where its moves began, nor are behind it.
Axes shared_axes(const SpmdProgram& program, const Step& step) {
  SpmdId first = step.from;
  for (std::size_t s = program.steps.size(); s-- > 0;) {
    const Step& before = program.steps[s];
    if (before.kind == StepKind::kKernel || before.to != first) {
      break;
    }
    first = before.from;
  }
  Axes shared;
  std::ranges::copy_if(step.axes, std::back_inserter(shared), [&](AxisId axis) {
    return !program.at(first).layout->uses(axis) && !program.at(step.to).layout->uses(axis);
  });
  return shared;
}

std::vector<Reason> moved(const SpmdProgram& program, const Step& step) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  const Value& user = program.source.at(step.need.user);
  std::vector<Reason> reasons;
  if (from.layout->where != to.layout->where) {
    reasons.push_back({.kind = ReasonKind::kHolders,
                       .span = user.span,
                       .cause = first_cause(program, from.origin)});
    if (step.kind == StepKind::kBroadcast) {
      return reasons;
    }
  }
  std::vector<ValueId> values = {from.origin};
  if (step.need.user != from.origin) {
    std::ranges::copy(around(program, step.need.user), std::back_inserter(values));
  }
  for (std::size_t d = 0; d < from.type.shape.rank(); ++d) {
    const Axes& had = from.layout->dims[d];
    const Axes& has = to.layout->dims[d];
    const bool reaches =
        std::ranges::find(to.layout->reach, d, &Reach::dim) != to.layout->reach.end();
    if (had != has && !reaches) {
      const std::string& dim = from.type.shape[d].name;
      reasons.push_back({.kind = ReasonKind::kResplit,
                         .span = user.span,
                         .cause = tells_has(had, has, step.need.user == from.origin)
                                      ? cause_of(program, dim, has, values, Told::kHas)
                                      : cause_of(program, dim, had, values, Told::kHad),
                         .dim = dim,
                         .had = had,
                         .has = has});
    }
  }
  for (const Reach& reach : to.layout->reach) {
    const std::string& dim = from.type.shape[reach.dim].name;
    const Axes& has = to.layout->dims[reach.dim];
    reasons.push_back({.kind = ReasonKind::kWindow,
                       .span = user.span,
                       .cause = cause_of(program, dim, has, values, Told::kHas),
                       .dim = dim,
                       .had = from.layout->dims[reach.dim],
                       .has = has});
  }
  if (Axes shared = shared_axes(program, step); !shared.empty()) {
    reasons.push_back({.kind = ReasonKind::kShared, .span = user.span, .had = std::move(shared)});
  }
  return reasons;
}

// The dims that an operation moves, and those that come from elsewhere with them.
std::vector<Reason> sent(const SpmdProgram& program, const Step& step) {
  const LocalCall& call = step.calls.front();
  const SpmdValue& from = program.at(step.from);
  std::vector<Reason> reasons;
  for (const MovedDim& read : reads_of(call.split->space)) {
    const bool is_moved =
        std::ranges::find(call.split->space->moved, read) != call.split->space->moved.end();
    const Axes& had = from.layout->dims[read.dim];
    const Axes has = read.to ? program.at(step.to).layout->dims[*read.to] : Axes();
    if (had.empty() || (!is_moved && had == has)) {
      continue;
    }
    const std::string& dim = from.type.shape[read.dim].name;
    reasons.push_back({.kind = is_moved ? ReasonKind::kMoved : ReasonKind::kResplit,
                       .span = program.source.at(call.origin).span,
                       .cause = cause_of(program, dim, had, {from.origin, call.origin}, Told::kHad),
                       .dim = dim,
                       .had = had,
                       .has = has});
  }
  return reasons;
}

// The dims that are read at indices.
std::vector<Reason> served(const SpmdProgram& program, const Step& step) {
  const LocalCall& call = step.calls.front();
  const SpmdValue& from = program.at(step.from);
  std::vector<Reason> reasons;
  for (const ServedDim& served : call.split->space->served) {
    const std::string& dim = from.type.shape[served.dim].name;
    const Axes& had = from.layout->dims[served.dim];
    if (program.mesh.size_of(had) > 1) {
      reasons.push_back({.kind = ReasonKind::kServed,
                         .span = program.source.at(call.origin).span,
                         .cause = cause_of(program, dim, had, {from.origin}, Told::kHad),
                         .dim = dim,
                         .had = had});
    }
  }
  return reasons;
}

// The dim of whose parts digests are.
std::vector<Reason> told(const SpmdProgram& program, std::span<const std::int32_t> makers,
                         const Step& step) {
  const std::int32_t made = makers[static_cast<std::size_t>(step.need.user.index)];
  const LocalCall& call = program.steps[static_cast<std::size_t>(made)].calls.front();
  const std::size_t loop = digested_loop(call.split->space);
  const LoopDim& dim = call.split->space->loops[loop];
  return {{.kind = dim.role == DimRole::kScanned  ? ReasonKind::kScanned
                   : dim.role == DimRole::kSorted ? ReasonKind::kSorted
                                                  : ReasonKind::kSelected,
           .span = program.source.at(call.origin).span,
           .cause = cause_of(program, dim.name, call.split->loops[loop],
                             around(program, call.origin), Told::kHas),
           .dim = dim.name,
           .has = call.split->loops[loop]}};
}

}  // namespace

bool tells_has(const Axes& had, const Axes& has, bool is_finished) {
  return has.size() >= had.size() || (is_finished && !has.empty());
}

bool is_same(const Cause& a, const Cause& b) {
  return a.kind == b.kind && a.span == b.span && a.rule == b.rule && a.from == b.from &&
         a.through == b.through;
}

std::vector<Reason> reasons_of_move(const SpmdProgram& program,
                                    std::span<const std::int32_t> makers, const Step& step) {
  const bool reduces = step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter ||
                       step.kind == StepKind::kReduce;
  if (!step.calls.empty()) {
    return step.kind == StepKind::kServe ? served(program, step) : sent(program, step);
  }
  if (is_digest(program, step.from)) {
    return told(program, makers, step);
  }
  return reduces ? reduced(program, makers, step) : moved(program, step);
}

}  // namespace mtf
