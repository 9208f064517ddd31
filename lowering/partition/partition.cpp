#include "lowering/partition/partition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/loops/loop.h"
#include "ir/support/stop.h"
#include "lowering/layout/rule_sources.h"
#include "lowering/loops/loops.h"
#include "lowering/partition/digest.h"
#include "lowering/partition/forms.h"
#include "lowering/partition/passing.h"
#include "lowering/partition/reason.h"
#include "lowering/partition/stages.h"
#include "lowering/reshard/halo.h"
#include "lowering/reshard/reshard.h"
#include "lowering/reshard/serve.h"

namespace mtf {
namespace {

class Partitioner {
 public:
  Partitioner(SpmdProgram& out, const OpDef& adds, bool gather_again, MeshPlans& plans)
      : out_(out),
        source_(out.source),
        plans_(plans),
        adds_(plans.plan_for.exact ? &adds : nullptr),
        forms_(out, plans.resharder, plans.known, gather_again),
        makers_(out.source.values.size(), -1) {}

  void run() {
    const std::size_t values = source_.values.size();
    out_.steps.reserve(values + values / 2);
    for (std::size_t i = 0; i < values; ++i) {
      stop_point(i, values);
      const ValueId id{static_cast<std::int32_t>(i)};
      forms_.enter(id);
      if (source_.at(id).op == nullptr) {
        out_.inputs.push_back(forms_.add(id, target(id)));
      } else if (is_of_loop(source_.at(id))) {
        loop(id);
      } else if (!source_.at(id).op->alias) {
        operation(id);
      } else if (pin_on(source_.at(id), out_.mesh) == nullptr) {
        forms_.rename(id);
      } else {
        pin(id);
      }
    }
    stop_point(values, values);
    for (const ValueId id : source_.outputs) {
      const SpmdId value = in_layout(id, target(id), {.user = id, .requester = Requester::kResult});
      const bool taken = std::ranges::find(out_.outputs, value) != out_.outputs.end();
      out_.outputs.push_back(taken || is_input(value) ? copy(value) : value);
    }
    for (const Update& update : source_.updates) {
      // A variable stays where its own rules say, whatever `@` says of its new value.
      const SpmdId value = in_layout(update.value, out_.at(out_.inputs[update.input]).layout,
                                     {.user = update.value, .requester = Requester::kUpdate});
      out_.updates.push_back(
          {.input = update.input, .value = is_input(value) ? copy(value) : value});
    }
  }

 private:
  [[nodiscard]] const ValueLayout& target(ValueId id) const { return forms_.target(id); }

  // What is carried lies as the rules say when a trip begins.
  void loop(ValueId id) {
    const Value& value = source_.at(id);
    if (is(value, Primitive::kNext)) {
      const Need need{.user = id, .requester = Requester::kTrip, .operand = 1};
      next_.emplace_back(id, in_layout(value.operands[1], target(value.operands[0]), need));
    } else if (is(value, Primitive::kAgain)) {
      take_next();
      add_kernel(id, loop_call(out_, id, {}), {});
      forms_.forget_since(trips_.back());
      trips_.pop_back();
    } else if (is(value, Primitive::kWhile)) {
      const SpmdId condition = in_layout(value.operands.front(), replicated({}), {.user = id});
      trips_.push_back(out_.values.size());
      add_kernel(id, loop_call(out_, id, {condition}), {});
    } else {
      LocalCall call =
          loop_call(out_, id, {in_layout(value.operands.front(), target(id), {.user = id})});
      call.result = forms_.add(id, target(id));
      add_kernel(id, std::move(call), {});
    }
  }

  // All that a trip hands on is there before the first of it is overwritten.
  void take_next() {
    const auto carried = [&](ValueId id) {
      return forms_.of(source_.at(id).operands.front()).front();
    };
    for (std::pair<ValueId, SpmdId>& next : next_) {
      const auto is_read = [&](const auto& other) { return carried(other.first) == next.second; };
      next.second = std::ranges::any_of(next_, is_read) ? copy(next.second) : next.second;
    }
    for (const auto& [id, value] : next_) {
      add_kernel(id, loop_call(out_, id, {carried(id), value}), {});
    }
    next_.clear();
  }

