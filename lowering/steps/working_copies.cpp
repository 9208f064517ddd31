#include "lowering/steps/working_copies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/steps/bands.h"

namespace mtf {
namespace {

constexpr std::int64_t kLeastCopyBytes = 1 << 16;  // of a copy that is worth it
constexpr std::size_t kNoneSuch = std::numeric_limits<std::size_t>::max();

// Of one tensor, to fewer digits.
bool rounds(const SpmdProgram& program, const Step& step) {
  if (step.kind != StepKind::kKernel || step.calls.size() != 1 ||
      step.calls.front().op().primitive != Primitive::kCast) {
    return false;
  }
  const LocalCall& call = step.calls.front();
  const DType to = program.at(call.result).type.dtype;
  return program.at(call.operands.front()).type.dtype == DType::kF32 && is_float(to) &&
         is_narrow(to);
}

class Keeper {
 public:
  explicit Keeper(SpmdProgram& program)
      : program_(program),
        maker_(program.values.size(), kNoneSuch),
        update_(program.values.size(), kNoneSuch),
        leaves_(program.values.size(), 0) {
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      note_maker(s);
    }
    for (const SpmdId output : program.outputs) {
      leaves_[at(output)] = 1;
    }
    for (std::size_t u = 0; u < program.updates.size(); ++u) {
      update_[at(program.inputs[program.updates[u].input])] = u;
      leaves_[at(program.updates[u].value)] = 1;
    }
  }

