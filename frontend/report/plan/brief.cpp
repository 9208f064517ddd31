// Items get numbers by all that their lines say but for the names of values: no two of a number
// have lines that say something else, though lines may be the same all the same.

#include "frontend/report/plan/brief.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <string>

#include "frontend/report/plan/fold.h"
#include "frontend/report/plan/repeats.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/reason.h"
#include "lowering/known/content_key.h"
#include "lowering/known/numbered.h"
#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr std::size_t kKeptBefore = 4;  // times of a repetition
constexpr std::size_t kKeptBehind = 3;
constexpr std::size_t kLeftOutBy = 12;  // a fold may be of several times, or of a part of one

class Items {
 public:
  Items(const SpmdProgram& program, const ValueNames& names, const Reasons& reasons)
      : program_(program), names_(names), reasons_(reasons), makers_(program) {
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      add_input(i);
    }
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      add_step(s);
    }
    for (const SpmdUpdate& update : program.updates) {
      add_update(update);
    }
    repeats_.start(program.values.size());
  }

  std::vector<LeftOut> left_out() {
    std::vector<LeftOut> found;
    const std::size_t end = count_;
    for (std::size_t begin = 0; begin < end;) {
      const Repeat repeat = repeats_.at(begin, end);
      const auto times = static_cast<std::size_t>(repeat.times);
      if (times >= kKeptBefore + kLeftOutBy + kKeptBehind) {
        const std::size_t left_out = (times - kKeptBefore - kKeptBehind) / kLeftOutBy * kLeftOutBy;
        found.push_back({.begin = begin + kKeptBefore * repeat.length,
                         .length = repeat.length,
                         .times = left_out});
        find_others(found.back());
      }
      begin += times == 1 ? 1 : repeat.length * times;
    }
    return found;
  }

 private:
  void find_others(LeftOut& left_out) const {
    const std::size_t items = kKeptBefore * left_out.length;
    for (std::size_t i = 0; i < items; ++i) {
      const std::span<const std::size_t> last = repeats_.names_in(left_out.end() - items + i);
      const std::span<const std::size_t> kept = repeats_.names_in(left_out.begin - items + i);
      for (std::size_t n = 0; n < last.size(); ++n) {
        if (last[n] != kept[n]) {
          left_out.stands_for.emplace_back(id_of(last[n]), id_of(kept[n]));
        }
      }
    }
  }
  static SpmdId id_of(std::size_t value) { return {static_cast<std::int32_t>(value)}; }

  enum class Kind : std::uint8_t { kInput, kStep, kUpdate };

  void begin(Kind kind) {
    key_.clear();
    add(static_cast<std::uint64_t>(kind));
    ids_.clear();
  }
  void end() {
    repeats_.add(keys_.number(key_.parts()), ids_);
    ++count_;
  }
  // Like nothing else.
  void end_alone() {
    add(count_);
    add(~std::uint64_t{0});
    end();
  }

  void add(std::uint64_t part) { key_.add(part); }
  void add_text(const std::string& text) { add(std::hash<std::string>()(text)); }

  void add_axes(const Axes& axes) { key_.add_axes(axes); }

  // All that a text says of where its slices are.
  void add_value(const SpmdValue& value) {
    key_.add_type(value.type);
    key_.add_shared(&*value.layout);
    add(static_cast<std::uint64_t>(value.pieces));
    add(value.cut);
  }

  // How lines nest depends on how long names are.
  void add_name(SpmdId id) {
    ids_.push_back(at(id));
    add(width_but_for_numbers(names_.of(id)));
  }
  void add_own_name(SpmdId id) {
    add_name(id);
    add_text(stem_of(names_.of(id)));
  }
  void add_operand(SpmdId id) {
    const LocalCall* maker = makers_.of(id);
    if (maker != nullptr && !literal_text(*maker).empty()) {
      key_.add_shared(maker->split->call.op);
      key_.add_shared(maker->split->call.args.entries().data());
    }
    add_name(id);
  }

  void add_input(std::size_t index) {
    begin(Kind::kInput);
    const Input& input = program_.source.inputs[index];
    const SpmdId id = program_.inputs[index];
    add(static_cast<std::uint64_t>(input.kind));
    add_value(program_.at(id));
    add_own_name(id);
    add(input.name == names_.of(id) ? 1 : 0);
    for (const WorkingCopy& copy : program_.copies) {
      if (copy.input == index) {
        add_value(program_.at(copy.value));
      }
    }
    add_text(stem_of(input.name));
    end();
  }

  void add_update(const SpmdUpdate& update) {
    begin(Kind::kUpdate);
    add_value(program_.at(program_.inputs[update.input]));
    add_own_name(program_.inputs[update.input]);
    add_operand(update.value);
    end();
  }

  void add_step(std::size_t number) {
    const Step& step = program_.steps[number];
    begin(Kind::kStep);
    add(static_cast<std::uint64_t>(step.kind));
    add(std::bit_cast<std::uint64_t>(step.flops));
    add(static_cast<std::uint64_t>(step.bytes));
    add(static_cast<std::uint64_t>(step.combine));
    add_axes(step.axes);
    if (step.kind != StepKind::kKernel) {
      add_value(program_.at(step.from));
      add_operand(step.from);
      add_value(program_.at(step.to));
      add_own_name(step.to);
    }
    for (const LocalCall& call : step.calls) {
      add_call(call, step);
    }
    if (!step.calls.empty() && step.calls.back().origin.valid()) {
      add(program_.source.at(step.calls.back().origin).recompute.of.valid() ? 1 : 0);
    }
    if (add_reasons(number)) {
      end();
    } else {
      end_alone();
    }
  }

  void add_call(const LocalCall& call, const Step& step) {
    key_.add_shared(call.split->call.op);
    key_.add_shared(call.split->call.args.entries().data());
    key_.add_type(call.split->call.result);
    add(static_cast<std::uint64_t>(call.part));
    add(call.operands.size());
    for (const SpmdId operand : call.operands) {
      // Which of the calls makes it says whether it is shown where it is read.
      std::size_t maker = 0;
      while (maker < step.calls.size() && step.calls[maker].result != operand) {
        ++maker;
      }
      add(maker);
      add_operand(operand);
    }
    for (const LoopDim& loop : call.split->space->loops) {
      add(static_cast<std::uint64_t>(loop.role));
    }
    if (call.result.valid() && step.kind == StepKind::kKernel) {
      add(static_cast<std::uint64_t>(program_.at(call.result).home == Home::kNone ? 1 : 0));
      add_value(program_.at(call.result));
      add_own_name(call.result);
    }
  }

  // False: a text may name values.
  bool add_reasons(std::size_t number) {
    const Step& step = program_.steps[number];
    add(step.reasons.size());
    if (step.reasons.empty()) {
      return true;
    }
    const Need& need = step.need;
    add(static_cast<std::uint64_t>(need.requester));
    if (need.user.valid()) {
      key_.add_shared(program_.source.at(need.user).op);
      add(step.from.valid() && need.user == program_.at(step.from).origin ? 1 : 0);
    }
    add(step.from.valid() && is_digest(program_, step.from) ? 1 : 0);
    for (std::size_t i = 0; i < step.reasons.size(); ++i) {
      const std::vector<Cause> causes = reasons_.causes(number, i);
      add(causes.size());
      for (const Cause& cause : causes) {
        if (cause.kind == CauseKind::kInferred) {
          return false;
        }
        add(static_cast<std::uint64_t>(cause.kind));
        add_text(cause.rule);
      }
      add_reason(step, step.reasons[i]);
    }
    return true;
  }

  void add_reason(const Step& step, const Reason& reason) {
    add(static_cast<std::uint64_t>(reason.kind));
    add(static_cast<std::uint64_t>(reason.span.file.index));
    add(static_cast<std::uint64_t>(reason.span.begin - step.reasons.front().span.begin));
    if (reason.kind == ReasonKind::kCheapest) {
      add_choice(call_meant(step, reason));
    } else if (reason.kind == ReasonKind::kStreamed || reason.kind == ReasonKind::kUnstreamed ||
               reason.kind == ReasonKind::kCarried) {
      add_text(to_text(program_, step, reason));
    } else {
      add_text(reason.dim);
      add_axes(reason.had);
      add_axes(reason.has);
    }
  }

  void add_choice(const LocalCall& call) {
    for (const LoopDim& loop : call.split->space->loops) {
      add_text(loop.name);
    }
    add(static_cast<std::uint64_t>(call.split->bytes));
    const PricedLoops& next = call.split->otherwise.front();
    add(static_cast<std::uint64_t>(next.bytes));
    add(static_cast<std::uint64_t>(next.collectives));
    add(std::bit_cast<std::uint64_t>(next.work));
    add_axes(next.idle);
    for (const std::vector<Axes>* loops : {&call.split->loops, &next.loops}) {
      for (const Axes& axes : *loops) {
        add_axes(axes);
      }
    }
  }

  const SpmdProgram& program_;
  const ValueNames& names_;
  const Reasons& reasons_;
  Makers makers_;
  NumberedLists keys_;
  ContentKey key_;  // of the item that is being added
  std::vector<std::size_t> ids_;
  Repeats repeats_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<LeftOut> left_out_of(const SpmdProgram& program, const ValueNames& names,
                                 const Reasons& reasons, std::size_t least) {
  const std::size_t items = program.inputs.size() + program.steps.size() + program.updates.size();
  if (items < least || program.totals.loops > 0) {
    return {};
  }
  return Items(program, names, reasons).left_out();
}

}  // namespace mtf
