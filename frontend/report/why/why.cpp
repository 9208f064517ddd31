#include "frontend/report/why/why.h"

#include <algorithm>
#include <optional>

#include "frontend/report/quantity.h"
#include "frontend/report/why/otherwise.h"
#include "frontend/report/why/reason.h"

namespace mtf {
namespace {

class CollectiveQuestion {
 public:
  CollectiveQuestion(const SpmdProgram& program, const Tracer& tracer, std::size_t step,
                     const ValueNames* names)
      : program_(program),
        tracer_(tracer),
        names_(names),
        step_(program.steps[step]),
        from_(program.at(step_.from)),
        to_(program.at(step_.to)) {
    why_.step = step;
  }

  CollectiveWhy run() {
    if (!step_.calls.empty()) {
      sent(step_.calls.front());
      return std::move(why_);
    }
    if (is_digest(program_, step_.from)) {
      told(*tracer_.maker(step_.from));
      return std::move(why_);
    }
    const bool reduces = step_.kind == StepKind::kAllReduce ||
                         step_.kind == StepKind::kReduceScatter || step_.kind == StepKind::kReduce;
    if (reduces) {
      reduced();
    } else if (step_.kind == StepKind::kBroadcast) {
      held();
    } else if (is_read()) {
      read();
    } else {
      finished();
    }
    if (to_.layout->reach.empty()) {
      otherwise(moved_whole(program_, step_));
      otherwise(moved_in_parts(program_, step_));
    }
    return std::move(why_);
  }

 private:
  [[nodiscard]] bool is_read() const {
    return step_.need.requester == Requester::kOperation && step_.need.user.valid() &&
           step_.need.user != from_.origin;
  }
  [[nodiscard]] std::string who(ValueId id) const {
    const std::string text = describe(program_.source, id);
    const SpmdId slice = names_ == nullptr ? SpmdId{} : tracer_.slice(id);
    return text.front() == '`' || !slice.valid() ? text : names_->of(slice) + ", " + text + ",";
  }
  [[nodiscard]] std::string name(AxisId axis) const { return program_.mesh.axes[axis].name; }
  [[nodiscard]] const std::string& dim(std::size_t d) const { return from_.type.shape[d].name; }

  void add(std::vector<Side>& sides, const std::string& prefix, const std::vector<Path>& paths,
           const std::string& otherwise, SourceSpan span) {
    for (const Path& path : paths) {
      if (!path.hops.empty()) {
        const Hop& hop = path.hops.front();
        sides.push_back(
            {.text = prefix + who(hop.value) + " has " + hop.dim + " over " + name(path.axis),
             .path = path,
             .span = span});
      }
    }
    if (paths.empty() || paths.front().hops.empty()) {
      sides.push_back({.text = otherwise, .path = {}, .span = span});
    }
  }

  // The rule that splits a dim says with its condition who holds the blocks.
  void held() {
    Side side{.text = who(from_.origin) + " is held by the ranks " +
                      to_string(from_.layout->where, program_.mesh),
              .path = {},
              .span = from_span()};
    for (const Axes& axes : from_.layout->dims) {
      if (side.path.hops.empty() && !axes.empty()) {
        side.path = tracer_.at_rest(from_.origin, axes.front());
      }
    }
    why_.had.push_back(std::move(side));
    for (const AxisId axis : step_.axes) {
      wanted_by_rest(axis);
    }
  }

  // ---- partial sums -------------------------------------------------------------------------

  // The call whose reduced loops left the sum partial; it may have passed through others since.
  [[nodiscard]] const LocalCall* reducer(AxisId axis) const {
    const LocalCall* call = tracer_.first_maker(step_.from);
    for (std::size_t hops = 0; call != nullptr && hops < program_.values.size(); ++hops) {
      const std::optional<std::size_t> loop = loop_with(*call, axis);
      if (loop && call->split->space->loops[*loop].role == DimRole::kReduced) {
        return call;
      }
      if (call->operands.empty()) {
        break;
      }
      call = tracer_.first_maker(call->operands.front());
    }
    return nullptr;
  }

  void reduced() {
    for (const AxisId axis : step_.axes) {
      if (const LocalCall* call = reducer(axis)) {
        const std::size_t loop = *loop_with(*call, axis);
        const std::string& what = call->split->space->loops[loop].name;
        add(why_.had, "", tracer_.of_loop(*call, loop, axis),
            op_in_backticks(*call) + " splits " + what + " over " + name(axis),
            program_.source.at(call->origin).span);
        choice_of(*call);
      }
      wanted_by_rest(axis);
    }
    if (const std::optional<CarriedSum> carried = carried_by(program_, step_)) {
      why_.otherwise.push_back({.text = way_out(program_, step_, *carried),
                                .bytes = carried->bytes,
                                .instead_of = step_.bytes});
    }
  }

