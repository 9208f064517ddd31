#include "lowering/reason.h"

#include <algorithm>
#include <string>

#include "lowering/quantity.h"
#include "lowering/stages.h"
#include "lowering/step_text.h"

namespace mtf {
namespace {

class Explainer {
 public:
  Explainer(const SpmdProgram& program, std::span<const std::int32_t> makers, const Step& step,
            const Need& need)
      : program_(program), makers_(makers), step_(step), need_(need) {}

  std::vector<Reason> run() {
    const bool reduces = step_.kind == StepKind::kAllReduce ||
                         step_.kind == StepKind::kReduceScatter || step_.kind == StepKind::kReduce;
    if (reduces) {
      pending(program_.at(step_.from).origin);
    } else {
      moved();
    }
    return std::move(reasons_);
  }

 private:
  [[nodiscard]] std::string names(const Axes& axes) const { return to_string(program_.mesh, axes); }

  // `values`: where the axes on the dim may come from.
  void add(std::string text, SourceSpan span, const std::string& dim, const Axes& axes,
           const std::vector<ValueId>& values) {
    reasons_.push_back({.text = std::move(text), .span = span, .cause = cause(dim, axes, values)});
  }

  [[nodiscard]] Cause cause(const std::string& dim, const Axes& axes,
                            const std::vector<ValueId>& values) const {
    for (const ValueId id : values) {
      const Target& target = program_.target(id);
      const std::optional<std::size_t> d = program_.source.at(id).type.shape.index_of(dim);
      if (!d || target.layout.dims.empty()) {
        continue;
      }
      const Axes& has = target.layout.dims[*d];
      for (std::size_t a = 0; a < has.size(); ++a) {
        if (std::ranges::find(axes, has[a]) != axes.end()) {
          return target.causes[*d][a];
        }
      }
    }
    return {};
  }

  // The operands of an operation, and its result.
  [[nodiscard]] std::vector<ValueId> around(ValueId id) const {
    std::vector<ValueId> values = program_.source.at(id).operands;
    values.push_back(id);
    return values;
  }

  [[nodiscard]] const LocalCall* maker(ValueId id) const {
    const std::int32_t step = makers_[static_cast<std::size_t>(id.index)];
    return step < 0 ? nullptr : &program_.steps[static_cast<std::size_t>(step)].calls.front();
  }

  static std::string_view verb(Combine combine) {
    switch (combine) {
      case Combine::kSum:
        return "summed";
      case Combine::kMax:
        return "reduced to its maximum";
      case Combine::kMin:
        return "reduced to its minimum";
      case Combine::kProd:
        break;
    }
    return "multiplied up";
  }

  // A pending sum comes from the reduced loops of its operation, or of one that it only passed
  // through.
  void pending(ValueId id) {
    const LocalCall* call = maker(id);
    const std::optional<CarriedSum> carried = carried_by(program_, step_);
    while (call != nullptr) {
      bool found = false;
      for (std::size_t l = 0; l < call->loops.size(); ++l) {
        const LoopDim& loop = call->space.loops[l];
        if (loop.role == DimRole::kReduced && overlaps(call->loops[l])) {
          add(loop.name + " is " + std::string(verb(step_.combine)) + " and split over " +
                  names(call->loops[l]),
              call->call.span, loop.name, call->loops[l], around(call->origin));
          found = true;
        }
      }
      if (found && carried) {
        reasons_.push_back({.text = carried_text(*carried), .span = call->call.span, .cause = {}});
      }
      if (found || call->operands.empty()) {
        return;
      }
      call = maker(program_.at(call->operands.front()).origin);
    }
  }

  [[nodiscard]] bool overlaps(const Axes& axes) const {
    return std::ranges::any_of(axes, [this](AxisId axis) { return has(step_.axes, axis); });
  }

  void moved() {
    const SpmdValue& from = program_.at(step_.from);
    const SpmdValue& to = program_.at(step_.to);
    const Value& user = program_.source.at(need_.user);
    if (from.layout.where != to.layout.where) {
      reasons_.push_back({.text = holders_sentence(from.layout, to.layout),
                          .span = user.span,
                          .cause = first_cause(from.origin)});
      if (step_.kind == StepKind::kBroadcast) {
        return;
      }
    }
    for (std::size_t d = 0; d < from.type.shape.rank(); ++d) {
      const Axes& had = from.layout.dims[d];
      const Axes& has = to.layout.dims[d];
      if (had != has) {
        const std::string& dim = from.type.shape[d].name;
        const ValueId made = from.origin;
        add(sentence(dim, had, has), user.span, dim, has.size() < had.size() ? had : has,
            need_.user == made ? std::vector{made} : with(made, around(need_.user)));
      }
    }
  }

