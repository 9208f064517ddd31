// What must hold of every program after every phase. A failure is an error in mtf, not in the
// user's text, so the first one found is enough.

#include <algorithm>
#include <span>

#include "ir/loops/loop.h"

namespace mtf {
namespace {

bool in_range(const Program& program, ValueId id) {
  return id.valid() && at(id) < program.values.size();
}

std::string check_frames(const Program& program) {
  const auto count = static_cast<std::int32_t>(program.frames.size());
  for (std::int32_t i = 0; i < count; ++i) {
    if (program.frames[static_cast<std::size_t>(i)].parent >= i) {
      return "frame " + std::to_string(i) + " has a parent that does not come before it";
    }
  }
  const auto outside = [count](const Value& value) { return value.frame >= count; };
  return std::ranges::any_of(program.values, outside) ? "a value has a frame that is not there"
                                                      : "";
}

std::string check_lets(const Program& program) {
  const auto is_out = [&](const Let& let) { return !in_range(program, let.value); };
  return std::ranges::any_of(program.lets, is_out) ? "a name is one of no value" : "";
}

std::string check_shape(const Shape& shape) {
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i].size < 0) {
      return "dim `" + shape[i].name + "` has a negative size";
    }
    if (*shape.index_of(shape[i].name) != i) {
      return "dim `" + shape[i].name + "` is there twice";
    }
  }
  return shape.checked_volume() ? "" : "the volume overflows";
}

// One tensor's dims against the loops that make them up. A dim that is read through a window has
// the loop of the dim that reads it, which may have another size.
std::string check_map(const IterationSpace& space, const DimMap& map, const Shape& shape,
                      std::string_view what, std::span<const WindowDim> windows = {}) {
  if (map.size() != shape.rank()) {
    return "the iteration space has another rank for " + std::string(what);
  }
  std::vector<bool> used(space.loops.size());
  for (std::size_t i = 0; i < map.size(); ++i) {
    std::int64_t size = 1;
    for (const std::size_t loop : map[i]) {
      if (loop >= space.loops.size() || used[loop]) {
        return "dim `" + shape[i].name + "` of " + std::string(what) +
               " is made of a loop that is not there or taken";
      }
      used[loop] = true;
      size *= space.loops[loop].size;
    }
    if (size != shape[i].size && std::ranges::find(windows, i, &WindowDim::dim) == windows.end()) {
      return "the loops of dim `" + shape[i].name + "` of " + std::string(what) +
             " do not multiply to its size";
    }
  }
  return "";
}

std::string check_space(const OpCall& call) {
  if (call.op->space == nullptr) {
    return "the operation has no iteration space";
  }
  const IterationSpace space = call.op->space(call);
  if (space.operands.size() != call.operands.size()) {
    return "the iteration space has another number of operands";
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const std::vector<WindowDim> windows = windows_of(space, i);
    std::string problem =
        check_map(space, space.operands[i], call.operands[i].shape, "an operand", windows);
    if (!problem.empty()) {
      return problem;
    }
  }
  for (const auto& loops : space.result) {
    for (const std::size_t loop : loops) {
      if (loop < space.loops.size() && space.loops[loop].role == DimRole::kReduced) {
        return "the result has the reduced loop `" + space.loops[loop].name + "`";
      }
    }
  }
  return check_map(space, space.result, call.result.shape, "the result");
}

std::string check_value(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  std::string problem = check_shape(value.type.shape);
  if (!problem.empty() || value.op == nullptr) {
    return problem;
  }
  for (const ValueId operand : value.operands) {
    if (!operand.valid() || operand.index >= id.index) {
      return "an operand does not come before it";
    }
  }
  if (value.op->type == nullptr) {
    return "the operation has no type rule";
  }
  OpCall call = call_of(program, id);
  DiagSink diags;
  const std::optional<TensorType> type = value.op->type(call, diags);
  if (!type) {
    return "its own type rule rejects it" +
           (diags.ok() ? std::string() : ": " + diags.diags().front().text);
  }
  if (*type != value.type) {
    return "its type is " + to_string(value.type) + ", its rule says " + to_string(*type);
  }
  call.result = value.type;
  return check_space(call);
}

std::string check_inputs(const Program& program) {
  std::vector<bool> listed(program.values.size());
  for (const Input& input : program.inputs) {
    if (!in_range(program, input.value) || program.at(input.value).op != nullptr) {
      return "input `" + input.name + "` is not an input value";
    }
    if (listed[at(input.value)]) {
      return "input `" + input.name + "` is listed twice";
    }
    listed[at(input.value)] = true;
  }
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (program.values[i].op == nullptr && !listed[i]) {
      return "%" + std::to_string(i) + " has no operation and is no input";
    }
  }
  return "";
}

std::string check_ends(const Program& program) {
  const auto outside = [&](ValueId id) { return !in_range(program, id); };
  if (std::ranges::any_of(program.outputs, outside)) {
    return "an output is not there";
  }
  std::vector<bool> updated(program.inputs.size());
  for (const Update& update : program.updates) {
    if (update.input >= program.inputs.size() || outside(update.value)) {
      return "an update names an input or value that is not there";
    }
    const Input& input = program.inputs[update.input];
    if (!input.is_variable() || updated[update.input]) {
      return "`" + input.name + "` is updated twice or no variable";
    }
    updated[update.input] = true;
    const TensorType& type = program.at(input.value).type;
    if (program.at(update.value).type != type) {
      return "the update of `" + input.name + "` has type " +
             to_string(program.at(update.value).type) + ", the variable " + to_string(type);
    }
  }
  return "";
}

}  // namespace

std::string verify(const Program& program) {
  for (const auto check : {check_frames, check_inputs, check_ends, check_lets}) {
    std::string problem = check(program);
    if (!problem.empty()) {
      return problem;
    }
  }
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const std::string problem = check_value(program, id);
    if (!problem.empty()) {
      const OpDef* op = program.at(id).op;
      return "%" + std::to_string(i) + " (" + std::string(op == nullptr ? "input" : op->name) +
             "): " + problem;
    }
  }
  return check_loops(program);
}

}  // namespace mtf