  // What the value's own layout says of the axis, and who reads it first.
  void wanted_by_rest(AxisId axis) {
    if (std::ranges::find(to_.layout->where, axis, &Condition::axis) != to_.layout->where.end()) {
      why_.wanted.push_back({.text = who(from_.origin) + " is held by the ranks " +
                                     to_string(to_.layout->where, program_.mesh),
                             .path = {},
                             .span = from_span()});
      return;
    }
    const bool is_pinned = step_.need.user.valid() &&
                           program_.source.at(step_.need.user).op != nullptr &&
                           program_.source.at(step_.need.user).op->alias;
    const ValueId rests = is_pinned ? step_.need.user : from_.origin;
    std::string text = who(rests) + " is whole over " + name(axis);
    SourceSpan span = program_.source.at(rests).span;
    if (step_.need.reader.valid()) {
      const Value& reader = program_.source.at(step_.need.reader);
      text += ", as `" +
              std::string(reader.op->symbol.empty() ? reader.op->name : reader.op->symbol) +
              "` reads it";
      span = reader.span;
    }
    add(why_.wanted, "", {tracer_.at_rest(rests, axis)}, text, span);
  }

  // ---- operands -----------------------------------------------------------------------------

  // The axes that this step takes from a dim, and gives to one.
  template <typename Visit>
  static void differences(const ValueLayout& from, const ValueLayout& to, const Visit& visit) {
    for (std::size_t d = 0; d < from.dims.size(); ++d) {
      for (const AxisId axis : from.dims[d]) {
        if (!has(to.dims[d], axis)) {
          visit(d, axis);
        }
      }
    }
  }

  void read() {
    const LocalCall* user = tracer_.maker(step_.need.user);
    if (user == nullptr) {
      return;
    }
    const auto lost = [&](std::size_t d, AxisId axis) {
      add(why_.had, "", tracer_.of_slice(step_.from, axis),
          who(from_.origin) + " has " + dim(d) + " over " + name(axis),
          program_.source.at(from_.origin).span);
      wanted_by_call(*user, d, axis);
    };
    const auto gained = [&](std::size_t d, AxisId axis) {
      if (!dim_with(from_.layout, axis)) {
        wanted_by_call(*user, d, axis);
      }
    };
    differences(from_.layout, to_.layout, lost);
    differences(to_.layout, from_.layout, gained);
    if (why_.had.empty()) {  // the same axes in another order
      for (const AxisId axis : step_.axes) {
        add(why_.had, "", tracer_.of_slice(step_.from, axis), "", from_span());
        if (const std::optional<std::size_t> d = dim_with(to_.layout, axis)) {
          wanted_by_call(*user, *d, axis);
        }
      }
    }
    choice_of(*user);
  }

  [[nodiscard]] SourceSpan from_span() const { return program_.source.at(from_.origin).span; }

  // What an operation that reads the value uses the axis for.
  void wanted_by_call(const LocalCall& user, std::size_t d, AxisId axis) {
    const std::string op = op_in_backticks(user);
    if (const std::optional<std::size_t> loop = loop_with(user, axis)) {
      const std::string text =
          op + " splits " + user.split->space->loops[*loop].name + " over " + name(axis);
      add(why_.wanted, text + ": ", tracer_.of_loop(user, *loop, axis), text,
          program_.source.at(user.origin).span);
      return;
    }
    const DimMap& map = user.split->space->operands[step_.need.operand];
    const bool whole = d < map.size() && std::ranges::any_of(map[d], [&](std::size_t loop) {
                         return !may_split(user.split->space->loops[loop].role);
                       });
    why_.wanted.push_back(
        {.text = whole
                     ? op + " needs " + dim(d) + " whole on each rank"
                     : op + " splits nothing over " + name(axis) +
                           (rests_so(user, axis) ? ""
                                                 : "; neither its operands nor its result rest so"),
         .path = {},
         .span = program_.source.at(user.origin).span});
  }

  // Whether some tensor of the call is split over the axis at rest.
  [[nodiscard]] bool rests_so(const LocalCall& call, AxisId axis) const {
    const std::vector<ValueId>& operands = program_.source.at(call.origin).operands;
    return program_.target(call.origin).layout.uses(axis) ||
           std::ranges::any_of(operands,
                               [&](ValueId id) { return program_.target(id).layout.uses(axis); });
  }

  // ---- elements that an operation moves -----------------------------------------------------

  void sent(const LocalCall& call) {
    for (std::size_t d = 0; d < from_.layout->dims.size(); ++d) {
      for (const AxisId axis : from_.layout->dims[d]) {
        if (has(step_.axes, axis)) {
          add(why_.had, "", tracer_.of_slice(step_.from, axis),
              who(from_.origin) + " has " + dim(d) + " over " + name(axis), from_span());
        }
      }
    }
    for (const AxisId axis : step_.axes) {
      const std::optional<std::size_t> d = dim_with(to_.layout, axis);
      const std::string text =
          d ? op_in_backticks(call) + " leaves " + to_.type.shape[*d].name + " over " + name(axis)
            : op_in_backticks(call) + " leaves a result that is whole over " + name(axis);
      add(why_.wanted, text + ": ", {tracer_.at_rest(call.origin, axis)}, text,
          program_.source.at(call.origin).span);
    }
    if (step_.kind == StepKind::kServe) {
      choice_of(call);
    } else {
      otherwise(done_whole(program_, step_, call));
    }
  }

