// The rules are asked first; under `infer`, then the values beside it.

#include "frontend/report/why/absence.h"

#include <algorithm>
#include <optional>

#include "frontend/report/why/reason.h"

namespace mtf {
namespace {

class AbsenceQuestion {
 public:
  AbsenceQuestion(const SpmdProgram& program, const Layout& layout, const RuleSources& rule_sources,
                  ValueId id, AxisId axis)
      : program_(program),
        layout_(layout),
        governed_(rule_sources.of(id)),
        id_(id),
        axis_(axis),
        shape_(program.source.at(id).type.shape),
        target_(program.target(id)) {}

  Absence run() {
    const Mesh& mesh = program_.mesh;
    if (mesh.axes[axis_].size == 1) {
      return {.text = "the axis has size 1 and splits nothing", .span = {}};
    }
    if (shape_.rank() == 0) {
      return {.text = "it has no dims", .span = {}};
    }
    if (target_.layout.uses(axis_)) {
      return {.text = "it is held by the ranks " + to_string(target_.layout.where, mesh),
              .span = value().span};
    }
    if (governed_.pin != nullptr && !governed_.pin->open) {
      return {.text = "the `@`, without `..`, says all of its layout", .span = value().span};
    }
    Absence by_rules = ask_rules();
    if (!layout_.infer) {
      return by_rules;
    }
    const Absence beside = ask_neighbours();
    by_rules.text += "; `infer`: " + beside.text;
    by_rules.span = by_rules.span.file.valid() ? by_rules.span : beside.span;
    return by_rules;
  }

 private:
  [[nodiscard]] const Value& value() const { return program_.source.at(id_); }
  [[nodiscard]] std::string rule_text(const Rule& rule) const {
    return in_backticks(to_string(rule, program_.mesh));
  }

  // ---- rules --------------------------------------------------------------------------------

  Absence ask_rules() {
    if (governed_.pin != nullptr) {
      pinned_ = rules_of(*governed_.pin, program_.mesh);
      std::ranges::transform(pinned_, std::back_inserter(rules_),
                             [](const Rule& rule) { return &rule; });
    }
    const std::string_view path =
        governed_.variable == nullptr ? std::string_view() : *governed_.variable;
    std::ranges::copy(governed_.layout->rules_for(path).list, std::back_inserter(rules_));
    std::vector<const Rule*> elsewhere;
    for (const Rule* rule : rules_) {
      if (!rule->rest && !has(rule->axes, axis_)) {
        continue;
      }
      const std::optional<std::size_t> dim = shape_.index_of(rule->dim);
      if (dim) {
        return refused(*rule, *dim);
      }
      elsewhere.push_back(rule);
    }
    const std::string layout = governed_.layout->name.empty()
                                   ? "the layout"
                                   : "layout " + in_backticks(governed_.layout->name);
    if (elsewhere.empty()) {
      return {.text = "no rule of " + layout + " uses it for " + described(), .span = {}};
    }
    std::string names;
    for (const Rule* rule : elsewhere) {
      names += (names.empty() ? "" : ", ") + rule_text(*rule);
    }
    return {.text = names + (elsewhere.size() == 1 ? " names" : " name") + " no dim of it",
            .span = elsewhere.front()->span};
  }

  [[nodiscard]] std::string described() const {
    return governed_.variable == nullptr ? "values" : in_backticks(*governed_.variable);
  }

  // A rule that could have brought the axis to the dim, and did not.
  [[nodiscard]] Absence refused(const Rule& rule, std::size_t dim) const {
    const auto first = std::ranges::find(rules_, rule.dim, [](const Rule* r) { return r->dim; });
    if (*first != &rule) {
      return {.text = "for " + in_backticks(rule.dim) + ", " + rule_text(**first) +
                      " goes before " + rule_text(rule),
              .span = (*first)->span};
    }
    for (const AxisId axis : rule.axes) {
      const std::optional<std::size_t> other = dim_with(target_, axis);
      if (other && *other != dim) {
        return {.text = rule_text(rule) +
                        " gives way: " + in_backticks(program_.mesh.axes[axis].name) + " splits " +
                        in_backticks(shape_[*other].name) + " by " +
                        cause_text(target_, *other, axis),
                .span = rule.span};
      }
    }
    Axes axes = target_.layout.dims[dim];
    axes.push_back(axis_);
    if (program_.mesh.splits(shape_[dim].size, axes)) {
      return {.text = rule_text(rule) + " gives way to the `@` that alone reads it",
              .span = reader_span()};
    }
    return {.text = rule_text(rule) + " gives way: " + does_not_divide(dim, axes),
            .span = rule.span};
  }

  // Of what reads it first: where that is pinned, the value is made as it is.
  [[nodiscard]] SourceSpan reader_span() const {
    const auto reader = std::ranges::find_if(program_.source.values, [this](const Value& other) {
      return std::ranges::find(other.operands, id_) != other.operands.end();
    });
    return reader == program_.source.values.end() ? value().span : reader->span;
  }

