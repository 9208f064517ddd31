// One program as two entries, as a script has them: tensors and a state live on between them.

#include <algorithm>
#include <span>
#include <utility>

#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// The first input that some computed value fits becomes a state, which takes that value.
void update_first_fit(Program& program) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const TensorType& type = program.at(program.inputs[i].value).type;
    for (std::size_t v = program.values.size(); v-- > program.inputs.size();) {
      if (program.values[v].type == type) {
        program.inputs[i].kind = InputKind::kState;
        program.updates.push_back({.input = i, .value = {static_cast<std::int32_t>(v)}});
        return;
      }
    }
  }
}

}  // namespace

std::vector<Program> cut_in_two(const Program& program, std::size_t at) {
  std::vector<char> crosses(at, 0);  // values of the first half that the second one reads
  for (const Value& value : std::span(program.values).subspan(at)) {
    for (const ValueId operand : value.operands) {
      if (static_cast<std::size_t>(operand.index) < at) {
        crosses[static_cast<std::size_t>(operand.index)] = 1;
      }
    }
  }
  Program first = program;
  first.values.resize(at);
  std::erase_if(first.outputs,
                [&](ValueId id) { return static_cast<std::size_t>(id.index) >= at; });
  Program second;
  std::vector<ValueId> moved(program.values.size());
  const auto now = [&](ValueId id) { return moved[static_cast<std::size_t>(id.index)]; };
  for (const ValueId output : first.outputs) {  // entries hand on all that they return
    crosses[static_cast<std::size_t>(output.index)] = 1;
  }
  first.outputs.clear();
  for (std::size_t i = 0; i < at; ++i) {
    if (crosses[i] != 0) {
      first.outputs.push_back({static_cast<std::int32_t>(i)});
      second.values.push_back({.op = nullptr, .type = program.values[i].type});
      moved[i] = second.last();
      second.inputs.push_back({.value = second.last(), .name = "in"});
    }
  }
  for (std::size_t i = at; i < program.values.size(); ++i) {
    Value value = program.values[i];
    std::ranges::transform(value.operands, value.operands.begin(), now);
    second.values.push_back(std::move(value));
    moved[i] = second.last();
  }
  for (const ValueId output : program.outputs) {
    if (static_cast<std::size_t>(output.index) >= at) {
      second.outputs.push_back(now(output));
    }
  }
  update_first_fit(second);
  return first.outputs.empty() ? std::vector{program} : std::vector{first, second};
}

}  // namespace mtf::tests
