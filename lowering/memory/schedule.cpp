#include "lowering/memory/schedule.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lowering/memory/late.h"
#include "lowering/memory/live_ranges.h"
#include "lowering/memory/memory.h"

namespace mtf {
namespace {

// A peak may grow by one part of so many where products wait: what they make need not go through
// memory then.
constexpr std::int64_t kPeakPerWaiting = 128;

// Which steps go early: those that free memory, or also collectives that free as much as they take,
// behind which an update may wait.
enum class Early : std::uint8_t { kFreeing, kMoves };

// The order in which steps go behind others: each has the step that it goes right behind, if it is
// not where it was, and of those behind one step the first is the one with the least number.
class Places {
 public:
  explicit Places(std::size_t steps) : behind_(steps, kNone), depth_(steps, 0), first_(steps, 0) {}

  void put(std::size_t step, std::size_t behind) {
    behind_[step] = behind;
    depth_[step] = depth_[behind] + 1;
  }
  // Whether it was not there already.
  bool put_first(std::size_t step) { return std::exchange(first_[step], char{1}) == 0; }

  // Whether it comes before the other.
  [[nodiscard]] bool is_before(std::size_t one, std::size_t other) const {
    std::size_t a = one;
    std::size_t b = other;
    while (depth_[a] > depth_[b]) {
      a = behind_[a];
    }
    while (depth_[b] > depth_[a]) {
      b = behind_[b];
    }
    if (a == b) {
      return depth_[one] < depth_[other];
    }
    while (behind_[a] != behind_[b]) {
      a = behind_[a];
      b = behind_[b];
    }
    return a < b;
  }

  // The numbers of the steps in their new order.
  [[nodiscard]] std::vector<std::size_t> order() const {
    const std::size_t count = behind_.size();
    std::vector<std::size_t> order;
    order.reserve(count);
    for (std::size_t s = 0; s < count; ++s) {
      if (first_[s] != 0) {
        order.push_back(s);
      }
    }
    std::vector<std::size_t> child(count, kNone);    // the first behind each
    std::vector<std::size_t> sibling(count, kNone);  // the next behind the same
    for (std::size_t s = count; s-- > 0;) {
      if (behind_[s] != kNone) {
        sibling[s] = std::exchange(child[behind_[s]], s);
      }
    }
    for (std::size_t root = 0; root < count; ++root) {
      if (behind_[root] == kNone && first_[root] == 0) {
        add_tree(root, child, sibling, order);
      }
    }
    return order;
  }

 private:
  // A step and all behind it.
  void add_tree(std::size_t root, std::span<const std::size_t> child,
                std::span<const std::size_t> sibling, std::vector<std::size_t>& order) const {
    std::size_t s = root;
    while (s != kNone) {
      order.push_back(s);
      std::size_t next = child[s];
      while (next == kNone && s != root) {
        next = sibling[s];
        s = behind_[s];
      }
      s = next;
    }
  }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::vector<std::size_t> behind_;
  std::vector<std::uint32_t> depth_;
  std::vector<char> first_;  // before all others
};

class Scheduler {
 public:
  Scheduler(const SpmdProgram& program, const StepUses& uses)
      : program_(program),
        uses_(uses),
        lives_(live_ranges_of(program, uses)),
        segments_(segments_of(uses.marks())),
        updated_(program.values.size()),
        places_(0) {
    find_readers();
    for (const SpmdUpdate& update : program.updates) {
      SpmdId& old = updated_[at(update.value)];
      old = old.valid() ? old : program.inputs[update.input];
    }
    for (const WorkingCopy& copy : program.copies) {
      updated_[at(copy.next)] = copy.value;
    }
  }

  // The numbers of the steps in their new order.
  std::vector<std::size_t> run(Early early) {
    early_ = early;
    places_ = Places(uses_.size());
    for (std::size_t s = 0; s < uses_.size(); ++s) {
      place(s);
    }
    return places_.order();
  }

 private:
  // Whether another step made what the use reads.
  [[nodiscard]] bool reads(const Use& use, std::size_t s) const {
    return use.kind == UseKind::kRead && lives_.made[at(use.value)] != number(s);
  }

