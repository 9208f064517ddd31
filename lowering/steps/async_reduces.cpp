#include "lowering/steps/async_reduces.h"

#include <algorithm>
#include <limits>
#include <span>

#include "lowering/loops/loops.h"
#include "lowering/memory/step_uses.h"

namespace mtf {
namespace {

constexpr std::size_t kUnmade = std::numeric_limits<std::size_t>::max();

bool may_be_async(const SpmdProgram& program, const Step& step) {
  if (step.kind != StepKind::kAllReduce || !step.calls.empty() ||
      program.mesh.size_of(step.axes) == 1) {
    return false;
  }
  const auto is_plain = [&](SpmdId id) {
    const SpmdValue& value = program.at(id);
    return value.layout->where.empty() && value.layout->reach.empty() && value.pieces == 1;
  };
  return is_plain(step.from) && is_plain(step.to) &&
         program.at(step.from).local == program.at(step.to).local;
}

bool share_memory(const SpmdValue& one, const SpmdValue& other) {
  return one.home == other.home && one.offset == other.offset && one.within == other.within;
}

class AsyncFinder {
 public:
  explicit AsyncFinder(const SpmdProgram& program)
      : program_(program),
        uses_(program),
        makers_(program.values.size(), kUnmade),
        readers_(program.values.size()),
        segments_(segments_of(program)) {
    for (std::size_t s = 0; s < uses_.size(); ++s) {
      for (const Use& use : uses_.of(s)) {
        if (use.kind == UseKind::kRead) {
          readers_[at(use.value)].push_back(s);
        } else if (use.kind == UseKind::kResult) {
          makers_[at(use.value)] = s;
        }
      }
    }
    find_ends();
  }

  [[nodiscard]] std::vector<AsyncReduce> run() const {
    std::vector<AsyncReduce> found;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (!may_be_async(program_, program_.steps[s]) || program_.steps[s].with_next) {
        continue;
      }
      const StepRange message = message_of(program_, s);
      const AsyncReduce reduce{
          .message = message, .start = start_of(message), .finish = finish_of(message)};
      if (reduce.finish - reduce.start > message.size()) {
        found.push_back(reduce);
      }
    }
    std::ranges::stable_sort(found, {}, &AsyncReduce::start);
    return found;
  }

 private:
  // Per step, the mark of a loop that comes next, or the end.
  void find_ends() {
    ends_.assign(uses_.size(), uses_.size());
    for (std::size_t s = uses_.size(); s-- > 0;) {
      const bool is_last = s + 1 == uses_.size();
      const bool is_mark = !is_last && uses_[s + 1].mark != LoopMark::kNone;
      ends_[s] = is_mark ? s + 1 : is_last ? uses_.size() : ends_[s + 1];
    }
  }

  // Several wait until all are made, and are packed.
  [[nodiscard]] std::size_t start_of(StepRange message) const {
    std::size_t begin = 0;
    for (std::size_t s = message.begin; s < message.end; ++s) {
      begin =
          std::max(begin, message.size() > 1 ? made_before(s, message.begin) : unread_before(s));
    }
    return std::min(begin, message.begin);
  }

  // The step before which the terms of a sum are there; of what another one makes, `otherwise`.
  [[nodiscard]] std::size_t made_before(std::size_t step, std::size_t otherwise) const {
    const std::size_t maker = makers_[at(program_.steps[step].from)];
    const bool is_known = maker != kUnmade && segments_[maker] == segments_[step] &&
                          program_.steps[maker].kind == StepKind::kKernel;
    return is_known ? maker + 1 : otherwise;
  }

  // … and nobody else reads them any more.
  [[nodiscard]] std::size_t unread_before(std::size_t step) const {
    const Step& what = program_.steps[step];
    if (!share_memory(program_.at(what.from), program_.at(what.to))) {
      return step;
    }
    std::size_t begin = made_before(step, step);
    for (const std::size_t reader : readers_[at(what.from)]) {
      begin = reader < step ? std::max(begin, reader + 1) : begin;
    }
    return begin;
  }

  // Before the first reader of a sum. A sum without one leaves its memory to others at once.
  [[nodiscard]] std::size_t finish_of(StepRange message) const {
    std::size_t finish = ends_[message.end - 1];
    for (std::size_t s = message.begin; s < message.end; ++s) {
      const SpmdId sum = program_.steps[s].to;
      const std::vector<std::size_t>& readers = readers_[at(sum)];
      const bool is_kept =
          !readers.empty() || std::ranges::find(program_.outputs, sum) != program_.outputs.end() ||
          std::ranges::find(program_.updates, sum, &SpmdUpdate::value) != program_.updates.end();
      const auto first = std::ranges::lower_bound(readers, message.end);
      finish = !is_kept ? message.end : first == readers.end() ? finish : std::min(finish, *first);
    }
    return finish;
  }

  const SpmdProgram& program_;
  StepUses uses_;
  std::vector<std::size_t> makers_;                // per value
  std::vector<std::vector<std::size_t>> readers_;  // per value, in order
  std::vector<std::size_t> segments_;              // per step
  std::vector<std::size_t> ends_;
};

}  // namespace

std::vector<AsyncReduce> async_reduces_of(const SpmdProgram& program) {
  return AsyncFinder(program).run();
}

}  // namespace mtf
