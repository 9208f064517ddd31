#include "runtime/execute/files/ahead_part.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ir/loops/loop.h"
#include "lowering/loops/loops.h"
#include "lowering/memory/schedule.h"

namespace mtf {

bool is_counter(const SpmdValue& value) {
  return value.type.shape.rank() == 0 && value.layout->where.empty() &&
         (value.type.dtype == DType::kI32 || value.type.dtype == DType::kI64);
}

namespace {

constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);

bool only_computes(const LocalCall& call) {
  const OpDef& op = call.op();
  return !is_of_loop(op) && op.primitive != Primitive::kCheckFinite && !op.effect && !op.random &&
         op.file == FileUse::kNone;
}

// Whether a rank does the step alone, and with the same bits each time.
bool only_computes(const Step& step) {
  return step.kind == StepKind::kSlice ||
         (step.kind == StepKind::kKernel &&
          std::ranges::all_of(step.calls,
                              [](const LocalCall& call) { return only_computes(call); }));
}

std::vector<SpmdId> made_in(const Step& step) {
  std::vector<SpmdId> made;
  for (const LocalCall& call : step.calls) {
    if (call.result.valid()) {
      made.push_back(call.result);
    }
  }
  if (step.to.valid()) {
    made.push_back(step.to);
  }
  return made;
}

// Finds the parts of one program, loop by loop.
class PartFinder {
 public:
  PartFinder(const SpmdProgram& program, std::span<const RankTensor* const> inputs)
      : program_(program),
        inputs_(inputs),
        loops_(loops_of(program)),
        loop_(program.steps.size(), loops_.size()),
        maker_(program.values.size(), kNoStep) {
    for (std::size_t l = loops_.size(); l-- > 0;) {  // the inner ones last
      std::fill(loop_.begin() + static_cast<std::ptrdiff_t>(loops_[l].begin) + 1,
                loop_.begin() + static_cast<std::ptrdiff_t>(loops_[l].end), l);
    }
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      for (const SpmdId made : made_in(program.steps[s])) {
        maker_[at(made)] = s;
      }
    }
  }

  std::vector<AheadPart> run() {
    std::map<std::size_t, std::vector<std::size_t>> readers;  // by their loop
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (reads_file(program_.steps[s])) {
        readers[loop_[s]].push_back(s);
      }
    }
    std::vector<AheadPart> parts;
    for (auto& one : readers) {
      const std::size_t loop = one.first;
      find_counters(loop);
      std::erase_if(one.second, [&](std::size_t s) { return !is_foreseen(loop, s); });
      if (!one.second.empty()) {
        parts.push_back(part_of(loop, std::move(one.second)));
      }
    }
    return parts;
  }

 private:
  // At places that another operand has.
  [[nodiscard]] bool reads_file(const Step& step) const {
    if (step.kind != StepKind::kKernel || step.calls.size() != 1 ||
        step.calls.front().split->space->served.empty() || !step.calls.front().result.valid()) {
      return false;
    }
    const SpmdId table = step.calls.front().operands.front();
    const std::optional<std::size_t> input = input_of(table);
    return input && inputs_[*input]->in_file.has_value();
  }

  [[nodiscard]] std::optional<std::size_t> input_of(SpmdId id) const {
    const auto found = std::ranges::find(program_.inputs, id);
    return found == program_.inputs.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - program_.inputs.begin()));
  }

  [[nodiscard]] bool is_around(std::size_t outer, std::size_t inner) const {
    return outer == loops_.size() || outer == inner ||
           (inner != loops_.size() && loops_[outer].begin < loops_[inner].begin &&
            loops_[inner].end < loops_[outer].end);
  }

  // What is carried by the loop and by those around it, and counts.
  void find_counters(std::size_t loop) {
    carried_.clear();
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      if (loop_[s] == loops_.size() || !is_around(loop_[s], loop) || step.calls.empty() ||
          step.calls.front().op().primitive != Primitive::kNext) {
        continue;
      }
      const SpmdId to = step.calls.front().operands.front();
      if (is_counter(program_.at(to))) {
        carried_.insert(to);
      }
    }
  }

  // Whether the step, and all that it needs, can be done before its time; then `needed_` has it.
  bool is_foreseen(std::size_t loop, std::size_t step) {
    std::set<std::size_t> steps;
    std::set<SpmdId> leaves;
    std::vector<std::size_t> left = {step};
    while (!left.empty()) {
      const std::size_t s = left.back();
      left.pop_back();
      if (!steps.insert(s).second) {
        continue;
      }
      if (!only_computes(program_.steps[s]) || !is_around(loop_[s], loop)) {
        return false;
      }
      for (const SpmdId id : read_by(program_.steps[s])) {
        if (carried_.contains(id) || is_known_input(id)) {
          leaves.insert(id);
        } else if (maker_[at(id)] == kNoStep) {
          return false;
        } else {
          left.push_back(maker_[at(id)]);
        }
      }
    }
    if (std::ranges::none_of(leaves, [&](SpmdId id) { return is_counter(program_.at(id)); })) {
      return false;
    }
    steps_.insert(steps.begin(), steps.end());
    leaves_.insert(leaves.begin(), leaves.end());
    return true;
  }

  // Of variables only counters are: what others will be is not known.
  [[nodiscard]] bool is_known_input(SpmdId id) const {
    const std::optional<std::size_t> input = input_of(id);
    return input && (!program_.source.inputs[*input].is_variable() || is_counter(program_.at(id)));
  }

  AheadPart part_of(std::size_t loop, std::vector<std::size_t> readers) {
    AheadPart part{.before = loop == loops_.size() ? 0 : loops_[loop].begin,
                   .readers = std::move(readers),
                   .program = {}};
    SpmdProgram& program = part.program;
    program.mesh = program_.mesh;
    program.layout = program_.layout;
    const std::set<std::size_t> steps = std::exchange(steps_, {});
    const std::set<SpmdId> leaves = std::exchange(leaves_, {});
    program.source = program_.source;
    program.source.inputs.clear();
    program.source.outputs.clear();
    program.source.updates.clear();
    program.targets = program_.targets;
    program.values = program_.values;
    for (const SpmdId id : leaves) {
      const std::optional<std::size_t> input = input_of(id);
      program.source.inputs.push_back(
          input ? program_.source.inputs[*input]
                : Input{.value = program_.at(id).origin, .name = program_.at(id).name});
      program.inputs.push_back(id);
    }
    for (const std::size_t s : steps) {
      program.steps.push_back(program_.steps[s]);
    }
    for (const std::size_t s : part.readers) {
      const SpmdId made = program_.steps[s].calls.front().result;
      program.outputs.push_back(made);
      program.source.outputs.push_back(program_.at(made).origin);
    }
    schedule(program);
    return part;
  }

  const SpmdProgram& program_;
  std::span<const RankTensor* const> inputs_;
  std::vector<LoopSteps> loops_;    // the inner ones first
  std::vector<std::size_t> loop_;   // per step the innermost; as many as there are: none
  std::vector<std::size_t> maker_;  // per value
  std::set<SpmdId> carried_;        // of the part that is looked for
  std::set<std::size_t> steps_;     // that it needs, in order
  std::set<SpmdId> leaves_;         // that these need
};

}  // namespace

std::vector<AheadPart> ahead_parts(const SpmdProgram& program,
                                   std::span<const RankTensor* const> inputs) {
  return PartFinder(program, inputs).run();
}

}  // namespace mtf
