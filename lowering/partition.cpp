#include "lowering/partition.h"

#include <algorithm>
#include <utility>

#include "lowering/forms.h"
#include "lowering/governing.h"
#include "lowering/reason.h"
#include "lowering/reshard.h"
#include "lowering/split.h"
#include "lowering/sum_chain.h"

namespace mtf {
namespace {

class Partitioner {
 public:
  Partitioner(SpmdProgram& out, bool exact, bool gather_again)
      : out_(out),
        source_(out.source),
        exact_(exact),
        resharder_(out.mesh),
        forms_(out, resharder_, gather_again),
        makers_(out.source.values.size(), -1),
        chains_(sum_chains(out.source)) {}

  void run() {
    for (std::size_t i = 0; i < source_.values.size(); ++i) {
      const ValueId id{static_cast<std::int32_t>(i)};
      forms_.enter(id);
      if (source_.at(id).op == nullptr) {
        out_.inputs.push_back(forms_.add(id, target(id)));
      } else if (!source_.at(id).op->alias) {
        lay_out_chain(id);
        operation(id);
      } else if (pin_on(source_.at(id), out_.mesh) == nullptr) {
        forms_.rename(id);
      } else {
        pin(id);
      }
    }
    for (const ValueId id : source_.outputs) {
      const SpmdId value = whole(id, "the result");
      const bool taken = std::ranges::find(out_.outputs, value) != out_.outputs.end();
      out_.outputs.push_back(taken || is_input(value) ? copy(value) : value);
    }
    for (const Update& update : source_.updates) {
      const SpmdId value = whole(update.value, "the update");
      out_.updates.push_back(
          {.input = update.input, .value = is_input(value) ? copy(value) : value});
    }
  }

 private:
  [[nodiscard]] const ValueLayout& target(ValueId id) const { return forms_.target(id); }

  // What `@` says is where the value lies when it is next read.
  void pin(ValueId id) {
    const std::size_t before = out_.steps.size();
    const SpmdId form =
        in_layout(source_.at(id).operands.front(), target(id), {.user = id, .what = "`@`"});
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
    const bool moves = resharder_.received(nearest.type.shape, nearest.layout, to) > 0;
    if (const SpmdId again = moves ? made_again(forms_.root(id), to) : SpmdId{}; again.valid()) {
      forms_.add_made(id, again);
      return again;
    }
    return reshard(id, from, to, Combine::kSum, need);
  }

  // Without operands, result and loops.
  [[nodiscard]] LocalCall call_on_slices(ValueId id) const {
    LocalCall local;
    local.call = call_of(source_, id);
    local.origin = id;
    local.space = local.call.op->space(local.call);
    return local;
  }

  // What is computed from scalars, as a constant or a broadcast of one, is computed a second time
  // rather than moved. Invalid: it is not of this kind, or the kernel cannot split it so.
  SpmdId made_again(ValueId id, const ValueLayout& to) {
    const Value& value = source_.at(id);
    const auto is_scalar = [this](ValueId operand) {
      return source_.at(operand).type.shape.rank() == 0;
    };
    if (value.op == nullptr || !std::ranges::all_of(value.operands, is_scalar)) {
      return {};
    }
    LocalCall local = call_on_slices(id);
    local.loops = project(local.space.result, to, local.space, out_.mesh);
    std::optional<ValueLayout> made =
        layout_from_loops(local.space.result, local.loops, local.space, out_.mesh);
    if (made && can_hold(*made, to.where)) {
      made->where = to.where;
    }
    if (!made || *made != to) {
      return {};
    }
    for (const ValueId operand : value.operands) {
      local.operands.push_back(in_layout(operand, replicated({}), {.user = id, .what = ""}));
    }
    Step step;
    local.result = forms_.add(id, to);
    step.flops = flops_of(local);
    step.calls.push_back(std::move(local));
    out_.steps.push_back(std::move(step));
    return out_.steps.back().calls.front().result;
  }

  // Finishes a pending sum into the layout of the rules, once for all its users.
  void settle(ValueId id, const Need& need) {
    const SpmdId made = forms_.of(id).front();
    const bool pending = !out_.at(made).layout.partial.empty();
    if (pending && !forms_.find(id, target(id)).valid()) {
      reshard(id, made, target(id), Combine::kSum,
              {.user = forms_.root(id),
               .what = "",
               .reader = need.what.empty() ? need.user : ValueId{}});
    }
  }