  void find_readers() {
    readers_begin_.assign(program_.values.size() + 1, 0);
    const auto each = [this](const auto& body) {
      for (std::size_t s = 0; s < uses_.size(); ++s) {
        for (const Use& use : uses_.of(s)) {
          if (reads(use, s)) {
            body(at(use.value), s);
          }
        }
      }
    };
    each([this](std::size_t value, std::size_t /*s*/) { ++readers_begin_[value + 1]; });
    std::partial_sum(readers_begin_.begin(), readers_begin_.end(), readers_begin_.begin());
    readers_.resize(readers_begin_.back());
    std::vector<std::size_t> next(readers_begin_.begin(), std::prev(readers_begin_.end()));
    each([&](std::size_t value, std::size_t s) { readers_[next[value]++] = s; });
  }

  static std::int32_t number(std::size_t s) { return static_cast<std::int32_t>(s); }

  // A stream is left as it is: its gathers stand right before the product. So is a message.
  [[nodiscard]] bool stays(std::size_t s) const {
    return uses_[s].passes || uses_[s].in_pieces || uses_[s].has_effect || uses_[s].with_next ||
           (s > 0 && uses_[s - 1].with_next);
  }

  // The other step that makes what the use reads.
  [[nodiscard]] std::optional<std::size_t> maker_of(const Use& use, std::size_t s) const {
    const std::int32_t maker = reads(use, s) ? lives_.made[at(use.value)] : -1;
    return maker >= 0 ? std::optional(static_cast<std::size_t>(maker)) : std::nullopt;
  }

  [[nodiscard]] bool is_computed(std::size_t number) const {
    return std::ranges::any_of(uses_.of(number),
                               [this, number](const Use& use) { return reads(use, number); });
  }

  // Whether it could go right behind an all-reduce only if numbers were computed earlier than they
  // are, as for an update whose rate is: there it would wait for what other steps could hide.
  [[nodiscard]] bool would_wait(std::size_t s) const {
    std::optional<std::size_t> last_number;
    std::optional<std::size_t> last_move;
    for (const Use& use : uses_.of(s)) {
      const std::optional<std::size_t> maker = maker_of(use, s);
      if (maker && uses_[*maker].is_collective) {
        last_move = std::max(last_move, maker);
      } else if (maker && uses_[*maker].makes_number && is_computed(*maker)) {
        last_number = std::max(last_number, maker);
      }
    }
    return last_move && last_number > last_move;
  }

  // What doing a step earlier takes.
  void find_needs(std::size_t s) {
    before_.clear();
    numbers_.clear();
    freed_ = 0;
    for (const Use& use : uses_.of(s)) {
      if (!reads(use, s)) {
        continue;
      }
      const std::optional<std::size_t> maker = maker_of(use, s);
      if (maker && uses_[*maker].makes_number) {
        numbers_.push_back(*maker);
        continue;
      }
      if (maker) {
        before_.push_back(uses_.sent(*maker));
      }
      if (lives_.last[at(use.value)] == number(s)) {
        add_other_readers(use.value, s);
        freed_ += maker ? uses_.bytes(use.value).held : 0;
      }
    }
  }

  // Behind the last of those that it waits for, where that frees memory.
  void place(std::size_t s) {
    if (stays(s) || uses_[s].makes_number) {
      return;
    }
    find_needs(s);
    const std::int64_t taken = taken_by(s);
    const bool moves = early_ == Early::kMoves && uses_[s].is_collective;
    if (before_.empty() || freed_ == 0 || taken > freed_ || (taken == freed_ && !moves)) {
      return;
    }
    const std::size_t last = *std::ranges::max_element(
        before_,
        [this](std::size_t one, std::size_t other) { return places_.is_before(one, other); });
    if (segments_[last] != segments_[s] || would_wait(s)) {
      return;
    }
    put_numbers_first();
    places_.put(s, last);
  }

  // With what they are computed from.
  void put_numbers_first() {
    while (!numbers_.empty()) {
      const std::size_t number = numbers_.back();
      numbers_.pop_back();
      if (!places_.put_first(number)) {
        continue;
      }
      for (const Use& use : uses_.of(number)) {
        if (const std::optional<std::size_t> maker = maker_of(use, number)) {
          numbers_.push_back(*maker);
        }
      }
    }
  }

