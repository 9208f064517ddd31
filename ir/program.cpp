// Questions about one value of a program.

#include "ir/program.h"

#include <algorithm>

namespace mtf {
namespace {

// As in the source: "unary -" is written "-".
std::string_view spelling(const OpDef& op) {
  constexpr std::string_view kUnary = "unary ";
  if (op.symbol.empty()) {
    return op.name;
  }
  return op.symbol.starts_with(kUnary) ? op.symbol.substr(kUnary.size()) : op.symbol;
}

}  // namespace

OpCall call_of(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  OpCall call{.op = value.op,
              .operands = {},
              .args = value.args,
              .result = value.type,
              .span = value.span,
              .operand_spans = {}};
  call.operands.reserve(value.operands.size());
  for (const ValueId operand : value.operands) {
    call.operands.push_back(program.at(operand).type);
  }
  return call;
}

std::uint64_t draw_place(const Program& program, ValueId id) {
  const Recomputation known = id.valid() ? program.at(id).recompute : Recomputation{};
  const std::int32_t place = known.of.valid() ? known.of.index : id.index;
  return static_cast<std::uint64_t>(known.drawn_at >= 0 ? known.drawn_at : place);
}

std::vector<int> count_uses(const Program& program) {
  std::vector<int> uses(program.values.size());
  const auto use = [&](ValueId id) { ++uses[static_cast<std::size_t>(id.index)]; };
  for (const Value& value : program.values) {
    std::ranges::for_each(value.operands, use);
  }
  std::ranges::for_each(program.outputs, use);
  std::ranges::for_each(program.updates, use, &Update::value);
  return uses;
}

std::string describe(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (!value.name.empty()) {
    return "`" + value.name + "`";
  }
  if (value.op != nullptr) {
    const OpDef& op = value.written == nullptr ? *value.op : *value.written;
    return "the result of `" + std::string(spelling(op)) + "`";
  }
  const auto input = std::ranges::find(program.inputs, id, &Input::value);
  const bool is_named = input != program.inputs.end() && !input->name.empty();
  return is_named ? "`" + input->name + "`" : "an input";
}

std::vector<Note> notes_of(const Program& program, ValueId id) {
  std::vector<Note> notes;
  std::int32_t frame = program.at(id).frame;
  while (frame >= 0) {
    const Frame& call = program.frames[static_cast<std::size_t>(frame)];
    if (call.call.file.valid()) {  // else an entry, built for its own sake
      notes.push_back(call_note(call.function, call.call));
    }
    frame = call.parent;
  }
  return notes;
}

}  // namespace mtf
