#include "lowering/memory/memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lowering/memory/arena.h"
#include "lowering/memory/by_step.h"
#include "lowering/memory/carried.h"
#include "lowering/memory/live_ranges.h"
#include "lowering/steps/bands.h"
#include "lowering/steps/column_bands.h"

namespace mtf {
namespace {

class Planner {
 public:
  Planner(const SpmdProgram& program, const StepUses& uses)
      : program_(program),
        uses_(uses),
        lives_(live_ranges_of(program, uses)),
        dying_(uses.size()),
        carried_(carried_by(program, uses)),
        lent_(program.values.size(), 0),
        block_(program.values.size(), 0) {
    plan_.places.resize(program.values.size());
    blocks_.reserve(uses.size());
  }

  MemoryPlan run(const MemoryGoal& goal) {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      settle(program_.inputs[i], Home::kInput, i);
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      if (home(program_.outputs[i]) == Home::kNone) {
        settle(program_.outputs[i], Home::kOutput, i);
      }
    }
    for (const SpmdUpdate& update : program_.updates) {
      update_in_place(program_.inputs[update.input], update.value);
    }
    for (std::size_t i = 0; i < program_.copies.size(); ++i) {
      settle(program_.copies[i].value, Home::kCopy, i);
      update_in_place(program_.copies[i].value, program_.copies[i].next);
    }
    find_spare();
    choose_homes();
    const std::int64_t apart = bytes_apart();
    if (!place_blocks(goal.below - apart, goal.rough)) {
      return std::move(plan_);
    }
    if (!goal.rough) {
      set_offsets();
    }
    plan_.peak_bytes = apart + plan_.arena_bytes;
    plan_.is_below = plan_.peak_bytes < goal.below;
    return std::move(plan_);
  }

 private:
  [[nodiscard]] Home& home(SpmdId id) { return plan_.places[at(id)].home; }
  [[nodiscard]] const Step& step(std::size_t number) const {
    return program_.steps[uses_[number].step];
  }

  void settle(SpmdId id, Home home, std::size_t which) {
    plan_.places[at(id)] = {.home = home, .offset = static_cast<std::int64_t>(which)};
  }

  void update_in_place(SpmdId old, SpmdId fresh) {
    const std::int32_t made = lives_.made[at(fresh)];
    if (home(fresh) != Home::kNone || made < 0 || lives_.last[at(old)] > made ||
        program_.at(fresh).local != program_.at(old).local) {
      return;
    }
    if (may_overwrite(step(static_cast<std::size_t>(made)), old, fresh)) {
      plan_.places[at(fresh)] = plan_.places[at(old)];
    }
  }

  // Outputs that all ranks have, and up to when their buffers are free.
  void find_spare() {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const SpmdId output = program_.outputs[i];
      if (program_.at(output).layout->where.empty()) {
        spare_.push_back({.bytes = uses_.bytes(output).local, .until = made_in_place(output)});
        spare_output_.push_back(static_cast<std::int64_t>(i));
      }
    }
  }

  // What an output is computed from in place is made in its buffer as well, and what that is
  // computed from. Returns the step that makes the first of them.
  std::int32_t made_in_place(SpmdId output) {
    SpmdId first = output;
    for (SpmdId before = overwritten_by(first); before.valid(); before = overwritten_by(first)) {
      plan_.places[at(before)] = plan_.places[at(output)];
      first = before;
    }
    return lives_.made[at(first)];
  }

  // What the step that makes a value may write it over; invalid: nothing.
  [[nodiscard]] SpmdId overwritten_by(SpmdId result) {
    const std::int32_t made = lives_.made[at(result)];
    if (made < 0) {
      return {};
    }
    for (const Use& use : uses_.of(static_cast<std::size_t>(made))) {
      const SpmdId operand = use.value;
      if (use.kind == UseKind::kRead && home(operand) == Home::kNone &&
          lives_.made[at(operand)] >= 0 && lives_.last[at(operand)] == made &&
          !carried_[at(operand)].valid() &&
          may_take_over(static_cast<std::size_t>(made), operand, result)) {
        return operand;
      }
    }
    return {};
  }