  // Numbers may be there before all: of those an old one is kept rather than waited for.
  void add_other_readers(SpmdId id, std::size_t s) {
    for (std::size_t r = readers_begin_[at(id)]; r < readers_begin_[at(id) + 1]; ++r) {
      if (readers_[r] < s && !uses_[readers_[r]].makes_number) {
        before_.push_back(uses_.sent(uses_.done(readers_[r])));
      }
    }
  }

  // Bytes of new memory. An update in place takes none, but goes behind all readers of the old.
  std::int64_t taken_by(std::size_t s) {
    std::int64_t taken = 0;
    for (const Use& use : uses_.of(s)) {
      if (use.kind != UseKind::kResult || (uses_[s].is_kernel && lives_.kept[at(use.value)] == 0)) {
        continue;
      }
      const SpmdId old = updated_[at(use.value)];
      if (old.valid() && uses_[s].is_kernel && is_element_wise(s, use.value)) {
        add_other_readers(old, s);
      } else {
        taken += uses_.bytes(use.value).held;
      }
    }
    return taken;
  }

  // Whether the call of the step that makes it is.
  [[nodiscard]] bool is_element_wise(std::size_t s, SpmdId result) const {
    const std::vector<LocalCall>& calls = program_.steps[uses_[s].step].calls;
    const auto call = std::ranges::find(calls, result, &LocalCall::result);
    return call != calls.end() && call->op().tile != nullptr;
  }

  const SpmdProgram& program_;
  const StepUses& uses_;
  Early early_ = Early::kFreeing;
  LiveRanges lives_;
  std::vector<std::size_t> readers_begin_;  // per value, in `readers_`
  std::vector<std::size_t> readers_;        // steps that read what others made
  std::vector<std::size_t> segments_;       // per step, of the loops
  // Per value: the old one, if it is the new one of a variable or a working copy.
  std::vector<SpmdId> updated_;
  Places places_;
  // Of the step that is being placed.
  std::vector<std::size_t> before_;   // steps that it goes behind
  std::vector<std::size_t> numbers_;  // steps that may go before all others
  std::int64_t freed_ = 0;            // bytes
};

// Where they are, one after the other along each cycle of places: steps are large.
void reorder(std::vector<Step>& steps, const StepUses& uses) {
  std::vector<std::size_t> from(steps.size());  // whose step a place is yet to get; its own: none
  std::ranges::transform(uses.steps(), from.begin(), &StepUse::step);
  for (std::size_t begin = 0; begin < steps.size(); ++begin) {
    if (from[begin] == begin) {
      continue;
    }
    Step first = std::move(steps[begin]);
    std::size_t place = begin;
    while (from[place] != begin) {
      steps[place] = std::move(steps[from[place]]);
      place = std::exchange(from[place], place);
    }
    steps[place] = std::move(first);
    from[place] = place;
  }
}

void set_memory(SpmdProgram& program, const MemoryPlan& plan) {
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    program.values[v].home = plan.places[v].home;
    program.values[v].offset = plan.places[v].offset;
    program.values[v].within = plan.places[v].within;
  }
  program.arena_bytes = plan.arena_bytes;
  program.totals.peak_bytes = plan.peak_bytes;
}

}  // namespace

void schedule(SpmdProgram& program, bool rough) {
  StepUses uses(program);
  MemoryPlan best = plan_memory(program, uses, {.rough = rough});
  bool is_moved = false;
  // Whether an order is taken: one whose peak is below.
  const auto take = [&](const std::vector<std::size_t>& order, std::int64_t below) {
    if (std::ranges::is_sorted(order)) {
      return false;
    }
    std::vector<StepUse> before = uses.steps();
    uses.reorder(order);
    MemoryPlan plan = plan_memory(program, uses, {.below = below, .rough = rough});
    if (!plan.is_below) {
      uses.restore(std::move(before));
      return false;
    }
    best = std::move(plan);
    is_moved = true;
    return true;
  };
  std::optional<Scheduler> scheduler;
  for (const Early early : {Early::kFreeing, Early::kMoves}) {
    if (!scheduler) {
      scheduler.emplace(program, uses);
    }
    if (take(scheduler->run(early), best.peak_bytes)) {
      scheduler.reset();
    }
  }
  take(late_order(program, uses), best.peak_bytes + best.peak_bytes / kPeakPerWaiting + 1);
  if (is_moved) {
    reorder(program.steps, uses);
  }
  set_memory(program, best);
}

}  // namespace mtf
