#include "lowering/steps/bucket.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr std::size_t kNoMaker = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kNotAwaited = kNoMaker;

std::int64_t packed_bytes(const SpmdProgram& program, const Step& step) {
  return program.at(step.from).local.bytes();
}

// Follows the steps, and has all-reduces wait from the moment at which they could be done until the
// first of those that fit together has to be.
class Packer {
 public:
  explicit Packer(SpmdProgram& program)
      : program_(program),
        sums_(program.values.size()),
        awaited_(program.values.size(), kNotAwaited),
        is_packed_(program.steps.size(), 0),
        before_(program.steps.size() + 1) {}

  void run() {
    if (find_sums() < 2) {
      return;
    }
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (is_packed_[s] == 0) {
        pass(s);
      }
    }
    here_ = program_.steps.size();
    send_all();
    if (!messages_.empty()) {
      put_together();
    }
  }

 private:
  // All-reduces that would go in one message now, in the order in which what they sum up was made.
  struct Waiting {
    std::vector<std::size_t> steps;
    std::int64_t bytes = 0;
  };

  template <typename F>
  static void for_results(const Step& step, const F& body) {
    if (step.kind != StepKind::kKernel) {
      body(step.to);
      return;
    }
    for (const LocalCall& call : step.calls) {
      if (call.result.valid()) {
        body(call.result);
      }
    }
  }

  // Their number. None is moved to where steps are done more or less often (loops/loops.h).
  std::size_t find_sums() {
    const std::vector<std::size_t> segments = segments_of(program_);
    std::vector<std::size_t> makers(program_.values.size(), kNoMaker);
    std::size_t found = 0;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      const std::size_t maker = may_be_packed(program_, step) ? makers[at(step.from)] : kNoMaker;
      if (maker != kNoMaker && segments[maker] == segments[s]) {
        sums_[at(step.from)].push_back(s);
        ++found;
      }
      for_results(step, [&](SpmdId id) { makers[at(id)] = s; });
    }
    return found;
  }

  void pass(std::size_t s) {
    const Step& step = program_.steps[s];
    here_ = s;
    if (loop_mark(step) != LoopMark::kNone) {
      send_all();
    }
    for_read(step, [this](SpmdId id) {
      if (awaited_[at(id)] != kNotAwaited) {
        send(awaited_[at(id)]);
      }
    });
    if (step.kind == StepKind::kAllReduce && awaited_[at(step.to)] != kNotAwaited) {
      return;  // it waits for others
    }
    here_ = s + 1;
    for_results(step, [this](SpmdId id) { is_there(id); });
  }

  // The all-reduces of the value may go.
  void is_there(SpmdId id) {
    for (const std::size_t s : sums_[at(id)]) {
      const Step& step = program_.steps[s];
      const std::size_t group = group_of(step);
      const std::int64_t bytes = packed_bytes(program_, step);
      if (waiting_[group].bytes + bytes > kMostPacked) {
        send(group);
      }
      waiting_[group].steps.push_back(s);
      waiting_[group].bytes += bytes;
      awaited_[at(step.to)] = group;
    }
  }

  std::size_t group_of(const Step& step) {
    const auto found = std::ranges::find_if(groups_, [&](std::size_t first) {
      return fit_together(program_, program_.steps[first], step);
    });
    if (found == groups_.end()) {
      groups_.push_back(static_cast<std::size_t>(&step - program_.steps.data()));
      waiting_.emplace_back();
      return groups_.size() - 1;
    }
    return static_cast<std::size_t>(found - groups_.begin());
  }

  // In front of the step that comes next. What is alone stays where it is.
  void send(std::size_t group) {
    const std::vector<std::size_t> steps = std::exchange(waiting_[group], {}).steps;
    for (const std::size_t s : steps) {
      awaited_[at(program_.steps[s].to)] = kNotAwaited;
      is_packed_[s] = steps.size() > 1 ? 1 : 0;
    }
    if (steps.size() > 1) {
      before_[here_].push_back(messages_.size());
      messages_.push_back(steps);
    }
    for (const std::size_t s : steps) {
      if (steps.size() > 1 || s < here_) {
        is_there(program_.steps[s].to);
      }
    }
  }

  void send_all() {
    for (std::size_t group = 0; group < waiting_.size(); ++group) {
      send(group);
    }
  }

  void put_together() {
    std::vector<Step> steps;
    steps.reserve(program_.steps.size());
    for (std::size_t s = 0; s < before_.size(); ++s) {
      for (const std::size_t message : before_[s]) {
        for (const std::size_t member : messages_[message]) {
          steps.push_back(std::move(program_.steps[member]));
          steps.back().with_next = member != messages_[message].back();
        }
      }
      if (s < program_.steps.size() && is_packed_[s] == 0) {
        steps.push_back(std::move(program_.steps[s]));
      }
    }
    program_.steps = std::move(steps);
  }

  SpmdProgram& program_;
  std::vector<std::vector<std::size_t>> sums_;  // per value, the all-reduces of it
  std::vector<std::size_t> awaited_;            // per value, the group of the one that makes it
  std::vector<std::size_t> groups_;             // of those that fit together, one
  std::vector<Waiting> waiting_;                // per group
  std::vector<std::vector<std::size_t>> messages_;
  std::vector<char> is_packed_;                   // per step: in one of them
  std::vector<std::vector<std::size_t>> before_;  // per step, the messages that go before it
  std::size_t here_ = 0;                          // the step before which a message would go now
};

}  // namespace

bool may_be_packed(const SpmdProgram& program, const Step& step) {
  if (step.kind != StepKind::kAllReduce || !step.calls.empty() ||
      program.mesh.size_of(step.axes) == 1) {
    return false;
  }
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  return from.local == to.local && from.layout->where.empty() && to.layout->where.empty() &&
         from.layout->reach.empty() && to.layout->reach.empty() &&
         from.local.bytes() <= kLongestPacked;
}

bool fit_together(const SpmdProgram& program, const Step& one, const Step& other) {
  return one.axes == other.axes && one.combine == other.combine &&
         program.at(one.from).type.dtype == program.at(other.from).type.dtype;
}

void bucket(SpmdProgram& program) {
  Packer(program).run();
}

}  // namespace mtf