  // A chain reads each element before it writes it, as long as it reads the operand in the order in
  // which it runs over the result, and not after that call. Its reductions read a band before the
  // result of that band is written, but for those of the leading dim, which may read several bands
  // at once. An all-reduce leaves its sums where their terms were.
  [[nodiscard]] bool may_overwrite(const Step& step, SpmdId operand, SpmdId result) const {
    if (step.kind == StepKind::kAllReduce) {
      return operand == step.from && result == step.to &&
             program_.at(operand).layout->where.empty() &&
             program_.at(result).layout->where.empty();
    }
    if (step.kind != StepKind::kKernel || !result.valid() ||
        program_.at(operand).local.shape != program_.at(result).local.shape) {
      return false;
    }
    bool written = false;
    for (const LocalCall& call : step.calls) {
      const bool reads = std::ranges::find(call.operands, operand) != call.operands.end();
      if (!runs_along(call, result) && (reads || call.result == result)) {
        return false;
      }
      if (reads && (written || reduces_leading_dim(program_, call))) {
        return false;
      }
      written = written || call.result == result;
    }
    return true;
  }

  // Whether the call goes over the elements of the result one by one, or band by band.
  [[nodiscard]] bool runs_along(const LocalCall& call, SpmdId result) const {
    return call.op().tile == nullptr
               ? is_reduction(call)
               : call.result.valid() &&
                     program_.at(call.result).local.shape == program_.at(result).local.shape;
  }

  // Per step, the values that it reads as the last.
  void find_dying() {
    const auto each = [this](const auto& body) {
      for (std::size_t v = 0; v < lives_.last.size(); ++v) {
        if (lives_.last[v] >= 0 && lives_.last[v] != kProgramEnd) {
          body(static_cast<std::size_t>(lives_.last[v]), SpmdId{static_cast<std::int32_t>(v)});
        }
      }
    };
    each([this](std::size_t step, SpmdId /*value*/) { dying_.count(step); });
    dying_.start();
    each([this](std::size_t step, SpmdId value) { dying_.add(step, value); });
  }

  void choose_homes() {
    find_dying();
    std::vector<SpmdId> dying;
    for (std::size_t s = 0; s < uses_.size(); ++s) {
      now_ = static_cast<std::int32_t>(s);
      dying.assign(dying_.at(s).begin(), dying_.at(s).end());
      for (const Use& use : uses_.of(s)) {
        take(s, use, dying);
      }
      for (const SpmdId value : dying) {
        release(value);
      }
      for (const Use& use : uses_.of(s)) {
        const bool unread = use.kind == UseKind::kPartial ||
                            (use.kind == UseKind::kResult && lives_.last[at(use.value)] < 0 &&
                             lives_.made[at(use.value)] == now_);
        if (unread) {
          release(use.value);
        }
      }
    }
  }

  // In the arena, and in outputs that are yet to be made. False: the arena is not below `below`.
  bool place_blocks(std::int64_t below, bool rough) {
    const std::vector<ArenaBlock> all = lend_outputs();
    const std::int64_t least = most_at_once(blocks_);
    plan_.arena_bytes = least;
    if (rough || least >= below) {
      return least < below;
    }
    plan_.arena_bytes = mtf::place(blocks_);
    if (!all.empty() && plan_.arena_bytes > least) {  // there are gaps: maybe more than before
      std::vector<ArenaBlock> others = all;
      if (const std::int64_t bytes = mtf::place(others); bytes <= plan_.arena_bytes) {
        plan_.arena_bytes = bytes;
        blocks_ = std::move(others);
      }
    }
    return true;
  }

  // Puts what is gone before an output is made into its buffer, where that may be worth the time.
  // Returns the blocks as they were; none if nothing fits.
  std::vector<ArenaBlock> lend_outputs() {
    constexpr std::int64_t kWorthLending = 128;  // a part of the whole
    std::int64_t spare = 0;
    for (const SpareMemory& memory : spare_) {
      spare += memory.bytes;
    }
    if (spare <= most_at_once(blocks_) / kWorthLending) {
      return {};
    }
    std::vector<ArenaBlock> before = blocks_;
    return place_in_spare(blocks_, spare_) > 0 ? before : std::vector<ArenaBlock>();
  }