  [[nodiscard]] std::string does_not_divide(std::size_t dim, const Axes& axes) const {
    return in_backticks(shape_[dim].name) + " of " + std::to_string(shape_[dim].size) +
           " does not divide into " + std::to_string(program_.mesh.size_of(axes));
  }

  static std::optional<std::size_t> dim_with(const Target& target, AxisId axis) {
    for (std::size_t d = 0; d < target.layout.dims.size(); ++d) {
      if (has(target.layout.dims[d], axis)) {
        return d;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string cause_text(const Target& target, std::size_t dim, AxisId axis) const {
    const Axes& axes = target.layout.dims[dim];
    const auto place = std::ranges::find(axes, axis) - axes.begin();
    return to_text(program_, target.causes[dim][static_cast<std::size_t>(place)]);
  }

  // ---- propagation --------------------------------------------------------------------------

  Absence ask_neighbours() {
    Absence last{.text = "no value beside it is split over it", .span = {}};
    for (std::size_t i = 0; i < program_.source.values.size(); ++i) {
      const ValueId user{static_cast<std::int32_t>(i)};
      const Value& candidate = program_.source.at(user);
      const bool reads = std::ranges::find(candidate.operands, id_) != candidate.operands.end();
      if (candidate.op == nullptr || candidate.op->effect || (user != id_ && !reads)) {
        continue;
      }
      if (const std::optional<Absence> found = ask_operation(user)) {
        last = *found;
        if (decided_) {
          break;
        }
      }
    }
    return last;
  }

  // What kept the axis from coming through one operation; nullopt: it was not there either.
  std::optional<Absence> ask_operation(ValueId user) {
    const OpCall call = call_of(program_.source, user);
    const IterationSpace space = call.op->space(call);
    std::vector<ValueId> tensors = program_.source.at(user).operands;
    std::vector<DimMap> maps = space.operands;
    tensors.push_back(user);
    maps.push_back(space.result);
    const auto mine = static_cast<std::size_t>(std::ranges::find(tensors, id_) - tensors.begin());
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const std::optional<std::size_t> dim = dim_with(program_.target(tensors[t]), axis_);
      if (!dim || maps[t][*dim].empty()) {
        continue;
      }
      const std::string who = describe(program_.source, tensors[t]) + " has it on " +
                              in_backticks(program_.source.at(tensors[t]).type.shape[*dim].name);
      return at_loop(who, space, maps[mine], maps[t][*dim].front(), call);
    }
    return std::nullopt;
  }

  Absence at_loop(const std::string& who, const IterationSpace& space, const DimMap& map,
                  std::size_t loop, const OpCall& call) {
    const std::string op = in_backticks(call.op->symbol.empty() ? call.op->name : call.op->symbol);
    const auto found = std::ranges::find_if(map, [loop](const std::vector<std::size_t>& loops) {
      return std::ranges::find(loops, loop) != loops.end();
    });
    if (found == map.end()) {
      return {.text = who + ", which no dim of it is in " + op, .span = call.span};
    }
    decided_ = true;
    const auto dim = static_cast<std::size_t>(found - map.begin());
    if (!may_split(space.loops[loop].role)) {
      const bool moves = space.loops[loop].role == DimRole::kMoved;
      return {.text = who + ", which " + op + (moves ? " moves" : " needs whole"),
              .span = call.span};
    }
    Axes axes = target_.layout.dims[dim];
    axes.push_back(axis_);
    if (!program_.mesh.splits(shape_[dim].size, axes)) {
      return {.text = who + ", but " + does_not_divide(dim, axes), .span = call.span};
    }
    const auto rule = std::ranges::find(rules_, shape_[dim].name,
                                        [](const Rule* r) { return std::string_view(r->dim); });
    if (rule != rules_.end()) {
      return {
          .text = who + ", but " + rule_text(**rule) + " closes " + in_backticks(shape_[dim].name),
          .span = (*rule)->span};
    }
    const auto input = std::ranges::find(program_.source.inputs, id_, &Input::value);
    const bool is_variable = input != program_.source.inputs.end() && input->is_variable();
    return {.text = who + ", but " + (is_variable ? "an earlier call made it so, or " : "") +
                    "other values in " + op + " split otherwise",
            .span = call.span};
  }

  const SpmdProgram& program_;
  const Layout& layout_;
  RuleSource governed_;
  ValueId id_;
  AxisId axis_;
  const Shape& shape_;
  const Target& target_;
  std::vector<Rule> pinned_;
  std::vector<const Rule*> rules_;  // those that govern the value, in the order in which they go
  bool decided_ = false;            // a value beside it has the axis on a dim that it shares
};

}  // namespace

Absence why_not(const SpmdProgram& program, const Layout& layout, const RuleSources& rule_sources,
                ValueId id, AxisId axis) {
  return AbsenceQuestion(program, layout, rule_sources, id, axis).run();
}

}  // namespace mtf
