// LiveRanges of values, as the memory plan and those who explain it see them.

#include "lowering/memory/live_ranges.h"

#include <algorithm>

namespace mtf {
namespace {

void read(LiveRanges& lives, SpmdId id, std::int32_t step) {
  lives.last[at(id)] = std::max(lives.last[at(id)], step);
  if (lives.made[at(id)] != step) {
    lives.kept[at(id)] = 1;
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

LiveRanges live_ranges_of(const SpmdProgram& program, const StepUses& uses) {
  const std::size_t values = program.values.size();
  LiveRanges lives{.made = std::vector<std::int32_t>(values, -1),
                   .last = std::vector<std::int32_t>(values, -1),
                   .kept = std::vector<char>(values, 0)};
  for (std::size_t s = 0; s < uses.size(); ++s) {
    const auto number = static_cast<std::int32_t>(s);
    const auto done = static_cast<std::int32_t>(uses.done(s));
    for (const Use& use : uses.of(s)) {
      if (use.kind == UseKind::kRead) {
        read(lives, use.value, done);
      } else {
        lives.made[at(use.value)] = number;
      }
    }
  }
  for (const LoopSteps& loop : loops_of(uses.marks())) {
    keep_through(lives, loop);
  }
  for (const SpmdId output : program.outputs) {
    read(lives, output, kProgramEnd);
  }
  for (const SpmdUpdate& update : program.updates) {
    read(lives, update.value, kProgramEnd);
  }
  for (const WorkingCopy& copy : program.copies) {
    read(lives, copy.next, kProgramEnd);
  }
  return lives;
}

}  // namespace mtf