  [[nodiscard]] bool is_input(SpmdId id) const {
    const ValueId origin = out_.at(id).origin;  // the first form of an input is the input itself
    return source_.at(origin).op == nullptr && forms_.of(origin).front() == id;
  }

  // A buffer of its own for what leaves the program: an input may be overwritten by its update.
  SpmdId copy(SpmdId from) {
    Step step;
    step.kind = StepKind::kSlice;
    step.from = from;
    step.to = forms_.add(out_.at(from).origin, out_.at(from).layout);
    measure(step);
    out_.steps.push_back(std::move(step));
    return out_.steps.back().to;
  }

  SpmdId whole(ValueId id, std::string_view what) {
    return in_layout(id, target(id), {.user = id, .what = what});
  }

  SpmdId reshard(ValueId id, SpmdId from, const ValueLayout& to, Combine combine,
                 const Need& need) {
    const std::vector<Move> moves =
        resharder_.plan(out_.at(from).type.shape, out_.at(from).layout, to);
    for (const Move& move : moves) {
      Step step;
      step.kind = move.kind;
      step.from = from;
      step.axes = move.axes;
      step.combine = combine;
      step.need = need;
      step.to = forms_.add(id, move.to);
      step.reasons = explain(out_, makers_, step, need);
      measure(step);
      from = step.to;
      out_.steps.push_back(std::move(step));
    }
    return from;
  }

  void measure(Step& step) const {
    const SpmdValue& from = out_.at(step.from);
    const Volume volume =
        volume_of(step.kind, from.local.shape.volume(), out_.at(step.to).local.shape.volume(),
                  out_.mesh.size_of(step.axes));
    step.elements = volume.elements;
    step.received = volume.received;
    step.bytes = volume.received * static_cast<std::int64_t>(bytes_of(from.type.dtype));
  }

  void operation(ValueId id) {
    const Value& value = source_.at(id);
    LocalCall local = call_on_slices(id);
    const std::optional<LoopSplit> passing = pending_split(value, local.space);
    const LoopSplit split = passing ? *passing : split_by_rules(id, local);
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
      local.operands.push_back(
          in_layout(value.operands[i], split.operands[i], {.user = id, .what = "", .operand = i}));
    }
    local.loops = split.loops;
    local.bytes = split.bytes;
    local.otherwise = split.otherwise;
    finish(id, std::move(local), split);
  }

  // Sums that nobody wrote, one dim after the other, lie as the rules say or as the last of them
  // does: so that fewest bytes move from what the first one reads to the last one's layout.
  void lay_out_chain(ValueId first) {
    const std::vector<ValueId>& chain = chains_[static_cast<std::size_t>(first.index)];
    if (chain.empty()) {
      return;
    }
    std::vector<Target> by_rules;
    for (const ValueId id : chain) {
      by_rules.push_back(out_.target(id));
    }
    const std::int64_t bytes = chain_bytes(chain);
    for (std::size_t i = chain.size() - 1; i-- > 0;) {
      const Shape& shape = source_.at(chain[i]).type.shape;
      Target& target = out_.targets[static_cast<std::size_t>(chain[i].index)];
      target =
          lying_as(out_.target(chain[i + 1]), source_.at(chain[i + 1]).type.shape, target, shape);
    }
    if (chain_bytes(chain) >= bytes) {
      for (std::size_t i = 0; i < chain.size(); ++i) {
        out_.targets[static_cast<std::size_t>(chain[i].index)] = by_rules[i];
      }
    }
  }

  [[nodiscard]] std::int64_t chain_bytes(const std::vector<ValueId>& chain) {
    std::int64_t bytes = 0;
    for (const ValueId id : chain) {
      bytes += split_by_rules(id, call_on_slices(id)).bytes;
    }
    return bytes;
  }

  [[nodiscard]] LoopSplit split_by_rules(ValueId id, const LocalCall& local) {
    const Value& value = source_.at(id);
    std::vector<ValueLayout> operands;
    for (const ValueId operand : value.operands) {
      operands.push_back(target(operand));
    }
    return choose_split({.call = local.call,
                         .space = local.space,
                         .operands = operands,
                         .result = target(id),
                         .firm = firm_layouts(id),
                         .copies = copies(value),
                         .pinned = pinned_operands(source_, value)},
                        resharder_, out_.mesh);
  }

