#include "lowering/memory/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/memory/live_ranges.h"
#include "lowering/memory/memory.h"

namespace mtf {
namespace {

// Which steps go early: those that free memory, or also collectives that free as much as they take,
// behind which an update may wait.
enum class Early : std::uint8_t { kFreeing, kMoves };

// The place of a step: behind the place of another, or where it was. Compared number by number.
using Place = std::vector<std::size_t>;

class Scheduler {
 public:
  explicit Scheduler(const SpmdProgram& program)
      : program_(program),
        lives_(live_ranges_of(program)),
        operands_(program.steps.size()),
        readers_(program.values.size()),
        segments_(segments_of(program)) {
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      operands_[s] = operands_of(s);
      for (const SpmdId id : operands_[s]) {
        readers_[at(id)].push_back(s);
      }
    }
    for (const SpmdUpdate& update : program.updates) {
      updated_.emplace(update.value.index, program.inputs[update.input]);
    }
  }

  // The numbers of the steps in their new order.
  std::vector<std::size_t> run(Early early) {
    early_ = early;
    places_.assign(program_.steps.size(), {});
    for (std::size_t s = 0; s < places_.size(); ++s) {
      places_[s] = place_of(s);
    }
    std::vector<std::size_t> order(places_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {},
                             [this](std::size_t s) -> const Place& { return places_[s]; });
    return order;
  }

 private:
  [[nodiscard]] std::vector<SpmdId> operands_of(std::size_t s) const {
    const Step& step = program_.steps[s];
    std::vector<SpmdId> ids = read_by(step);
    std::erase_if(ids, [&](SpmdId id) { return lives_.made[at(id)] == number(s); });
    return ids;
  }

  static std::int32_t number(std::size_t s) { return static_cast<std::int32_t>(s); }

  // Whether the step is part of a stream, whose gathers stand right before the product.
  [[nodiscard]] bool is_streamed(std::size_t s) const {
    const Step& step = program_.steps[s];
    return done_at(program_, s) != s ||
           (step.kind == StepKind::kKernel && step.calls.front().stream.parts > 1);
  }

  [[nodiscard]] static bool has_effect(const Step& step) {
    return std::ranges::any_of(step.calls,
                               [](const LocalCall& call) { return call.call.op->effect; });
  }

  // What doing a step earlier takes.
  struct Needs {
    std::vector<std::size_t> before;     // steps that it goes behind
    std::vector<std::size_t> constants;  // steps that may go anywhere
    std::int64_t freed = 0;              // bytes
  };

  [[nodiscard]] Needs needs_of(std::size_t s) const {
    Needs needs;
    for (const SpmdId id : operands_[s]) {
      const std::int32_t maker = lives_.made[at(id)];
      if (maker >= 0 && is_constant(static_cast<std::size_t>(maker))) {
        needs.constants.push_back(static_cast<std::size_t>(maker));
        continue;
      }
      if (maker >= 0) {
        needs.before.push_back(static_cast<std::size_t>(maker));
      }
      if (lives_.last[at(id)] == number(s)) {
        add_other_readers(id, s, needs.before);
        needs.freed += maker >= 0 ? program_.at(id).held_bytes() : 0;
      }
    }
    return needs;
  }

  Place place_of(std::size_t s) {
    const Step& step = program_.steps[s];
    if (is_streamed(s) || has_effect(step)) {
      return {s};
    }
    Needs needs = needs_of(s);
    const std::int64_t taken = taken_by(step, s, needs.before);
    const bool moves = early_ == Early::kMoves && is_collective(step.kind);
    if (needs.before.empty() || needs.freed == 0 || taken > needs.freed ||
        (taken == needs.freed && !moves)) {
      return {s};
    }
    const std::size_t last = *std::ranges::max_element(
        needs.before, {}, [this](std::size_t b) -> const Place& { return places_[b]; });
    if (segments_[last] != segments_[s]) {
      return {s};
    }
    for (const std::size_t constant : needs.constants) {
      places_[constant] = {};  // before all others
    }
    Place place = places_[last];
    place.push_back(s);
    return place;
  }