  // ---- parts of a dim that ranks tell each other of -----------------------------------------

  void told(const LocalCall& call) {
    const std::size_t loop = digested_loop(call.split->space);
    const LoopDim& along = call.split->space->loops[loop];
    const std::string op = op_in_backticks(call);
    for (const AxisId axis : call.split->loops[loop]) {
      add(why_.had, "", tracer_.of_loop(call, loop, axis),
          op + " splits " + along.name + " over " + name(axis),
          program_.source.at(call.origin).span);
    }
    why_.wanted.push_back(
        {.text = along.role == DimRole::kScanned
                     ? op + " goes on from what ranks before have along " + along.name
                 : along.role == DimRole::kSorted
                     ? op + " merges the parts of " + along.name + ", which each rank sorts"
                     : op + " chooses among what each rank proposes along " + along.name,
         .path = {},
         .span = program_.source.at(call.origin).span});
    otherwise(done_whole(program_, step_, call));
  }

  // ---- results ------------------------------------------------------------------------------

  void finished() {
    const auto lost = [&](std::size_t d, AxisId axis) {
      add(why_.had, "", tracer_.of_slice(step_.from, axis),
          "it was computed with " + dim(d) + " over " + name(axis), from_span());
      wanted_by_rest(axis);
    };
    const auto gained = [&](std::size_t /*d*/, AxisId axis) {
      if (!dim_with(from_.layout, axis)) {
        wanted_by_rest(axis);
      }
    };
    differences(from_.layout, to_.layout, lost);
    differences(to_.layout, from_.layout, gained);
    if (why_.had.empty()) {
      for (const AxisId axis : step_.axes) {
        add(why_.had, "", tracer_.of_slice(step_.from, axis), "", from_span());
        wanted_by_rest(axis);
      }
    }
    if (const LocalCall* made = tracer_.maker(from_.origin)) {
      choice_of(*made);
    }
  }

  // ---- otherwise ----------------------------------------------------------------------------

  void otherwise(std::optional<Alternative> way) {
    if (way) {
      why_.otherwise.push_back(*std::move(way));
    }
  }

  // Other splits of an operation that use the axes of this step otherwise.
  void choice_of(const LocalCall& call) {
    for (const PricedLoops& other : call.split->otherwise) {
      if (uses_alike(call.split->loops, other.loops)) {
        continue;
      }
      const Alternative next{.text = op_in_backticks(call) + " splitting " +
                                     loops_text(program_, call.split->space, other.loops),
                             .bytes = other.bytes,
                             .instead_of = call.split->bytes,
                             .besides = besides_text(program_, other, call.split->bytes)};
      const bool known = std::ranges::any_of(
          why_.otherwise, [&](const Alternative& had) { return had.text == next.text; });
      if (!known) {
        why_.otherwise.push_back(next);
      }
    }
  }

  [[nodiscard]] bool uses_alike(const std::vector<Axes>& a, const std::vector<Axes>& b) const {
    return std::ranges::all_of(step_.axes, [&](AxisId axis) {
      for (std::size_t l = 0; l < a.size(); ++l) {
        if (has(a[l], axis) != has(b[l], axis)) {
          return false;
        }
      }
      return true;
    });
  }

  const SpmdProgram& program_;
  const Tracer& tracer_;
  const ValueNames* names_;
  const Step& step_;
  const SpmdValue& from_;
  const SpmdValue& to_;
  CollectiveWhy why_;
};

}  // namespace

CollectiveWhy why_collective(const SpmdProgram& program, const Tracer& tracer, std::size_t step,
                             const ValueNames* names) {
  return CollectiveQuestion(program, tracer, step, names).run();
}

ValueWhy why_value(const SpmdProgram& program, const Tracer& tracer, const Layout& layout,
                   const RuleSources& rule_sources, ValueId id) {
  ValueWhy why{.value = id, .slice = {}, .axes = {}, .forms = {}};
  for (std::size_t a = 0; a < program.mesh.axes.size(); ++a) {
    AxisWhy axis{.axis = static_cast<AxisId>(a), .path = {}, .absence = {}};
    axis.path = tracer.at_rest(id, axis.axis);
    if (axis.path.hops.empty()) {
      axis.absence = why_not(program, layout, rule_sources, id, axis.axis);
    }
    why.axes.push_back(std::move(axis));
  }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const SpmdId slice{static_cast<std::int32_t>(v)};
    if (program.at(slice).origin != id) {
      continue;
    }
    if (!why.slice.valid() && program.at(slice).layout == program.target(id).layout) {
      why.slice = slice;
    } else if (const Step* step = tracer.step(slice); step != nullptr) {
      why.forms.push_back(
          {.slice = slice, .step = static_cast<std::size_t>(step - program.steps.data())});
    }
  }
  return why;
}

}  // namespace mtf
