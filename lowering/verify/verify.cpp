// What a plan has to be before it may run. Followed step by step: which sums each value still waits
// for, and in which layout it is. So no sum is finished twice, never, or over other axes than those
// that it was split over, and no operation reads a partial sum that it may not read.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/support/stop.h"
#include "lowering/layout/rule_sources.h"
#include "lowering/partition/digest.h"
#include "lowering/partition/split/split.h"
#include "lowering/reshard/halo.h"
#include "lowering/reshard/reshard.h"
#include "lowering/reshard/serve.h"
#include "lowering/spmd.h"
#include "lowering/verify/alike.h"
#include "lowering/verify/verify_call.h"
#include "lowering/verify/verify_move.h"

namespace mtf {
namespace {

class Verifier {
 public:
  explicit Verifier(const SpmdProgram& program)
      : program_(program),
        source_(program.source),
        made_(program.values.size(), 0),
        calls_(program.values.size(), nullptr),
        combine_(program.values.size(), Combine::kSum),
        alike_(program),
        effects_(program.source.values.size(), 0) {}

  std::string run() {
    inputs();
    where_.clear();
    const std::size_t steps = program_.steps.size();
    for (std::size_t s = 0; s < steps && problem_.empty(); ++s) {
      stop_point(s, steps);
      step_ = s;
      step(program_.steps[s]);
    }
    stop_point(steps, steps);
    if (problem_.empty()) {
      effects();
      outputs();
      updates();
    }
    return std::move(problem_);
  }

 private:
  // Keeps the first problem.
  void report(const std::string& problem) {
    if (problem_.empty() && !problem.empty()) {
      problem_ = (where_.empty() ? "step " + std::to_string(step_) : where_) + " " + problem;
    }
  }
  void require(bool holds, const char* otherwise) {
    if (!holds) {
      report(otherwise);
    }
  }

  [[nodiscard]] static std::string name(SpmdId id) { return "%" + std::to_string(id.index); }

  [[nodiscard]] ValueId root(ValueId id) const { return root_of(source_, id); }
  [[nodiscard]] bool is_form_of(SpmdId form, ValueId id) const {
    return root(program_.at(form).origin) == root(id);
  }

  // ---- values -------------------------------------------------------------------------------

  bool read(SpmdId id) {
    const bool there = id.valid() && at(id) < made_.size() && made_[at(id)] != 0;
    if (!there) {
      report("reads " + name(id) + " before it is made");
    }
    return there;
  }

  bool make(SpmdId id) {
    if (!id.valid() || at(id) >= made_.size() || std::exchange(made_[at(id)], 1) != 0) {
      report("makes " + name(id) + " again");
      return false;
    }
    const SpmdValue& value = program_.at(id);
    if (value.type != source_.at(value.origin).type && !is_sum_of_blocks(program_, id)) {
      report("makes " + name(id) + " of another type than its value");
      return false;
    }
    if (!alike_.is_new(id)) {
      return true;
    }
    const std::string problem = problem_of_layout(program_.mesh, value.type.shape, value.layout);
    if (!problem.empty()) {
      report("makes " + name(id) + ", which " + problem);
      return false;
    }
    require(value.local.shape == local_shape(value.type.shape, value.layout, program_.mesh),
            "makes a slice that is not that of its layout");
    return true;
  }

  // What leaves the program lies as the rules say, and waits for nothing.
  void leaves(SpmdId id, ValueId value, const ValueLayout& layout) {
    if (!read(id)) {
      return;
    }
    require(is_form_of(id, value) && !is_sum_of_blocks(program_, id), "take another value");
    require(program_.at(id).layout->partial.empty(), "take a sum that is still partial");
    require(program_.at(id).layout == layout, "take a value in another layout than the rules say");
  }

  void inputs() {
    where_ = "the input";
    require(program_.inputs.size() == source_.inputs.size(), "is not one for each of the source");
    for (const SpmdId input : program_.inputs) {
      if (problem_.empty() && make(input)) {
        require(program_.at(input).layout->partial.empty(), "is a partial sum");
      }
    }
    where_ = "the working copy";
    for (const WorkingCopy& copy : program_.copies) {
      if (problem_.empty() && make(copy.value)) {
        copies(copy.value, program_.inputs[copy.input]);
      }
    }
  }

  // A cast of the other, as it lies.
  void copies(SpmdId copy, SpmdId variable) {
    const Value& value = source_.at(program_.at(copy).origin);
    require(value.op != nullptr && value.op->primitive == Primitive::kCast &&
                is_form_of(variable, value.operands.front()) &&
                program_.at(copy).layout == program_.at(variable).layout,
            "is not one of its variable");
  }

