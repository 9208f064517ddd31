#include "frontend/elaborate/tensors/gradients/independent.h"

#include <algorithm>

namespace mtf::host {
namespace {

std::size_t place(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

// Per value up to the loss: would a gradient that arrives there flow on to a target?
std::vector<bool> flowing(const Builder& builder, ValueId loss, std::span<const ValueId> targets) {
  const Program& program = builder.program();
  std::vector<bool> flows(place(loss) + 1, false);
  for (ValueId id{0}; id <= loss; ++id.index) {
    const mtf::Value& value = program.at(id);
    const OwnGradient* own = builder.own_gradient_of(id);
    const std::vector<ValueId>& by = own == nullptr ? value.operands : own->by;
    const bool passes_on = value.op != nullptr && value.op->grad != nullptr;
    const bool is_target = std::ranges::find(targets, id) != targets.end();
    flows[place(id)] = is_float(value.type.dtype) &&
                       (is_target || (passes_on && std::ranges::any_of(by, [&](ValueId on) {
                                        return on < id && flows[place(on)];
                                      })));
  }
  return flows;
}

// The first value that the loss is computed from, and that reads what gradients would flow through,
// but passes none on.
ValueId first_end(const Builder& builder, ValueId loss, const std::vector<bool>& flows) {
  const Program& program = builder.program();
  std::vector<bool> is_read(flows.size(), false);
  is_read[place(loss)] = true;
  ValueId first;
  for (ValueId id = loss; id.valid(); --id.index) {
    if (!is_read[place(id)]) {
      continue;
    }
    for (const ValueId operand : program.at(id).operands) {
      is_read[place(operand)] = true;
      first = flows[place(operand)] && !flows[place(id)] ? id : first;
    }
  }
  return first;
}

// Of what a definition is made of, its result: that is what was written.
ValueId as_written(const Program& program, ValueId id) {
  while (program.at(id).internal && id < program.last()) {
    ++id.index;
  }
  return id;
}

}  // namespace

std::optional<FlowEnd> end_of_flow(const Builder& builder, ValueId loss,
                                   std::span<const ValueId> targets, const std::string& whom) {
  const Program& program = builder.program();
  ValueId end = first_end(builder, loss, flowing(builder, loss, targets));
  if (!end.valid()) {
    return std::nullopt;
  }
  end = program.at(end).backward ? end : as_written(program, end);
  const mtf::Value& value = program.at(end);
  std::vector<Note> notes{{.span = value.span, .text = "here"}};
  const std::vector<Note> calls = notes_of(program, end);
  notes.insert(notes.end(), calls.begin(), calls.end());
  const std::string begin = "no gradient of the loss gets to " + whom + ": ";
  if (value.backward) {  // made of operations that nobody wrote
    return FlowEnd{.text = begin + "a gradient that it is made of changes by jumps alone",
                   .notes = std::move(notes)};
  }
  const std::string why =
      is_float(value.type.dtype)
          ? " passes none on; a function with `gradient dy { … }` would"
          : " is " + mtf::to_string(value.type) + ", and only floats have gradients";
  return FlowEnd{.text = begin + describe(program, end) + why, .notes = std::move(notes)};
}

}  // namespace mtf::host
