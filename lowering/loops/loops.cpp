#include "lowering/loops/loops.h"

#include <algorithm>
#include <utility>

#include "lowering/partition/split/split.h"

namespace mtf {
namespace {

bool is_call_of(const Step& step, Primitive primitive) {
  return !step.calls.empty() && step.calls.front().op().primitive == primitive;
}

// Whether it is the same work in each trip if its operands are the same.
bool may_go_out(const Step& step, bool gather_again) {
  if (step.kind != StepKind::kKernel) {
    return !(gather_again && step.kind == StepKind::kAllGather);
  }
  return std::ranges::none_of(step.calls, [](const LocalCall& call) {
    const OpDef& op = call.op();
    return op.effect || op.random || op.file != FileUse::kNone || op.primitive == Primitive::kCarry;
  });
}

class Trip {
 public:
  explicit Trip(const SpmdProgram& program) : made_(program.values.size(), 0) {}

  void note(const Step& step) {
    mark_results(step, 1);
    for (const LocalCall& call : step.calls) {
      if (call.op().primitive == Primitive::kNext) {
        made_[at(call.operands.front())] = 1;
      }
    }
  }

  void forget(const Step& step) { mark_results(step, 0); }

  // Whether it reads what the trip makes.
  [[nodiscard]] bool reads(const Step& step) const {
    const auto is_made = [this](SpmdId id) { return made_[at(id)] != 0; };
    return (step.kind != StepKind::kKernel && is_made(step.from)) ||
           std::ranges::any_of(step.calls, [&](const LocalCall& call) {
             return std::ranges::any_of(call.operands, is_made);
           });
  }

 private:
  void mark_results(const Step& step, char made) {
    if (step.kind != StepKind::kKernel) {
      made_[at(step.to)] = made;
    }
    for (const LocalCall& call : step.calls) {
      if (call.result.valid()) {
        made_[at(call.result)] = made;
      }
    }
  }

  std::vector<char> made_;  // per value
};

std::vector<LoopMark> marks_of(const SpmdProgram& program) {
  std::vector<LoopMark> marks(program.steps.size());
  std::ranges::transform(program.steps, marks.begin(), loop_mark);
  return marks;
}

}  // namespace

LoopMark loop_mark(const Step& step) {
  return is_call_of(step, Primitive::kWhile)   ? LoopMark::kWhile
         : is_call_of(step, Primitive::kAgain) ? LoopMark::kEnd
                                               : LoopMark::kNone;
}

std::vector<LoopSteps> loops_of(std::span<const LoopMark> marks) {
  std::vector<LoopSteps> loops;
  std::vector<std::size_t> open;
  for (std::size_t s = 0; s < marks.size(); ++s) {
    if (marks[s] == LoopMark::kWhile) {
      open.push_back(s);
    } else if (marks[s] == LoopMark::kEnd && !open.empty()) {
      loops.push_back({.begin = open.back(), .end = s});
      open.pop_back();
    }
  }
  return loops;
}

std::vector<LoopSteps> loops_of(const SpmdProgram& program) {
  return loops_of(marks_of(program));
}

bool hands_on_in_place(const SpmdProgram& program, const Step& step) {
  if (!is_call_of(step, Primitive::kNext)) {
    return false;
  }
  const SpmdValue& to = program.at(step.calls.front().operands[0]);
  const SpmdValue& from = program.at(step.calls.front().operands[1]);
  return to.home != Home::kNone && to.home == from.home && to.offset == from.offset &&
         to.within == from.within;
}

std::vector<std::size_t> segments_of(std::span<const LoopMark> marks) {
  std::vector<std::size_t> segments;
  segments.reserve(marks.size());
  std::size_t before = 0;
  for (const LoopMark mark : marks) {
    segments.push_back(before);
    before += mark == LoopMark::kNone ? 0 : 1;
  }
  return segments;
}

std::vector<std::size_t> segments_of(const SpmdProgram& program) {
  return segments_of(marks_of(program));
}

void hoist(SpmdProgram& program, bool gather_again) {
  for (const LoopSteps& loop : loops_of(program)) {
    Trip trip(program);
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      trip.note(program.steps[s]);
    }
    std::vector<Step> before;
    std::vector<Step> inside;
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      Step& step = program.steps[s];
      const bool goes = may_go_out(step, gather_again) && !trip.reads(step);
      if (goes) {
        trip.forget(step);
      }
      (goes ? before : inside).push_back(std::move(step));
    }
    const auto begin = program.steps.begin() + static_cast<std::ptrdiff_t>(loop.begin);
    std::ranges::move(inside, std::ranges::move(before, begin).out);
  }
}

LocalCall loop_call(const SpmdProgram& program, ValueId id, std::vector<SpmdId> operands) {
  SplitCall split = unsplit_call(program.source, id);
  split.loops.resize(split.space->loops.size());
  if (!operands.empty()) {
    split.loops = project(split.space->operands.front(), program.at(operands.front()).layout,
                          split.space, program.mesh);
  }
  return {.split = std::move(split), .operands = std::move(operands), .origin = id};
}

}  // namespace mtf
