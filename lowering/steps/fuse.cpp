#include "lowering/steps/fuse.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "lowering/loops/loops.h"
#include "lowering/steps/bands.h"

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
        last_reader_(program.values.size(), 0),
        uses_(program.values.size(), 0),
        segments_(segments_of(program)) {
    for (const Step& step : program.steps) {
      for (const LocalCall& call : step.calls) {
        for (const SpmdId operand : call.operands) {
          ++uses_[at(operand)];
        }
      }
    }
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      for (const SpmdId id : read_by(program.steps[s])) {
        last_reader_[at(id)] = s;
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
  static bool is_element_wise(const LocalCall& call) {
    return call.call.op->tile != nullptr && call.result.valid();
  }

  static bool is_chain(const Step& step) {
    return step.kind == StepKind::kKernel && !step.calls.empty() &&
           std::ranges::all_of(step.calls, [](const LocalCall& call) {
             return is_element_wise(call) || is_reduction(call);
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
    if (!is_chain(step)) {
      return;
    }
    const std::vector<SpmdId> operands = step.calls.back().operands;
    for (const SpmdId operand : operands) {
      const std::size_t m = maker_[at(operand)];
      if (m != kNoStep && m != s && segments_[m] == segments_[s] &&
          can_join(program_.steps[m], step) && !holds_back(m, s)) {
        join(m, s);
      }
    }
  }

  [[nodiscard]] bool can_join(const Step& early, const Step& late) const {
    if (!is_chain(early) || is_shared_constant(early) ||
        early.calls.size() + late.calls.size() > kMaxChain ||
        holders_of(early) != holders_of(late) ||
        std::ranges::any_of(early.calls, [this](const LocalCall& call) {
          return first_reader_[at(call.result)] != kNoStep;
        })) {
      return false;
    }
    return have_same_elements(early, late) || may_share_bands(early, late);
  }

  [[nodiscard]] bool have_same_elements(const Step& early, const Step& late) const {
    return std::ranges::all_of(early.calls, is_element_wise) &&
           std::ranges::all_of(late.calls, is_element_wise) &&
           local_shape_of(early) == local_shape_of(late) && shape_of(early) == shape_of(late);
  }

  [[nodiscard]] bool may_share_bands(const Step& early, const Step& late) const {
    Chain chain = chain_of(early);
    const Chain others = chain_of(late);
    chain.insert(chain.end(), others.begin(), others.end());
    return may_run_in_bands(program_, chain);
  }

  // Whether what a reduction reads, and nobody reads behind it, would have to wait for step s in
  // more memory than what the reduction makes.
  [[nodiscard]] bool holds_back(std::size_t m, std::size_t s) const {
    const Step& early = program_.steps[m];
    if (std::ranges::all_of(early.calls, is_element_wise)) {
      return false;
    }
    std::int64_t held = 0;
    std::set<std::size_t> seen;
    for (const LocalCall& call : early.calls) {
      held -= program_.at(call.result).local.bytes();
      for (const SpmdId id : call.operands) {
        const std::size_t maker = maker_[at(id)];
        const bool dies = maker != kNoStep && maker != m && last_reader_[at(id)] < s;
        held += dies && seen.insert(at(id)).second ? program_.at(id).local.bytes() : 0;
      }
    }
    return held > 0;
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
    late.reasons.insert(late.reasons.begin(), std::make_move_iterator(early.reasons.begin()),
                        std::make_move_iterator(early.reasons.end()));
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
  std::vector<std::size_t> last_reader_;   // before any step joined another
  std::vector<int> uses_;                  // as operands
  std::vector<std::size_t> segments_;      // per step, of the loops
};

}  // namespace

void fuse(SpmdProgram& program) {
  Fuser(program).run();
}

}  // namespace mtf