  [[nodiscard]] bool is_constant(std::size_t s) const {
    const Step& step = program_.steps[s];
    return step.calls.size() == 1 && step.calls.front().operands.empty() &&
           step.calls.front().call.result.shape.rank() == 0 &&
           !step.calls.front().call.op->random && !has_effect(step);
  }

  void add_other_readers(SpmdId id, std::size_t s, std::vector<std::size_t>& before) const {
    for (const std::size_t reader : readers_[at(id)]) {
      if (reader < s) {
        before.push_back(done_at(program_, reader));
      }
    }
  }

  // Bytes of new memory. An update in place takes none, but goes behind all readers of the old.
  std::int64_t taken_by(const Step& step, std::size_t s, std::vector<std::size_t>& before) const {
    if (step.kind != StepKind::kKernel) {
      return program_.at(step.to).held_bytes();
    }
    std::int64_t taken = 0;
    for (const LocalCall& call : step.calls) {
      if (!call.result.valid() || lives_.kept[at(call.result)] == 0) {
        continue;
      }
      const auto update = updated_.find(call.result.index);
      if (update != updated_.end() && call.call.op->tile != nullptr) {
        add_other_readers(update->second, s, before);
      } else {
        taken += program_.at(call.result).held_bytes();
      }
    }
    return taken;
  }

  const SpmdProgram& program_;
  Early early_ = Early::kFreeing;
  LiveRanges lives_;
  std::vector<std::vector<SpmdId>> operands_;      // per step, what others made
  std::vector<std::vector<std::size_t>> readers_;  // per value, the steps that read it
  std::vector<Place> places_;                      // per step
  std::vector<std::size_t> segments_;              // per step, of the loops
  std::map<std::int32_t, SpmdId> updated_;         // of variables: new values, and the old ones
};

void reorder(SpmdProgram& program, const std::vector<std::size_t>& order) {
  std::vector<Step> steps;
  steps.reserve(order.size());
  for (const std::size_t s : order) {
    steps.push_back(std::move(program.steps[s]));
  }
  program.steps = std::move(steps);
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    result[order[i]] = i;
  }
  return result;
}

// Where values are, and what that takes.
struct MemoryPlan {
  std::vector<std::pair<Home, std::int64_t>> places;  // home and offset, per value
  std::int64_t arena_bytes = 0;
  std::int64_t peak_bytes = 0;
};

MemoryPlan memory_plan_of(const SpmdProgram& program) {
  MemoryPlan plan{
      .places = {}, .arena_bytes = program.arena_bytes, .peak_bytes = program.totals.peak_bytes};
  plan.places.reserve(program.values.size());
  for (const SpmdValue& value : program.values) {
    plan.places.emplace_back(value.home, value.offset);
  }
  return plan;
}

void restore(SpmdProgram& program, const MemoryPlan& plan) {
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    std::tie(program.values[v].home, program.values[v].offset) = plan.places[v];
  }
  program.arena_bytes = plan.arena_bytes;
  program.totals.peak_bytes = plan.peak_bytes;
}

}  // namespace

void schedule(SpmdProgram& program) {
  plan_memory(program);
  std::optional<Scheduler> scheduler;
  for (const Early early : {Early::kFreeing, Early::kMoves}) {
    if (!scheduler) {
      scheduler.emplace(program);
    }
    const std::vector<std::size_t> order = scheduler->run(early);
    if (std::ranges::is_sorted(order)) {
      continue;
    }
    const MemoryPlan before = memory_plan_of(program);
    reorder(program, order);
    if (plan_memory(program, before.peak_bytes)) {
      scheduler.reset();
    } else {
      reorder(program, inverse(order));
      restore(program, before);
    }
  }
}

}  // namespace mtf
