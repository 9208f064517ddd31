#include "frontend/report/why/otherwise.h"

#include <algorithm>
#include <cstdint>

#include "lowering/partition/split/split.h"
#include "lowering/reshard/reshard.h"
#include "lowering/reshard/reshard_parts.h"

namespace mtf {
namespace {

std::int64_t element_bytes(const SpmdProgram& program, const Step& step) {
  return static_cast<std::int64_t>(bytes_of(program.at(step.from).type.dtype));
}

// The first such step; null: there is none.
template <typename Is>
const Step* find_step(const SpmdProgram& program, const Is& is) {
  const auto found = std::ranges::find_if(program.steps, is);
  return found == program.steps.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Alternative> moved_whole(const SpmdProgram& program, const Step& step) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  ValueLayout whole = to.layout;
  for (std::size_t d = 0; d < whole.dims.size(); ++d) {
    const auto differs = std::ranges::mismatch(whole.dims[d], from.layout->dims[d]);
    whole.dims[d].erase(differs.in1, whole.dims[d].end());
  }
  if (whole == to.layout || !can_hold(whole, whole.where)) {
    return std::nullopt;  // it is a gather, an all-reduce, or for those alone that hold a slice
  }
  // Sums that stay partial move alike either way, and a reshard ends without any.
  ValueLayout before = from.layout;
  erase_if(before.partial, [&](AxisId axis) { return has(whole.partial, axis); });
  whole.partial.clear();
  Resharder resharder(program.mesh);
  const bool reduces = step.kind == StepKind::kReduceScatter;
  return Alternative{
      .text = reduces ? "an all_reduce, and a slice of it" : "an all_gather, and a slice of it",
      .bytes = resharder.received(from.type.shape, before, whole) * element_bytes(program, step),
      .instead_of = step.bytes};
}

std::optional<Alternative> moved_in_parts(const SpmdProgram& program, const Step& step) {
  const auto is_with = [&](const Step& other) {
    return other.kind != StepKind::kKernel && other.need.user == step.need.user &&
           other.need.requester == step.need.requester && other.need.operand == step.need.operand;
  };
  const Step* first = &step;
  const Step* last = &step;
  std::int64_t received = step.received;
  for (const Step* next = first; next != nullptr;) {
    first = next;
    next = find_step(program, [&](const Step& s) { return is_with(s) && s.to == first->from; });
    received += next == nullptr ? 0 : next->received;
  }
  for (const Step* next = last; next != nullptr;) {
    last = next;
    next = find_step(program, [&](const Step& s) { return is_with(s) && s.from == last->to; });
    received += next == nullptr ? 0 : next->received;
  }
  const std::optional<std::int64_t> in_parts =
      received_in_parts(program.at(step.from).type.shape, program.mesh,
                        program.at(first->from).layout, program.at(last->to).layout);
  if (!in_parts || *in_parts >= received) {
    return std::nullopt;
  }
  return Alternative{.text = "steps along parts of an axis, which mtf does not take",
                     .bytes = *in_parts * element_bytes(program, step),
                     .instead_of = received * element_bytes(program, step)};
}

std::optional<Alternative> done_whole(const SpmdProgram& program, const Step& step,
                                      const LocalCall& call) {
  const SpmdValue& from = program.at(call.operands.front());
  std::vector<Axes> loops = call.split->loops;
  if (call.split->space->digest) {
    loops[digested_loop(call.split->space)].clear();
  }
  const auto whole = layout_from_loops(call.split->space->operands.front(), loops,
                                       call.split->space, program.mesh);
  if (!whole) {
    return std::nullopt;
  }
  Resharder resharder(program.mesh);
  return Alternative{.text = "an all_gather, and " + op_in_backticks(call) + " on each rank",
                     .bytes = resharder.received(from.type.shape, from.layout, *whole) *
                              static_cast<std::int64_t>(bytes_of(from.type.dtype)),
                     .instead_of = step.bytes};
}

std::string op_in_backticks(const LocalCall& call) {
  const OpDef& op = call.op();
  return "`" + std::string(op.symbol.empty() ? op.name : op.symbol) + "`";
}

}  // namespace mtf