  // What `@` says is where the value lies when it is next read.
  void pin(ValueId id) {
    const std::size_t before = out_.steps.size();
    const SpmdId form = in_layout(source_.at(id).operands.front(), target(id),
                                  {.user = id, .requester = Requester::kPin});
    if (out_.steps.size() > before && out_.steps.back().kind != StepKind::kKernel) {
      std::string& name = out_.at(form).name;
      name = name.empty() ? source_.at(id).name : name;
    }
    forms_.pin(id, form);
  }

  // A form of the value in the layout, made by reshard steps where there is none yet.
  SpmdId in_layout(ValueId id, const ValueLayout& to, const Need& need) {
    if (const SpmdId form = forms_.find(id, to); form.valid()) {
      return form;
    }
    settle(id, need);
    if (const SpmdId form = forms_.find(id, to); form.valid()) {
      return form;
    }
    const SpmdId from = forms_.nearest(id, to);
    if (!from.valid()) {  // what was gathered for a pin is gone
      pin(forms_.holder(id));
      return in_layout(id, to, need);
    }
    const SpmdValue& nearest = out_.at(from);
    const bool moves = plans_.resharder.received(nearest.type.shape, nearest.layout, to) > 0;
    if (const SpmdId again = moves ? made_again(forms_.root(id), to) : SpmdId{}; again.valid()) {
      forms_.add_made(id, again);
      return again;
    }
    return reshard(id, from, to, Combine::kSum, need);
  }

  // What is computed from scalars, as a constant or a broadcast of one, is computed a second time
  // rather than moved. Invalid: it cannot be made so.
  SpmdId made_again(ValueId id, const ValueLayout& to) {
    std::optional<LocalCall> local = made_of_scalars(out_, id, to);
    if (!local) {
      return {};
    }
    for (const ValueId operand : source_.at(id).operands) {
      local->operands.push_back(in_layout(operand, replicated({}), {.user = id}));
    }
    Step step;
    local->result = forms_.add(id, to);
    step.flops = flops_of(out_, *local);
    step.calls.push_back(*std::move(local));
    out_.steps.push_back(std::move(step));
    return out_.steps.back().calls.front().result;
  }

  // Finishes a partial sum into the layout of the rules, once for all its users.
  void settle(ValueId id, const Need& need) {
    const SpmdId made = forms_.of(id).front();
    const bool is_partial = !out_.at(made).layout->partial.empty();
    if (is_partial && !forms_.find(id, target(id)).valid()) {
      reshard(id, made, target(id), Combine::kSum,
              {.user = forms_.root(id),
               .reader = need.requester == Requester::kOperation ? need.user : ValueId{}});
    }
  }

  [[nodiscard]] bool is_input(SpmdId id) const {
    const ValueId origin = out_.at(id).origin;  // the first form of an input is the input itself
    return source_.at(origin).op == nullptr && forms_.of(origin).front() == id;
  }

  // A buffer of its own for what leaves the program: an input may be overwritten by its update.
  SpmdId copy(SpmdId from) {
    Step step{.kind = StepKind::kSlice, .from = from};
    step.to = forms_.add(out_.at(from).origin, out_.at(from).layout);
    measure(out_, step);
    out_.steps.push_back(std::move(step));
    return out_.steps.back().to;
  }

  SpmdId reshard(ValueId id, SpmdId from, const ValueLayout& to, Combine combine,
                 const Need& need) {
    const std::vector<Move> moves =
        plans_.resharder.plan(out_.at(from).type.shape, out_.at(from).layout, to);
    for (const Move& move : moves) {
      Step step;
      step.kind = move.kind;
      step.from = from;
      step.axes = move.axes;
      step.combine = combine;
      step.need = need;
      step.to = is_sum_of_blocks(out_, from) ? forms_.add_blocks(id, out_.at(from).type, move.to)
                                             : forms_.add(id, move.to);
      explain(step);
      from = step.to;
      out_.steps.push_back(std::move(step));
    }
    return from;
  }