  void set_offsets() {
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      MemoryPlan::Place& place = plan_.places[v];
      if (place.home != Home::kArena) {
        continue;
      }
      const ArenaBlock& block = blocks_[block_[v]];
      place =
          block.is_in_arena()
              ? MemoryPlan::Place{.home = Home::kArena, .offset = block.offset}
              : MemoryPlan::Place{.home = Home::kOutput,
                                  .offset = spare_output_[static_cast<std::size_t>(block.spare)],
                                  .within = block.offset};
    }
  }

  // A result that nobody reads still needs a place to be written to, unless it is one of a chain.
  void take(std::size_t s, const Use& use, std::vector<SpmdId>& dying) {
    const bool is_moved = !uses_[s].is_kernel && step(s).kind != StepKind::kAllReduce;
    if (use.kind == UseKind::kPartial || (use.kind == UseKind::kResult && is_moved)) {
      take_new(use.value);
    } else if (use.kind == UseKind::kResult &&
               (lives_.kept[at(use.value)] != 0 || uses_[s].is_lone || !uses_[s].is_kernel)) {
      take_over_or_new(s, use.value, dying);
    }
  }

  void take_new(SpmdId id) {
    if (home(id) == Home::kNone) {
      home(id) = Home::kArena;
      block_[at(id)] = blocks_.size();
      blocks_.push_back({.bytes = uses_.bytes(id).held, .first = now_, .last = kProgramEnd});
    }
  }

  // Writes over an operand that dies here where it can.
  void take_over_or_new(std::size_t s, SpmdId id, std::vector<SpmdId>& dying) {
    if (home(id) != Home::kNone || settle_as_carried(s, id)) {
      return;
    }
    for (SpmdId& operand : dying) {
      if (home(operand) == Home::kArena && operand != id && may_take_over(s, operand, id)) {
        home(id) = Home::kArena;
        block_[at(id)] = block_[at(operand)];
        operand = dying.back();
        dying.pop_back();
        return;
      }
    }
    take_new(id);
  }

  // Whether a step may write a result where an operand is that another step made.
  [[nodiscard]] bool may_take_over(std::size_t s, SpmdId operand, SpmdId result) const {
    return lives_.made[at(operand)] != lives_.made[at(result)] &&
           uses_.bytes(operand).local == uses_.bytes(result).local &&
           bytes_of(program_.at(operand).type.dtype) == bytes_of(program_.at(result).type.dtype) &&
           may_overwrite(step(s), operand, result);
  }

  // What a trip hands on is made where it is carried, so that nothing has to be copied.
  bool settle_as_carried(std::size_t s, SpmdId id) {
    const SpmdId carried = carried_[at(id)];
    if (!carried.valid() || program_.at(carried).local != program_.at(id).local) {
      return false;
    }
    if (home(carried) == Home::kInput ||
        (reads(uses_.of(s), carried) && !may_overwrite(step(s), carried, id))) {
      return false;
    }
    plan_.places[at(id)] = plan_.places[at(carried)];
    block_[at(id)] = block_[at(carried)];
    lent_[at(id)] = 1;
    return true;
  }

  void release(SpmdId id) {
    if (home(id) == Home::kArena && lent_[at(id)] == 0) {
      blocks_[block_[at(id)]].last = now_;
    }
  }

  // Of what is not in the arena.
  [[nodiscard]] std::int64_t bytes_apart() const {
    std::int64_t bytes = 0;
    for (const SpmdId input : program_.inputs) {
      bytes += rounded(uses_.bytes(input).local);
    }
    for (const SpmdId output : program_.outputs) {
      bytes += rounded(uses_.bytes(output).local);
    }
    for (const WorkingCopy& copy : program_.copies) {
      bytes += rounded(uses_.bytes(copy.value).local);
    }
    return bytes;
  }

  const SpmdProgram& program_;
  const StepUses& uses_;
  LiveRanges lives_;
  MemoryPlan plan_;
  ByStep<SpmdId> dying_;  // by the step that reads them as the last
  std::vector<ArenaBlock> blocks_;
  std::vector<SpareMemory> spare_;
  std::vector<std::int64_t> spare_output_;  // of each, the number of the output
  std::vector<SpmdId> carried_;             // per value: which it takes the place of
  std::vector<char> lent_;                  // whether it is in the memory of one that stays
  std::vector<std::size_t> block_;          // per value in the arena
  std::int32_t now_ = 0;                    // the step
};

}  // namespace

MemoryPlan plan_memory(const SpmdProgram& program, const StepUses& uses, const MemoryGoal& goal) {
  return Planner(program, uses).run(goal);
}

}  // namespace mtf
