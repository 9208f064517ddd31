#include "frontend/report/plan/spmd_text.h"

#include <vector>

#include "ir/support/columns.h"

namespace mtf {
namespace {

std::string id_text(SpmdId id) {
  return "v" + std::to_string(id.index);
}

std::string home_text(const SpmdValue& value) {
  switch (value.home) {
    case Home::kNone:
      return "in passing";
    case Home::kInput:
      return "input " + std::to_string(value.offset);
    case Home::kOutput:
      return "output " + std::to_string(value.offset) +
             (value.within > 0 ? " + " + std::to_string(value.within) : "");
    case Home::kCopy:
      return "copy " + std::to_string(value.offset);
    case Home::kArena:
      break;
  }
  return "arena + " + std::to_string(value.offset);
}

std::string pieces_count(const SpmdValue& value) {
  return value.pieces == 1 ? "" : " in " + std::to_string(value.pieces) + " pieces";
}

std::string_view role_text(DimRole role) {
  switch (role) {
    case DimRole::kKept:
      return "";
    case DimRole::kReduced:
      return " reduced";
    case DimRole::kMoved:
      return " moved";
    case DimRole::kScanned:
      return " scanned";
    case DimRole::kSelected:
      return " selected";
    case DimRole::kSorted:
      return " sorted";
    case DimRole::kServed:
      return " served";
    case DimRole::kWhole:
      break;
  }
  return " whole";
}

std::string loops_text(const LocalCall& call, const Mesh& mesh) {
  std::string text;
  for (std::size_t i = 0; i < call.split->loops.size(); ++i) {
    const LoopDim& loop = call.split->space->loops[i];
    text += text.empty() ? "" : ", ";
    text += loop.name;
    text += role_text(loop.role);
    text += call.split->loops[i].empty() ? "" : ": " + to_string(mesh, call.split->loops[i]);
  }
  return "{" + text + "}";
}

std::string call_line(const LocalCall& call, const Mesh& mesh) {
  std::string text;
  for (const SpmdId operand : call.operands) {
    text += (text.empty() ? "" : ", ") + id_text(operand);
  }
  const std::string args = to_string(call.split->call.args);
  text += (text.empty() || args.empty() ? "" : ", ") + args;
  const std::string made = call.result.valid() ? id_text(call.result) + " = " : "";
  return made + std::string(call.op().name) + "(" + text + ") over " + loops_text(call, mesh);
}

}  // namespace

std::string values_text(const SpmdProgram& program) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const SpmdValue& value = program.values[i];
    rows.push_back({id_text({static_cast<std::int32_t>(i)}),
                    "%" + std::to_string(value.origin.index), value.name,
                    std::string(to_string(value.type.dtype)) +
                        to_string(value.type.shape, value.layout, program.mesh)});
  }
  return program.source.name + "\n" + in_columns(rows, {.widest = 80});
}

std::string steps_text(const SpmdProgram& program) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const SpmdValue& value = program.values[i];
    rows.push_back(
        {id_text({static_cast<std::int32_t>(i)}), to_string(value.local), home_text(value)});
  }
  std::string text = program.source.name + ", arena of " + std::to_string(program.arena_bytes) +
                     " bytes\n" + in_columns(rows, {.widest = 80}) + "\n";
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::kKernel) {
      text += "  " + id_text(step.to) + " = " + std::string(to_string(step.kind)) + "(" +
              id_text(step.from) + ") over {" + to_string(program.mesh, step.axes) + "}" +
              pieces_count(program.at(step.to)) + (step.with_next ? " +" : "") + "\n";
      continue;
    }
    for (const LocalCall& call : step.calls) {
      text += (&call == &step.calls.front() ? "  " : "  + ") + call_line(call, program.mesh) + "\n";
    }
  }
  for (const SpmdUpdate& update : program.updates) {
    text +=
        "  \"" + program.source.inputs[update.input].name + "\" <- " + id_text(update.value) + "\n";
  }
  for (const WorkingCopy& copy : program.copies) {
    text += "  copy " + id_text(copy.value) + " <- " + id_text(copy.next) + "\n";
  }
  return text;
}

}  // namespace mtf
