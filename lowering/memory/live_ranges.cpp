// LiveRanges of values, as the memory plan and those who explain it see them.

#include "lowering/memory/live_ranges.h"

#include <algorithm>

#include "lowering/loops/loops.h"

namespace mtf {
namespace {

void read(LiveRanges& lives, SpmdId id, std::int32_t step) {
  lives.last[at(id)] = std::max(lives.last[at(id)], step);
  if (lives.made[at(id)] != step) {
    lives.kept[at(id)] = 1;
  }
}

void note(LiveRanges& lives, const SpmdProgram& program, std::size_t s) {
  const Step& step = program.steps[s];
  const auto number = static_cast<std::int32_t>(s);
  if (step.kind != StepKind::kKernel) {
    const auto done = static_cast<std::int32_t>(done_at(program, s));
    for (const SpmdId id : read_by(step)) {
      read(lives, id, done);
    }
    lives.made[at(step.to)] = number;
    return;
  }
  for (const LocalCall& call : step.calls) {
    for (const SpmdId operand : call.operands) {
      read(lives, operand, number);
    }
    for (const SpmdId partial : call.stream.partials) {
      lives.made[at(partial)] = number;
    }
    if (call.result.valid()) {
      lives.made[at(call.result)] = number;
    }
  }
}

// What one trip reads, and did not make, the next one reads as well.
void keep_through(LiveRanges& lives, const LoopSteps& loop) {
  const auto begin = static_cast<std::int32_t>(loop.begin);
  const auto end = static_cast<std::int32_t>(loop.end);
  for (std::size_t v = 0; v < lives.last.size(); ++v) {
    if (lives.made[v] < begin && lives.last[v] >= begin && lives.last[v] < end) {
      lives.last[v] = end;
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
  for (const LoopSteps& loop : loops_of(program)) {
    keep_through(lives, loop);
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