  bool run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (is_cast(program_.steps[s])) {
        take(s);
      }
    }
    if (program_.copies.empty()) {
      return false;
    }
    std::erase_if(program_.steps, [](const Step& step) {
      return step.kind == StepKind::kKernel && step.calls.empty();
    });
    for (Step& step : program_.steps) {
      for (LocalCall& call : step.calls) {
        std::ranges::for_each(call.operands, [this](SpmdId& id) { id = same_as(id); });
      }
      step.from = step.from.valid() ? same_as(step.from) : step.from;
    }
    join_origins();
    return true;
  }

 private:
  void note_maker(std::size_t s) {
    const Step& step = program_.steps[s];
    if (step.to.valid()) {
      maker_[at(step.to)] = s;
    }
    for (const LocalCall& call : step.calls) {
      if (call.result.valid()) {
        maker_[at(call.result)] = s;
      }
    }
  }

  [[nodiscard]] SpmdId same_as(SpmdId id) const {
    const auto found = same_.find(id);
    return found == same_.end() ? id : found->second;
  }

  // What a `recompute` casts again is a value of its own in the source. What is made of it there,
  // and its other forms here, are of the copy's value from now on.
  void join_origins() {
    if (origins_.empty()) {
      return;
    }
    const auto join = [this](ValueId& id) {
      const auto found = origins_.find(id.index);
      id = found == origins_.end() ? id : found->second;
    };
    for (Value& value : program_.source.values) {
      std::ranges::for_each(value.operands, join);
    }
    for (SpmdValue& value : program_.values) {
      join(value.origin);
    }
    for (Step& step : program_.steps) {
      for (LocalCall& call : step.calls) {
        join(call.origin);
      }
    }
  }

  // Of a variable that is updated, for who is in the program alone.
  [[nodiscard]] bool is_cast(const Step& step) const {
    if (!rounds(program_, step)) {
      return false;
    }
    const LocalCall& call = step.calls.front();
    const SpmdValue& made = program_.at(call.result);
    return update_[at(call.operands.front())] != kNoneSuch && leaves_[at(call.result)] == 0 &&
           program_.at(call.operands.front()).layout == made.layout && made.layout->where.empty() &&
           made.local.bytes() >= kLeastCopyBytes;
  }

  // The chain of elements that computes what the variable is updated to; null: something else does,
  // or may: a product itself adds to a variable where a chain does no more than that.
  [[nodiscard]] Step* chain_of_update(const SpmdUpdate& update) {
    const std::size_t s = maker_[at(update.value)];
    const SpmdValue& fresh = program_.at(update.value);
    const SpmdValue& old = program_.at(program_.inputs[update.input]);
    if (s == kNoneSuch || !is_chain(program_.steps[s]) || fresh.layout != old.layout ||
        fresh.local != old.local) {
      return nullptr;
    }
    Step& step = program_.steps[s];
    const bool has_elements_alone = std::ranges::all_of(step.calls, [&](const LocalCall& call) {
      return is_element_wise(call) && program_.at(call.result).local.shape == fresh.local.shape;
    });
    const bool is_short = step.calls.size() <= 2 && reads_product(step);
    return has_elements_alone && !is_short && step.calls.size() < kMaxChain ? &step : nullptr;
  }

  [[nodiscard]] bool reads_product(const Step& chain) const {
    return std::ranges::any_of(read_by(chain), [this](SpmdId id) {
      const std::size_t s = maker_[at(id)];
      return s != kNoneSuch && program_.steps[s].kind == StepKind::kKernel &&
             !is_chain(program_.steps[s]);
    });
  }

  void take(std::size_t s) {
    const LocalCall& cast = program_.steps[s].calls.front();
    const SpmdUpdate& update = program_.updates[update_[at(cast.operands.front())]];
    const auto known = std::ranges::find_if(program_.copies, [&](const WorkingCopy& copy) {
      return copy.input == update.input &&
             program_.at(copy.value).type == program_.at(cast.result).type;
    });
    if (known != program_.copies.end()) {
      same_.emplace(cast.result, known->value);
      if (const ValueId origin = program_.at(known->value).origin; origin != cast.origin) {
        origins_.emplace(cast.origin.index, origin);
      }
    } else if (Step* chain = chain_of_update(update)) {
      const SpmdId next = add_next(cast, update.value, *chain);
      program_.copies.push_back({.input = update.input, .value = cast.result, .next = next});
    } else {
      return;
    }
    program_.steps[s].calls.clear();
  }

  // The same cast of the new value, at the end of its chain.
  SpmdId add_next(const LocalCall& cast, SpmdId fresh, Step& chain) {
    Program& source = program_.source;
    Value value = source.at(cast.origin);
    value.operands = {program_.at(fresh).origin};
    value.name.clear();
    value.recompute = {};
    source.values.push_back(std::move(value));
    program_.targets.push_back(program_.targets[at(cast.origin)]);
    SpmdValue made = program_.at(cast.result);
    made.origin = source.last();
    made.name.clear();
    program_.values.push_back(std::move(made));
    LocalCall call = cast;
    call.operands = {fresh};
    call.result = {static_cast<std::int32_t>(program_.values.size()) - 1};
    call.origin = source.last();
    chain.flops += flops_of(program_, call);
    chain.calls.push_back(std::move(call));
    return chain.calls.back().result;
  }

  SpmdProgram& program_;
  std::vector<std::size_t> maker_;   // per value: the step
  std::vector<std::size_t> update_;  // per value that is a variable: of SpmdProgram::updates
  std::vector<char> leaves_;         // per value: it is returned, or a variable's new one
  std::map<SpmdId, SpmdId> same_;    // casts of a variable that has a copy
  std::map<std::int32_t, ValueId> origins_;  // by value of the source, a cast: that of the copy
};

}  // namespace

bool casts_updated(const SpmdProgram& program) {
  return std::ranges::any_of(program.steps, [&program](const Step& step) {
    return rounds(program, step) &&
           std::ranges::any_of(program.updates, [&](const SpmdUpdate& update) {
             return program.inputs[update.input] == step.calls.front().operands.front();
           });
  });
}

bool keep_working_copies(SpmdProgram& program) {
  return loops_of(program).empty() && Keeper(program).run();
}

}  // namespace mtf
