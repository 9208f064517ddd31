// LiveRanges of values, as the memory plan and those who explain it see them.

#include "lowering/memory/live_ranges.h"

#include <algorithm>

namespace mtf {
namespace {

std::size_t index(SpmdId id) {
  return static_cast<std::size_t>(id.index);
}

void read(LiveRanges& lives, SpmdId id, std::int32_t at) {
  lives.last[index(id)] = std::max(lives.last[index(id)], at);
  if (lives.made[index(id)] != at) {
    lives.kept[index(id)] = 1;
  }
}

void note(LiveRanges& lives, const SpmdProgram& program, std::size_t s) {
  const Step& step = program.steps[s];
  const auto at = static_cast<std::int32_t>(s);
  if (step.kind != StepKind::kKernel) {
    read(lives, step.from, static_cast<std::int32_t>(done_at(program, s)));
    lives.made[index(step.to)] = at;
    return;
  }
  for (const LocalCall& call : step.calls) {
    for (const SpmdId operand : call.operands) {
      read(lives, operand, at);
    }
    for (const SpmdId partial : call.stream.partials) {
      lives.made[index(partial)] = at;
    }
    if (call.result.valid()) {
      lives.made[index(call.result)] = at;
    }
  }
}

}  // namespace

LiveRanges live_ranges_of(const SpmdProgram& program) {
  const std::size_t values = program.values.size();
  LiveRanges lives{.made = std::vector<std::int32_t>(values, -1),
                   .last = std::vector<std::int32_t>(values, -1),
                   .kept = std::vector<char>(values, 0)};
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    note(lives, program, s);
  }
  for (const SpmdId output : program.outputs) {
    read(lives, output, kProgramEnd);
  }
  for (const SpmdUpdate& update : program.updates) {
    read(lives, update.value, kProgramEnd);
  }
  return lives;
}

}  // namespace mtf