  // What a step moves, and why.
  void explain(Step& step) {
    measure(out_, step);
    step.reasons =
        plans_.plan_for.price_only ? std::vector<Reason>() : reasons_of_move(out_, makers_, step);
  }

  void operation(ValueId id) {
    const UnsplitCall unsplit = known_call(plans_, source_, id);
    const SplitCall& call = unsplit.call;
    if (const std::optional<LoopSplit> passing =
            waiting_split(out_, forms_, id, call.space, plans_.plan_for.exact)) {
      finish(id, reading(id, with_loops(call, *passing), *passing), *passing);
    } else if (call.space->moved.empty() || !send_elements(id, call)) {
      KnownSplit fresh;
      const KnownSplit& known = split_by_rules(plans_, out_, forms_, id, unsplit, adds_, fresh);
      LocalCall local = reading(id, known.call, known.split, known.operands);
      const LoopSplit& split = known.split;
      if (known.is_plain || !(sum_in_stages(id, local, split) || by_digest(id, local, split) ||
                              serve(id, local, split))) {
        finish(id, std::move(local), split, known.is_plain ? &known : nullptr);
      }
    }
  }

  // The call on operands that lie as the split needs them, yet without a result. `layouts`: the
  // numbers of those. Empty: unknown.
  LocalCall reading(ValueId id, Shared<SplitCall> call, const LoopSplit& split,
                    std::span<const Number> layouts = {}) {
    const Value& value = source_.at(id);
    LocalCall local{.split = std::move(call), .origin = id};
    local.operands.reserve(value.operands.size());
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
      const SpmdId form = layouts.empty() ? SpmdId{} : forms_.find(value.operands[i], layouts[i]);
      const Need need{.user = id, .operand = i};
      local.operands.push_back(
          form.valid()     ? form
          : split.scatters ? reshard(value.operands[i], forms_.of(value.operands[i]).front(),
                                     split.operands[i], Combine::kSum, need)
                           : in_layout(value.operands[i], split.operands[i], need));
    }
    return local;
  }

  // Ranks tell each other of their parts of a dim. False: each has all of it.
  bool by_digest(ValueId id, const LocalCall& whole, const LoopSplit& split) {
    const std::optional<DigestMove> move =
        digest_move(whole.split->call, whole.split->space, whole.split->loops, out_.mesh);
    if (!move) {
      return false;
    }
    LocalCall first = digesting(whole, *move);
    first.result = forms_.add_blocks(id, move->type, move->made);
    Step step;
    step.kind = move->kind;
    step.from = first.result;
    step.to = forms_.add_blocks(id, move->type, move->told);
    step.axes = move->axes;
    step.combine = whole.split->space->combine;
    step.need = {.user = id};
    add_kernel(id, std::move(first), split);
    explain(step);
    LocalCall rest = rest_of(whole, *move);
    rest.operands.push_back(step.to);
    out_.steps.push_back(std::move(step));
    LoopSplit last = split;
    last.chosen = false;
    finish(id, std::move(rest), last);
    return true;
  }

  // Ranks send what they have of what others ask for. False: each has all that it asks for.
  bool serve(ValueId id, const LocalCall& asked, const LoopSplit& split) {
    Axes axes = served_axes(asked.split->space, asked.split->loops, out_.mesh);
    if (axes.empty()) {
      return false;
    }
    Step step;
    step.kind = StepKind::kServe;
    step.axes = std::move(axes);
    LocalCall call = asked;
    call.result = forms_.add(id, split.result);
    send_for(id, std::move(call), std::move(step));
    return true;
  }

  // Elements of the first operand, wherever they are, make the result.
  void send_for(ValueId id, LocalCall call, Step step) {
    step.from = call.operands.front();
    step.to = call.result;
    step.need = {.user = id};
    makers_[static_cast<std::size_t>(id.index)] = static_cast<std::int32_t>(out_.steps.size());
    step.calls.push_back(std::move(call));
    step.axes = step.kind == StepKind::kHaloExchange ? halo_axes(out_, step) : step.axes;
    explain(step);
    out_.steps.push_back(std::move(step));
  }