  void outputs() {
    where_ = "the outputs";
    require(program_.outputs.size() == source_.outputs.size(), "are not those of the source");
    for (std::size_t i = 0; i < program_.outputs.size() && problem_.empty(); ++i) {
      leaves(program_.outputs[i], source_.outputs[i], program_.target(source_.outputs[i]).layout);
    }
  }

  void updates() {
    where_ = "the updates";
    require(program_.updates.size() == source_.updates.size(), "are not those of the source");
    for (std::size_t i = 0; i < program_.updates.size() && problem_.empty(); ++i) {
      const SpmdUpdate& update = program_.updates[i];
      require(update.input == source_.updates[i].input, "are of other variables");
      leaves(update.value, source_.updates[i].value,
             program_.at(program_.inputs[source_.updates[i].input]).layout);
    }
    where_ = "the new working copy";
    for (const WorkingCopy& copy : program_.copies) {
      const auto update = std::ranges::find(program_.updates, copy.input, &SpmdUpdate::input);
      if (problem_.empty() && read(copy.next)) {
        copies(copy.next, update->value);
      }
    }
  }

  void effects() {
    where_ = "the program";
    for (std::size_t i = 0; i < source_.values.size(); ++i) {
      const OpDef* op = source_.values[i].op;
      require(op == nullptr || !op->effect || effects_[i] == 1, "does not do each effect once");
    }
  }

  // ---- moves --------------------------------------------------------------------------------

  void step(const Step& step) {
    if (step.kind == StepKind::kKernel) {
      for (const LocalCall& call : step.calls) {
        if (problem_.empty()) {
          require(served_axes(call.split->space, call.split->loops, program_.mesh).empty(),
                  "leaves out what ranks have to serve each other");
          this->call(call);
        }
      }
    } else if (step.kind == StepKind::kServe) {
      serve(step);
    } else if (read(step.from) && make(step.to)) {
      step.calls.empty() ? move(step) : send(step);
      if (is_digest(program_, step.from)) {
        tell(step);
      }
    }
  }

  void move(const Step& step) {
    const SpmdValue& from = program_.at(step.from);
    const SpmdValue& to = program_.at(step.to);
    require(root(from.origin) == root(to.origin), "moves one value into another");
    require(from.layout->partial.size() == to.layout->partial.size() ||
                step.combine == combine_[at(step.from)],
            "joins what is partial in another way than it was split");
    combine_[at(step.to)] = combine_[at(step.from)];
    if (step.kind != StepKind::kSortExchange && !alike_.is_new(step)) {
      return;
    }
    const Volume volume = volume_of(program_, step);
    require(step.elements == volume.elements && step.received == volume.received,
            "does not count what it moves");
    const std::string problem = problem_of_move({.mesh = program_.mesh,
                                                 .shape = from.type.shape,
                                                 .kind = step.kind,
                                                 .axes = step.axes,
                                                 .from = from.layout,
                                                 .to = to.layout});
    if (!problem.empty()) {
      report("(" + std::string(to_string(step.kind)) + " over " +
             to_string(program_.mesh, step.axes) + ") from " + text(from) + " to " + text(to) +
             " " + problem);
    }
  }

  // An operation that moves elements, done by the ranks that have them.
  void send(const Step& step) {
    const LocalCall& call = step.calls.front();
    const Value& value = source_.at(call.origin);
    const SpmdValue& from = program_.at(step.from);
    const SpmdValue& to = program_.at(step.to);
    const bool is_of_value = step.calls.size() == 1 && step.kind == StepKind::kHaloExchange &&
                             value.op == call.split->call.op &&
                             call.operands == std::vector{step.from} && call.result == step.to &&
                             !call.split->space->moved.empty();
    if (!is_of_value) {
      return report("is not the operation of its value");
    }
    require(is_form_of(step.from, value.operands.front()) && to.origin == call.origin &&
                !is_sum_of_blocks(program_, step.from),
            "moves the elements of another value");
    require(from.layout->partial.empty() && to.layout->partial.empty() &&
                from.layout->where.empty() && to.layout->where.empty(),
            "moves elements that ranks lack, or sums of them");
    require(step.axes == halo_axes(program_, step), "is not along the axes of what it moves");
    const Volume volume = volume_of(program_, step);
    require(step.elements == volume.elements && step.received == volume.received,
            "does not count what it moves");
    const auto made = layout_from_loops(call.split->space->result, call.split->loops,
                                        call.split->space, program_.mesh);
    require(made && *made == to.layout, "leaves a result that its loops do not make");
  }