  [[nodiscard]] std::vector<std::vector<ValueLayout>> copies(const Value& value) {
    std::vector<std::vector<ValueLayout>> found;
    for (const ValueId operand : value.operands) {
      found.emplace_back();
      for (const SpmdId form : forms_.of(operand)) {
        if (out_.at(form).layout.partial.empty() && forms_.is_there(operand, form)) {
          found.back().push_back(out_.at(form).layout);
        }
      }
    }
    return found;
  }

  // Of the operands and the result: what the computation keeps split where it can.
  [[nodiscard]] std::vector<ValueLayout> firm_layouts(ValueId id) const {
    std::vector<ValueLayout> firm;
    for (const ValueId operand : source_.at(id).operands) {
      firm.push_back(out_.target(operand).firm_layout());
    }
    firm.push_back(out_.target(id).firm_layout());
    return firm;
  }

  // Emits the kernel, and at once the reduction of a max, min or product.
  void finish(ValueId id, LocalCall local, const LoopSplit& split) {
    Step step;
    const Combine combine = local.space.combine;
    if (!local.call.op->effect) {
      local.result = forms_.add(id, split.result);
    }
    step.flops = flops_of(local);
    if (split.chosen) {
      step.reasons = {explain_choice(out_, local, split)};
    }
    const SpmdId result = local.result;
    step.calls.push_back(std::move(local));
    makers_[static_cast<std::size_t>(id.index)] = static_cast<std::int32_t>(out_.steps.size());
    out_.steps.push_back(std::move(step));
    if (result.valid() && combine != Combine::kSum && !out_.at(result).layout.partial.empty()) {
      const SpmdId done = reshard(id, result, target(id), combine, {.user = id, .what = ""});
      forms_.replace_all(id, done);  // what the ranks had on the way is of no other use
    }
  }

  // Where pending sums may pass through the operation, which then runs where they are: nothing
  // moves, and the rules come in when the sum is finished.
  std::optional<LoopSplit> pending_split(const Value& value, const IterationSpace& space) {
    const std::optional<ValueLayout> pending = pending_layout(value);
    if (!pending) {
      return std::nullopt;
    }
    LoopSplit split;
    split.loops = project(space.operands[0], *pending, space, out_.mesh);
    for (const DimMap& map : space.operands) {
      const auto dims = layout_from_loops(map, split.loops, space, out_.mesh);
      if (!dims || dims->dims != pending->dims) {
        return std::nullopt;
      }
      split.operands.push_back(*pending);
    }
    std::optional<ValueLayout> result =
        layout_from_loops(space.result, split.loops, space, out_.mesh);
    if (!result) {
      return std::nullopt;
    }
    result->partial = pending->partial;
    add_reduced(split.loops, space, *result);
    split.result = *std::move(result);
    return split;
  }

  // The layout of all operands, if they are sums over the same axes that may wait.
  std::optional<ValueLayout> pending_layout(const Value& value) {
    const Linear linear = value.op->linear;
    if (linear == Linear::kNo || value.operands.empty() || (linear == Linear::kJoint && exact_)) {
      return std::nullopt;
    }
    const Shape& shape = source_.at(value.operands.front()).type.shape;
    const ValueLayout& layout = out_.at(forms_.of(value.operands.front()).front()).layout;
    const bool grows = value.type.shape.volume() > shape.volume();
    if (grows || layout.partial.empty()) {
      return std::nullopt;
    }
    for (const ValueId operand : value.operands) {
      const bool settled = forms_.find(operand, target(operand)).valid();
      if (settled || out_.at(forms_.of(operand).front()).layout != layout ||
          source_.at(operand).type.shape != shape) {
        return std::nullopt;
      }
    }
    return layout;
  }

  [[nodiscard]] double flops_of(const LocalCall& local) const {
    if (local.call.op->flops == nullptr) {
      return 0;
    }
    OpCall call = local.call;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      call.operands[i] = out_.at(local.operands[i]).local;
    }
    if (local.result.valid()) {
      call.result = out_.at(local.result).local;
    }
    return call.op->flops(call);
  }

  SpmdProgram& out_;
  const Program& source_;
  bool exact_;
  Resharder resharder_;
  Forms forms_;
  std::vector<std::int32_t> makers_;          // per value, its kernel step
  std::vector<std::vector<ValueId>> chains_;  // per value that begins one
};

}  // namespace

void partition(SpmdProgram& program, bool exact, bool gather_again) {
  Partitioner(program, exact, gather_again).run();
}

}  // namespace mtf