  // "`add` needs it along z, and ranks hold it where y == z".
  [[nodiscard]] std::string holders_sentence(const ValueLayout& from, const ValueLayout& to) const {
    if (step_.kind == StepKind::kBroadcast) {
      return reader() + " needs it all along " + names(step_.axes) + ", and ranks hold it " +
             to_string(from.where, program_.mesh);
    }
    return (to.where.empty() ? reader() + " needs it so"
                             : "ranks hold it " + to_string(to.where, program_.mesh));
  }

  [[nodiscard]] std::string reader() const {
    const Value& user = program_.source.at(need_.user);
    if (!need_.what.empty()) {
      return std::string(need_.what);
    }
    if (need_.user == program_.at(step_.from).origin || user.op == nullptr) {
      return "the layout";
    }
    return "`" + std::string(user.op->name) + "`";
  }

  [[nodiscard]] Cause first_cause(ValueId id) const {
    for (const std::vector<Cause>& of_dim : program_.target(id).causes) {
      if (!of_dim.empty()) {
        return of_dim.front();
      }
    }
    return {};
  }

  static std::vector<ValueId> with(ValueId first, std::vector<ValueId> values) {
    values.insert(values.begin(), first);
    return values;
  }

  [[nodiscard]] std::string sentence(const std::string& dim, const Axes& had,
                                     const Axes& has) const {
    const ValueId made = program_.at(step_.from).origin;
    if (need_.user == made) {
      const std::string who = need_.what.empty() ? "the layout" : std::string(need_.what);
      return has.empty()
                 ? who + " keeps " + dim + " whole, it was computed split over " + names(had)
                 : who + " splits " + dim + " over " + names(has);
    }
    const std::string op = reader();
    if (has.size() < had.size()) {
      return op + " needs " +
             (has.empty() ? "all of " + dim : dim + " split only over " + names(has)) +
             ", which is split over " + names(had);
    }
    return op + " needs " + dim + " split over " + names(has);
  }

  const SpmdProgram& program_;
  std::span<const std::int32_t> makers_;
  const Step& step_;
  const Need& need_;
  std::vector<Reason> reasons_;
};

}  // namespace

std::string carried_text(const CarriedSum& carried) {
  return "that sum is inside the one over " + carried.outer() + ", of which a rank has " +
         std::to_string(carried.blocks) + " blocks";
}

// The order of the dims is that of the operands; where the outer ones are split as well, either
// order moves more.
std::string way_out(const SpmdProgram& program, const Step& step, const CarriedSum& carried) {
  const std::vector<std::string> inner = dims_of(program, Makers(program), step);
  if (carried.splits || inner.empty()) {
    return "sums in any order (--fast)";
  }
  return inner.front() + " before " + carried.outer() + " in the operands, or --fast";
}

std::string loops_text(const SpmdProgram& program, const IterationSpace& space,
                       const std::vector<Axes>& loops) {
  std::string text;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (!loops[l].empty()) {
      text += (text.empty() ? "" : ", ") + space.loops[l].name + " over " +
              to_string(program.mesh, loops[l]);
    }
  }
  return text.empty() ? "nothing" : text;
}

std::vector<Reason> explain(const SpmdProgram& program, std::span<const std::int32_t> makers,
                            const Step& step, const Need& need) {
  return Explainer(program, makers, step, need).run();
}

Reason explain_choice(const SpmdProgram& program, const LocalCall& call, const LoopSplit& split) {
  return {.text = "splits " + loops_text(program, call.space, split.loops) + ", moving " +
                  bytes_text(split.bytes) + "; next best " +
                  loops_text(program, call.space, split.otherwise.front().loops) + ", moving " +
                  bytes_text(split.otherwise.front().bytes),
          .span = call.call.span,
          .cause = {}};
}

}  // namespace mtf
