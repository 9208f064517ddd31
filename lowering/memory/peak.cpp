// Follows the arena step by step. A value that is computed in place of another has its very bytes:
// they are counted once, as the new value's.

#include "lowering/memory/peak.h"

#include <algorithm>
#include <map>
#include <span>

#include "lowering/memory/arena.h"
#include "lowering/memory/by_step.h"
#include "lowering/memory/carried.h"
#include "lowering/memory/live_ranges.h"

namespace mtf {
namespace {

HeldAs held_as(InputKind kind) {
  switch (kind) {
    case InputKind::kArgument:
      return HeldAs::kArgument;
    case InputKind::kCaptured:
      return HeldAs::kCaptured;
    case InputKind::kParam:
      return HeldAs::kParam;
    case InputKind::kState:
      break;
  }
  return HeldAs::kState;
}

// What is in the arena, by offset.
class Replay {
 public:
  explicit Replay(const SpmdProgram& program)
      : uses_(program), made_(program.steps.size()), gone_(program.steps.size()) {
    LiveRanges lives = live_ranges_of(program, uses_);
    keep_what_is_carried(program, lives);
    const auto end = static_cast<std::int32_t>(program.steps.size()) - 1;
    offsets_.resize(program.values.size());
    const auto each = [&](const auto& body) {
      for (std::size_t v = 0; v < program.values.size(); ++v) {
        const SpmdId id{static_cast<std::int32_t>(v)};
        if (program.values[v].home == Home::kArena && uses_.bytes(id).held > 0) {
          const std::int32_t made = lives.made[v];
          body(id, static_cast<std::size_t>(made),
               static_cast<std::size_t>(std::clamp(lives.last[v], made, end)));
        }
      }
    };
    each([this](SpmdId /*id*/, std::size_t made, std::size_t gone) {
      made_.count(made);
      gone_.count(gone);
    });
    made_.start();
    gone_.start();
    each([&](SpmdId id, std::size_t made, std::size_t gone) {
      made_.add(made, id);
      gone_.add(gone, id);
      offsets_[mtf::at(id)] = program.at(id).offset;
    });
  }

  // What is handed on where it was made is there as long as what is carried.
  void keep_what_is_carried(const SpmdProgram& program, LiveRanges& lives) const {
    const std::vector<SpmdId> carried = carried_by(program, uses_);
    for (std::size_t v = 0; v < carried.size(); ++v) {
      if (carried[v].valid() && program.values[v].offset == program.at(carried[v]).offset &&
          program.values[v].home == program.at(carried[v]).home) {
        lives.last[v] = std::max(lives.last[v], lives.last[at(carried[v])]);
      }
    }
  }

  // To the moment at which a step has its results beside its operands.
  void enter(std::size_t step) {
    if (step > 0) {
      for (const SpmdId id : gone_.at(step - 1)) {
        const auto found = live_.find(offsets_[mtf::at(id)]);
        if (found != live_.end() && found->second == id) {
          bytes_ -= rounded(uses_.bytes(id).held);
          live_.erase(found);
        }
      }
    }
    for (const SpmdId id : made_.at(step)) {
      if (live_.insert_or_assign(offsets_[mtf::at(id)], id).second) {
        bytes_ += rounded(uses_.bytes(id).held);
      }
    }
  }
  void begin_again() {
    live_.clear();
    bytes_ = 0;
  }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::map<std::int64_t, SpmdId>& live() const { return live_; }

 private:
  StepUses uses_;
  ByStep<SpmdId> made_;
  ByStep<SpmdId> gone_;                // after the step
  std::vector<std::int64_t> offsets_;  // per value
  std::map<std::int64_t, SpmdId> live_;
  std::int64_t bytes_ = 0;
};

std::optional<std::size_t> fullest_step(const SpmdProgram& program, Replay& replay) {
  std::optional<std::size_t> fullest;
  std::int64_t most = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    replay.enter(s);
    if (replay.bytes() > most) {
      most = replay.bytes();
      fullest = s;
    }
  }
  return fullest;
}

void add(const SpmdProgram& program, SpmdId id, HeldAs what, Peak& peak) {
  peak.held.push_back({.value = id,
                       .what = what,
                       .bytes = rounded(program.at(id).held_bytes()),
                       .span = program.source.at(program.at(id).origin).span});
}

void add_arena(const SpmdProgram& program, Replay& replay, Peak& peak) {
  replay.begin_again();
  for (std::size_t s = 0; s <= *peak.step; ++s) {
    replay.enter(s);
  }
  for (const auto& [offset, id] : replay.live()) {
    add(program, id, HeldAs::kBetween, peak);
  }
  if (replay.bytes() < program.arena_bytes) {
    peak.held.push_back({.value = {},
                         .what = HeldAs::kGap,
                         .bytes = program.arena_bytes - replay.bytes(),
                         .span = {}});
  }
  peak.span = program.source.at(made_by(program, program.steps[*peak.step])).span;
}

}  // namespace

std::string_view to_string(HeldAs what) {
  switch (what) {
    case HeldAs::kArgument:
      return "argument";
    case HeldAs::kCaptured:
      return "tensor";
    case HeldAs::kParam:
      return "param";
    case HeldAs::kState:
      return "state";
    case HeldAs::kOutput:
      return "output";
    case HeldAs::kCopy:
      return "working copy";
    case HeldAs::kBetween:
      return "value";
    case HeldAs::kGap:
      break;
  }
  return "gaps between values";
}

Peak peak_of(const SpmdProgram& program) {
  Peak peak;
  Replay replay(program);
  peak.step = fullest_step(program, replay);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    add(program, program.inputs[i], held_as(program.source.inputs[i].kind), peak);
  }
  for (const SpmdId output : program.outputs) {
    add(program, output, HeldAs::kOutput, peak);
  }
  for (const WorkingCopy& copy : program.copies) {
    add(program, copy.value, HeldAs::kCopy, peak);
  }
  if (peak.step) {
    add_arena(program, replay, peak);
  }
  std::ranges::stable_sort(peak.held, std::greater<>(), &Held::bytes);
  return peak;
}

}  // namespace mtf