  // An operation that reads at indices, done by the ranks that have what lies there.
  void serve(const Step& step) {
    if (step.calls.size() != 1 || step.calls.front().operands.empty() ||
        step.calls.front().operands.front() != step.from || step.calls.front().result != step.to) {
      return report("is not the operation of its value");
    }
    const LocalCall& call = step.calls.front();
    require(!step.axes.empty() &&
                step.axes == served_axes(call.split->space, call.split->loops, program_.mesh),
            "is not along the axes of what it serves");
    this->call(call);
    const Volume volume = volume_of(program_, step);
    require(step.elements == volume.elements && step.received == volume.received,
            "does not count what it moves");
  }

  // A digest goes where the operation wants it.
  void tell(const Step& step) {
    const SpmdValue& from = program_.at(step.from);
    const LocalCall* made = calls_[at(step.from)];
    const auto move = made == nullptr ? std::nullopt
                                      : digest_move(made->split->call, made->split->space,
                                                    made->split->loops, program_.mesh);
    require(move && step.kind == move->kind && step.axes == move->axes &&
                from.layout == move->made && program_.at(step.to).layout == move->told &&
                step.combine == made->split->space->combine,
            "does not bring digests where they are read");
  }

  [[nodiscard]] std::string text(const SpmdValue& value) const {
    return to_string(value.type.shape, value.layout, program_.mesh);
  }

  // ---- kernels ------------------------------------------------------------------------------

  // Whether it is a later stage of the sum that makes its value: of the sums of blocks.
  [[nodiscard]] bool adds_blocks(const LocalCall& call) const {
    return call.operands.size() == 1 && is_sum_of_blocks(program_, call.operands.front()) &&
           program_.at(call.operands.front()).origin == call.origin &&
           (call.op().algebra == Algebra::kSum ||
            call.split->call.op == source_.at(call.origin).op);
  }

  // Whether it has as many operands as its value; of those that go on from a digest, that as well
  // or alone.
  [[nodiscard]] bool has_operands(const LocalCall& call) const {
    const std::size_t operands = source_.at(call.origin).operands.size();
    if (call.part != CallPart::kRest) {
      return call.operands.size() == operands;
    }
    return !call.operands.empty() && is_digest(program_, call.operands.back()) &&
           program_.at(call.operands.back()).origin == call.origin &&
           (call.operands.size() == 1 || call.operands.size() == operands + 1);
  }

  // Whether an operand of a call is one of its value, and no digest.
  [[nodiscard]] static bool is_own(const LocalCall& call, std::size_t operand) {
    return call.part != CallPart::kRest || operand + 1 < call.operands.size();
  }

  void call(const LocalCall& call) {
    const Value& value = source_.at(call.origin);
    const bool adds = adds_blocks(call);
    const bool is_of_value = adds || (value.op == call.split->call.op && has_operands(call));
    if (call.split->loops.size() != call.split->space->loops.size() || !is_of_value) {
      return report("is not the operation of its value");
    }
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (read(call.operands[i]) && !adds && is_own(call, i)) {
        require(is_form_of(call.operands[i], value.operands[i]) &&
                    !is_sum_of_blocks(program_, call.operands[i]),
                "reads another value");
      } else if (problem_.empty() && !is_own(call, i)) {
        require(calls_[at(call.operands[i])] == nullptr, "reads a digest that was not told");
      }
    }
    for (const SpmdId partial : call.stream->partials) {
      make(partial);
    }
    if (call.op().effect) {
      ++effects_[static_cast<std::size_t>(call.origin.index)];
    } else if (make(call.result)) {
      require(program_.at(call.result).origin == call.origin, "makes another value");
      require((call.part == CallPart::kDigest) == is_digest(program_, call.result),
              "makes what is no digest, or one");
      calls_[at(call.result)] = &call;
    }
    if (problem_.empty()) {
      check_loops(call);
    }
  }

  void check_loops(const LocalCall& call) {
    of_operands_.clear();
    for (const SpmdId operand : call.operands) {
      of_operands_.push_back(combine_[at(operand)]);
    }
    if (alike_.is_new(call, of_operands_)) {
      report(problem_of_call(program_, call, of_operands_));
    }
    if (!call.op().effect) {
      combine_[at(call.result)] = call.split->space->combine;
    }
  }

  const SpmdProgram& program_;
  const Program& source_;
  std::vector<char> made_;
  std::vector<const LocalCall*> calls_;  // per value, what made it
  std::vector<Combine> combine_;         // per value, how what is partial is joined
  Alike alike_;
  std::vector<Combine> of_operands_;  // of the call that is looked at
  std::vector<int> effects_;          // per value of the source, how often it is done
  std::string where_;                 // "": at the step
  std::size_t step_ = 0;
  std::string problem_;
};

}  // namespace

std::string verify(const SpmdProgram& program) {
  std::string problem = Verifier(program).run();
  return problem.empty() ? problem_of_messages(program) : problem;
}

}  // namespace mtf
