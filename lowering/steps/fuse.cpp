#include "lowering/steps/fuse.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr std::size_t kMaxChain = 24;  // scratch tiles of one pass stay in the first-level cache
constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

class Fuser {
 public:
  explicit Fuser(SpmdProgram& program)
      : program_(program),
        maker_(program.values.size(), kNoStep),
        first_reader_(program.values.size(), kNoStep),
        uses_(program.values.size(), 0),
        segments_(segments_of(program)) {
    for (const Step& step : program.steps) {
      for (const LocalCall& call : step.calls) {
        for (const SpmdId operand : call.operands) {
          ++uses_[at(operand)];
        }
      }
    }
  }

  void run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      join_operands(s);
      note(s);
    }
    std::erase_if(program_.steps, [](const Step& step) {
      return step.kind == StepKind::kKernel && step.calls.empty();
    });
  }

 private:
  static bool element_wise(const Step& step) {
    return step.kind == StepKind::kKernel && !step.calls.empty() &&
           std::ranges::all_of(step.calls, [](const LocalCall& call) {
             return call.call.op->tile != nullptr && call.result.valid();
           });
  }

  [[nodiscard]] const Shape& local_shape_of(const Step& step) const {
    return program_.at(step.calls.back().result).local.shape;
  }

  // Of the whole: uneven slices of several sizes may have the same longest one.
  [[nodiscard]] const Shape& shape_of(const Step& step) const {
    return program_.at(step.calls.back().result).type.shape;
  }

  [[nodiscard]] const std::vector<Condition>& holders_of(const Step& step) const {
    return program_.at(step.calls.back().result).layout.where;
  }

  void join_operands(std::size_t s) {
    Step& step = program_.steps[s];
    if (!element_wise(step)) {
      return;
    }
    const std::vector<SpmdId> operands = step.calls.back().operands;
    for (const SpmdId operand : operands) {
      const std::size_t m = maker_[at(operand)];
      if (m != kNoStep && m != s && segments_[m] == segments_[s] &&
          can_join(program_.steps[m], step)) {
        join(m, s);
      }
    }
  }

  [[nodiscard]] bool can_join(const Step& early, const Step& late) const {
    if (!element_wise(early) || is_shared_constant(early) ||
        early.calls.size() + late.calls.size() > kMaxChain ||
        local_shape_of(early) != local_shape_of(late) || shape_of(early) != shape_of(late) ||
        holders_of(early) != holders_of(late)) {
      return false;
    }
    return std::ranges::all_of(early.calls, [this](const LocalCall& call) {
      return first_reader_[at(call.result)] == kNoStep;
    });
  }

  // A chain that made it would have to come before all the others that read it.
  [[nodiscard]] bool is_shared_constant(const Step& step) const {
    return step.calls.size() == 1 && step.calls.front().operands.empty() &&
           uses_[at(step.calls.front().result)] > 1;
  }

  // Moves the calls of step m to the front of step s.
  void join(std::size_t m, std::size_t s) {
    Step& early = program_.steps[m];
    Step& late = program_.steps[s];
    for (const LocalCall& call : early.calls) {
      maker_[at(call.result)] = s;
    }
    late.flops += early.flops;
    late.calls.insert(late.calls.begin(), std::make_move_iterator(early.calls.begin()),
                      std::make_move_iterator(early.calls.end()));
    early.calls.clear();
  }

  // Reads from inside the chain do not count: the chain moves as one.
  void note(std::size_t s) {
    const Step& step = program_.steps[s];
    if (step.kind != StepKind::kKernel) {
      for (const SpmdId id : read_by(step)) {
        read(id, s);
      }
      maker_[at(step.to)] = s;
      return;
    }
    for (const LocalCall& call : step.calls) {
      for (const SpmdId operand : call.operands) {
        read(operand, s);
      }
      if (call.result.valid()) {
        maker_[at(call.result)] = s;
      }
    }
  }

  void read(SpmdId value, std::size_t s) {
    if (maker_[at(value)] != s && first_reader_[at(value)] == kNoStep) {
      first_reader_[at(value)] = s;
    }
  }

  SpmdProgram& program_;
  std::vector<std::size_t> maker_;         // the step that makes a value
  std::vector<std::size_t> first_reader_;  // the first step, other than its own, that reads it
  std::vector<int> uses_;                  // as operands
  std::vector<std::size_t> segments_;      // per step, of the loops
};

}  // namespace

void fuse(SpmdProgram& program) {
  Fuser(program).run();
}

}  // namespace mtf
