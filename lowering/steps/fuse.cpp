#include "lowering/steps/fuse.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/steps/bands.h"
#include "lowering/steps/column_bands.h"

namespace mtf {
namespace {

constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

class Fuser {
 public:
  explicit Fuser(SpmdProgram& program)
      : program_(program),
        maker_(program.values.size(), kNoStep),
        last_reader_(program.values.size(), 0),
        uses_(program.values.size(), 0),
        segments_(segments_of(program)),
        is_chain_(program.steps.size(), 0),
        has_same_elements_(program.steps.size(), 0),
        is_read_(program.steps.size(), 0),
        length_(program.steps.size(), 0),
        extent_(program.steps.size()),
        first_(program.steps.size()),
        next_(program.steps.size(), kNoStep),
        gone_(program.steps.size(), 0) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      const Step& step = program.steps[s];
      if (step.calls.empty()) {
        last_reader_[at(step.from)] = s;
      }
      for (const LocalCall& call : step.calls) {
        for (const SpmdId operand : call.operands) {
          ++uses_[at(operand)];
          last_reader_[at(operand)] = s;
        }
      }
    }
  }

  void run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      join_operands(s);
      note(s);
    }
    put_together();
  }

 private:
  [[nodiscard]] const Shape& local_shape_of(const Step& step) const {
    return program_.at(step.calls.back().result).local.shape;
  }

  // Of the whole: uneven slices of several sizes may have the same longest one.
  [[nodiscard]] const Shape& shape_of(const Step& step) const {
    return program_.at(step.calls.back().result).type.shape;
  }

  [[nodiscard]] const std::vector<Condition>& holders_of(const Step& step) const {
    return program_.at(step.calls.back().result).layout->where;
  }

  void join_operands(std::size_t s) {
    length_[s] = program_.steps[s].calls.size();
    is_chain_[s] = is_chain(program_.steps[s]) ? 1 : 0;
    if (is_chain_[s] == 0) {
      return;
    }
    has_same_elements_[s] = std::ranges::all_of(program_.steps[s].calls, is_element_wise) ? 1 : 0;
    extent_[s] = extent_of(program_, chain_of(program_.steps[s]));
    std::vector<SpmdId>& operands = to_join_;
    operands = program_.steps[s].calls.back().operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::size_t m = maker_[at(operands[i])];
      if (m == kNoStep || m == s || segments_[m] != segments_[s] || !can_join(m, s) ||
          holds_back(m, s)) {
        continue;
      }
      if (extent_[s].has_columns) {  // what waited for it joins, too
        for_calls(m, [&operands](const LocalCall& call) {
          operands.insert(operands.end(), call.operands.begin(), call.operands.end());
        });
      }
      join(m, s);
    }
  }

  [[nodiscard]] bool can_join(std::size_t m, std::size_t s) const {
    const Step& early = program_.steps[m];
    const Step& late = program_.steps[s];
    if (is_chain_[m] == 0 || length_[m] + length_[s] > kMaxChain || is_read_[m] != 0 ||
        is_shared_constant(m) || holders_of(early) != holders_of(late) || reads_columns(m, s)) {
      return false;
    }
    return (has_same_elements_[m] != 0 && has_same_elements_[s] != 0 &&
            local_shape_of(early) == local_shape_of(late) && shape_of(early) == shape_of(late)) ||
           may_share_bands(m, s);
  }

  // Whether step s reads what bands of step m only leave parts of. Or may do so in the end: what
  // only reads elements of such a chain waits for who joins it.
  [[nodiscard]] bool reads_columns(std::size_t m, std::size_t s) const {
    if (!extent_[m].has_columns || !extent_[s].has_columns) {
      return extent_[m].has_columns;
    }
    std::set<SpmdId> columns;
    for_calls(m, [&](const LocalCall& call) {
      if (reduces_leading_dim(program_, call)) {
        columns.insert(call.result);
      }
    });
    bool reads = false;
    for_calls(s, [&](const LocalCall& call) {
      reads = reads ||
              std::ranges::any_of(call.operands, [&](SpmdId id) { return columns.contains(id); });
    });
    return reads;
  }

  [[nodiscard]] bool may_share_bands(std::size_t m, std::size_t s) const {
    return may_run_in_bands(program_, joined(program_, extent_[m], extent_[s]), [&] {
      Chain chain;
      for (const std::size_t step : {m, s}) {
        for_calls(step, [&chain](const LocalCall& call) { chain.push_back(&call); });
      }
      return chain;
    });
  }

  // Whether what a reduction reads, and nobody reads behind it, would have to wait for step s in
  // more memory than what the reduction makes.
  [[nodiscard]] bool holds_back(std::size_t m, std::size_t s) const {
    if (has_same_elements_[m] != 0) {
      return false;
    }
    std::int64_t held = 0;
    std::set<std::size_t> seen;
    for_calls(m, [&](const LocalCall& call) {
      held -= program_.at(call.result).local.bytes();
      for (const SpmdId id : call.operands) {
        const std::size_t maker = maker_[at(id)];
        const bool dies = maker != kNoStep && maker != m && last_reader_[at(id)] < s;
        held += dies && seen.insert(at(id)).second ? program_.at(id).local.bytes() : 0;
      }
    });
    return held > 0;
  }

  // A chain that made it would have to come before all the others that read it.
  [[nodiscard]] bool is_shared_constant(std::size_t s) const {
    const LocalCall& call = program_.steps[s].calls.front();
    return length_[s] == 1 && call.operands.empty() && uses_[at(call.result)] > 1;
  }

  // The calls of step m go to the front of step s.
  void join(std::size_t m, std::size_t s) {
    Step& early = program_.steps[m];
    Step& late = program_.steps[s];
    for_calls(m, [&](const LocalCall& call) { maker_[at(call.result)] = s; });
    late.flops += early.flops;
    late.reasons.insert(late.reasons.begin(), std::make_move_iterator(early.reasons.begin()),
                        std::make_move_iterator(early.reasons.end()));
    next_[m] = first_[s];
    first_[s] = first_[m];
    has_same_elements_[s] = has_same_elements_[s] != 0 && has_same_elements_[m] != 0 ? 1 : 0;
    length_[s] += length_[m];
    extent_[s] = joined(program_, extent_[m], extent_[s]);
    gone_[m] = 1;
  }

  // Of a chain all, in order, though they are yet in the steps that they were in.
  template <typename F>
  void for_calls(std::size_t s, const F& body) const {
    for (std::size_t part = first_[s]; part != kNoStep; part = next_part(part, s)) {
      std::ranges::for_each(program_.steps[part].calls, body);
    }
  }

  // Of the chain that ends with step s, what follows a part.
  [[nodiscard]] std::size_t next_part(std::size_t part, std::size_t s) const {
    return part == s ? kNoStep : next_[part];
  }

  // The calls of each chain into its step; the others of its steps are no more.
  void put_together() {
    std::vector<LocalCall> calls;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (gone_[s] != 0 || first_[s] == s) {
        continue;
      }
      calls.clear();
      calls.reserve(length_[s]);
      for (std::size_t part = first_[s]; part != kNoStep; part = next_part(part, s)) {
        std::vector<LocalCall> of_part = std::exchange(program_.steps[part].calls, {});
        std::ranges::move(of_part, std::back_inserter(calls));
      }
      program_.steps[s].calls = std::exchange(calls, {});
    }
    std::erase_if(program_.steps, [&](const Step& step) {
      return gone_[static_cast<std::size_t>(&step - program_.steps.data())] != 0;
    });
  }

  // Reads from inside the chain do not count: the chain moves as one.
  void note(std::size_t s) {
    const Step& step = program_.steps[s];
    if (step.kind != StepKind::kKernel) {
      for_read(step, [&](SpmdId id) { read(id, s); });
      maker_[at(step.to)] = s;
      return;
    }
    for_calls(s, [&](const LocalCall& call) {
      for (const SpmdId operand : call.operands) {
        read(operand, s);
      }
      if (call.result.valid()) {
        maker_[at(call.result)] = s;
      }
    });
  }

  void read(SpmdId value, std::size_t s) {
    if (const std::size_t maker = maker_[at(value)]; maker != s && maker != kNoStep) {
      is_read_[maker] = 1;
    }
  }

  SpmdProgram& program_;
  std::vector<std::size_t> maker_;        // the step that makes a value
  std::vector<std::size_t> last_reader_;  // before any step joined another
  std::vector<int> uses_;                 // as operands
  std::vector<std::size_t> segments_;     // per step, of the loops
  std::vector<char> is_chain_;            // per step that was met
  std::vector<char> has_same_elements_;   // of a chain: all of its calls are element-wise
  std::vector<char> is_read_;             // whether another step reads what it makes
  std::vector<std::size_t> length_;       // calls
  std::vector<ChainExtent> extent_;       // of a chain
  // A chain of several is linked from the first of the steps that it was to the last, whose number
  // it has.
  std::vector<std::size_t> first_;  // of the chain that ends with a step
  std::vector<std::size_t> next_;   // behind a step that is part of another
  std::vector<char> gone_;          // per step: part of another
  std::vector<SpmdId> to_join_;     // scratch
};

}  // namespace

void fuse(SpmdProgram& program) {
  Fuser(program).run();
}

}  // namespace mtf