  // Elements that get new places are sent from where they are to where the result is to have them.
  // False: to gather the operand moves no more, or nothing moves.
  bool send_elements(ValueId id, const SplitCall& unsplit) {
    const ValueId operand = source_.at(id).operands.front();
    if (is_made_of_scalars(source_, forms_.root(operand))) {
      return false;
    }
    settle(operand, {.user = id});
    ValueLayout to = target(operand);
    if (!to.where.empty()) {  // all ranks are to have slices
      to.where.clear();
      (void)in_layout(operand, to, {.user = id});
    }
    to = target(id);
    to.where.clear();
    SplitCall split = unsplit;
    split.loops = project(split.space->result, to, split.space, out_.mesh);
    const SpmdId from = source_of_elements(plans_, out_, forms_, operand, split, to);
    if (!from.valid()) {
      return false;
    }
    Step step;
    step.kind = StepKind::kHaloExchange;
    send_for(
        id,
        {.split = std::move(split), .operands = {from}, .result = forms_.add(id, to), .origin = id},
        std::move(step));
    return true;
  }

  // Sums over several dims, where the tree of one is finished before that of the next. False: one
  // call does it all.
  bool sum_in_stages(ValueId id, const LocalCall& local, const LoopSplit& split) {
    const StagedSum sum = in_stages(local.split, adds_, target(id), plans_.resharder, out_.mesh);
    SpmdId read;
    for (const SumStage& stage : sum.stages) {
      LocalCall call = call_of(stage, local, read);
      const LoopSplit made = split_of(stage, split, read);
      if (&stage == &sum.stages.back()) {
        finish(id, std::move(call), made);
        break;
      }
      read = call.result = forms_.add_blocks(id, stage.sum.call.result, stage.made);
      add_kernel(id, std::move(call), made);
      read = reshard(id, read, stage.read, local.split->space->combine, {.user = id});
    }
    return !sum.stages.empty();
  }

  // Emits the kernel, and at once the reduction of a max, min or product. `known`: what is known of
  // a plain split.
  void finish(ValueId id, LocalCall&& local, const LoopSplit& split,
              const KnownSplit* known = nullptr) {
    const Combine combine = local.split->space->combine;
    if (!local.op().effect) {
      local.result = known == nullptr ? forms_.add(id, split.result) : forms_.add(id, *known);
    }
    const SpmdId result = local.result;
    add_kernel(id, std::move(local), split,
               known == nullptr ? std::nullopt : std::optional(known->flops));
    if (result.valid() && combine != Combine::kSum && !out_.at(result).layout->partial.empty()) {
      const SpmdId done = reshard(id, result, target(id), combine, {.user = id});
      forms_.replace_all(id, done);  // what the ranks had on the way is of no other use
    }
  }

  void add_kernel(ValueId id, LocalCall&& local, const LoopSplit& split,
                  std::optional<double> flops = {}) {
    makers_[static_cast<std::size_t>(id.index)] = static_cast<std::int32_t>(out_.steps.size());
    Step& step = out_.steps.emplace_back();
    step.flops = flops ? *flops : flops_of(out_, local);
    if (split.chosen) {
      step.reasons = {
          {.kind = ReasonKind::kCheapest, .span = source_.at(id).span, .call = local.origin}};
    }
    step.calls.push_back(std::move(local));
  }

  SpmdProgram& out_;
  const Program& source_;
  MeshPlans& plans_;
  const OpDef* adds_;  // what adds sums of blocks up; null: bits do not count
  Forms forms_;
  std::vector<std::int32_t> makers_;              // per value, its kernel step
  std::vector<std::pair<ValueId, SpmdId>> next_;  // of the loop that is about to end
  std::vector<std::size_t> trips_;  // of the loops around, the values that were there before
};

}  // namespace

void partition(SpmdProgram& program, const OpDef& adds, bool gather_again, MeshPlans& plans) {
  Partitioner(program, adds, gather_again, plans).run();
}

}  // namespace mtf
