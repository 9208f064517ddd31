// The one place that judges whether rules fit a tensor, and says why not.

#include <algorithm>
#include <utility>

#include "ir/layout/layout.h"

namespace mtf {
namespace {

// "2", or "2 x 4 = 8".
std::string ways(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisId axis : axes) {
    text += text.empty() ? "" : " x ";
    text += std::to_string(mesh.axes[axis].size);
  }
  return axes.size() == 1 ? text : text + " = " + std::to_string(mesh.size_of(axes));
}

// "64 or 68": the nearest multiples on both sides; 0 is no size.
std::string nearest_sizes(std::int64_t size, std::int64_t parts) {
  const std::int64_t below = size / parts * parts;
  const std::string above = std::to_string(below + parts);
  return below == 0 ? above : std::to_string(below) + " or " + above;
}

// What has been decided for one tensor so far.
class Placing {
 public:
  // `diags` null: the rules give way.
  Placing(const Shape& shape, const LayoutQuery& query, DiagSink* diags)
      : shape_(shape),
        query_(query),
        diags_(diags),
        rule_of_(shape.rank()),
        yields_(shape.rank()),
        user_(query.mesh.axes.size()),
        result_(unsplit(shape)) {}

  std::optional<Target> run() {
    find_rules();
    for (const bool yields : {false, true}) {
      for (std::size_t d = 0; d < shape_.rank(); ++d) {
        if (rule_of_[d] != nullptr && yields_[d] == yields) {
          place_named(d, yields);
        }
      }
    }
    for (std::size_t d = 0; d < shape_.rank(); ++d) {
      result_.firm[d] = result_.layout.dims[d].size();
    }
    place_conditions();
    for (const Rule* rule : query_.rules.list) {
      const std::optional<std::size_t> dim = shape_.index_of(rule->dim);
      if (dim && rule_of_[*dim] == rule && rule->rest) {
        place_rest(*dim);
      }
    }
    if (!result_.layout.where.empty()) {
      std::ranges::fill(result_.firm, std::size_t{0});
    }
    return fits_ ? std::optional(std::move(result_)) : std::nullopt;
  }

 private:
  // The first rule of each dim.
  void find_rules() {
    const std::vector<const Rule*>& list = query_.rules.list;
    for (std::size_t r = 0; r < list.size(); ++r) {
      const std::optional<std::size_t> dim = shape_.index_of(list[r]->dim);
      if (dim && rule_of_[*dim] == nullptr) {
        rule_of_[*dim] = list[r];
        yields_[*dim] = r >= query_.rules.firm;
      }
    }
  }

  [[nodiscard]] std::string tensor() const {
    return std::string(query_.what) + " " + to_string(shape_);
  }
  [[nodiscard]] std::string rule_text(const Rule& rule) const {
    return in_backticks(to_string(rule, query_.mesh));
  }
  [[nodiscard]] bool is_pinned(const Rule& rule) const {
    const auto& list = query_.rules.list;
    const auto place = static_cast<std::size_t>(std::ranges::find(list, &rule) - list.begin());
    return query_.pinned && place < query_.rules.firm;
  }
  [[nodiscard]] Note note_of(const Rule& rule) const {
    return {.span = rule.span,
            .text = rule_text(rule) +
                    (is_pinned(rule) ? " is what the `@` says"
                                     : " is a rule of layout " + in_backticks(query_.layout))};
  }

  void error(DiagKind kind, std::string text, std::vector<Note> notes) {
    fits_ = false;
    if (diags_ != nullptr) {
      diags_->error(kind, query_.span, std::move(text), std::move(notes));
    }
  }

  // An axis of size 1 splits nothing; it is checked like the others, and left out.
  void split(std::size_t dim, AxisId axis) {
    if (query_.mesh.axes[axis].size == 1) {
      return;
    }
    const Rule& rule = *rule_of_[dim];
    result_.layout.dims[dim].push_back(axis);
    result_.causes[dim].push_back({.kind = is_pinned(rule) ? CauseKind::kPin : CauseKind::kRule,
                                   .span = rule.span,
                                   .rule = to_string(rule, query_.mesh)});
  }

  void place_named(std::size_t dim, bool yields) {
    const Rule& rule = *rule_of_[dim];
    const bool taken =
        std::ranges::any_of(rule.axes, [&](AxisId axis) { return user_[axis] != nullptr; });
    const bool divides = query_.mesh.splits(shape_[dim].size, rule.axes);
    if ((yields && taken) || (diags_ == nullptr && (taken || !divides))) {
      rule_of_[dim] = nullptr;
      return;
    }
    claim(rule);
    if (!divides) {
      indivisible(dim, rule.axes, "");
    }
    for (const AxisId axis : rule.axes) {
      split(dim, axis);
    }
  }

  // Once all dims are split: an axis with a condition splits none of them.
  void place_conditions() {
    for (std::size_t d = 0; d < shape_.rank(); ++d) {
      const Rule* rule = rule_of_[d];
      if (rule == nullptr || rule->where.empty() || is_lost(d)) {
        continue;
      }
      for (const Condition& condition : rule->where) {
        user_[condition.axis] = rule;
        if (query_.mesh.axes[condition.axis].size > 1) {
          result_.layout.where.push_back(condition);
        }
      }
    }
    std::ranges::sort(result_.layout.where);
  }

  // Whether an axis of the conditions is taken; an error, or the conditions give way.
  bool is_lost(std::size_t dim) {
    const Rule& rule = *rule_of_[dim];
    for (const Condition& condition : rule.where) {
      const Rule* other = user_[condition.axis];
      if (other == nullptr) {
        continue;
      }
      if (!yields_[dim] && diags_ != nullptr) {
        const std::string name = in_backticks(query_.mesh.axes[condition.axis].name);
        error(DiagKind::kLayoutConflict,
              in_backticks(to_string(rule.where, query_.mesh)) + " is for tensors that leave " +
                  name + " unused, and the rule for " + in_backticks(other->dim) + " of " +
                  tensor() + " uses it; `at \"…\" { }` names those that it is for",
              {note_of(*other), note_of(rule)});
      }
      return true;
    }
    return false;
  }

  void claim(const Rule& rule) {
    for (const AxisId axis : rule.axes) {
      const Rule* other = std::exchange(user_[axis], &rule);
      if (other == nullptr) {
        continue;
      }
      const std::string name = in_backticks(query_.mesh.axes[axis].name);
      if (other == &rule) {
        error(DiagKind::kLayoutConflict,
              tensor() + " names axis " + name + " twice for " + in_backticks(rule.dim) +
                  "; an axis splits a tensor once",
              {note_of(rule)});
      } else {
        error(DiagKind::kLayoutConflict,
              "axis " + name + " would split two dims of " + tensor() + ": " +
                  in_backticks(other->dim) + " and " + in_backticks(rule.dim) +
                  "; give one another axis or no rule",
              {note_of(*other), note_of(rule)});
      }
      return;
    }
  }

  void indivisible(std::size_t dim, const Axes& axes, std::string_view note) {
    const Mesh& mesh = query_.mesh;
    error(DiagKind::kIndivisible,
          in_backticks(shape_[dim].name) + " of " + tensor() + " does not split evenly over " +
              (axes.size() == 1 ? "axis " : "axes ") + in_backticks(to_string(mesh, axes)) + " (" +
              ways(mesh, axes) + " ways)" + std::string(note) + "; " +
              nearest_sizes(shape_[dim].size, mesh.size_of(axes)) + " would, or an `uneven` layout",
          {note_of(*rule_of_[dim])});
  }

  // Whether a dim other than this one is split by name.
  [[nodiscard]] bool others_split(std::size_t dim) const {
    for (std::size_t d = 0; d < shape_.rank(); ++d) {
      if (d != dim && result_.firm[d] > 0) {
        return true;
      }
    }
    return false;
  }

  void place_rest(std::size_t dim) {
    const bool strict = diags_ != nullptr && others_split(dim);
    Axes axes = result_.layout.dims[dim];
    Axes more;
    for (std::size_t a = 0; a < user_.size(); ++a) {
      const auto axis = static_cast<AxisId>(a);
      if (user_[a] != nullptr || query_.mesh.axes[a].size == 1) {
        continue;
      }
      axes.push_back(axis);
      if (!strict && !query_.mesh.splits(shape_[dim].size, axes)) {
        axes.pop_back();
        continue;
      }
      more.push_back(axis);
      user_[a] = rule_of_[dim];
    }
    if (!query_.mesh.splits(shape_[dim].size, axes)) {
      indivisible(dim, axes, ", `*` being " + in_backticks(to_string(query_.mesh, more)) + " here");
    }
    for (const AxisId axis : more) {
      split(dim, axis);
    }
  }

  const Shape& shape_;
  const LayoutQuery& query_;
  DiagSink* diags_;
  std::vector<const Rule*> rule_of_;  // of each dim
  std::vector<bool> yields_;          // of each dim: its rule gives way to others
  std::vector<const Rule*> user_;     // of each axis
  Target result_;
  bool fits_ = true;
};

}  // namespace

std::optional<Target> layout_by_rules(const Shape& shape, const LayoutQuery& query,
                                      DiagSink& diags) {
  return Placing(shape, query, &diags).run();
}

Target layout_that_fits(const Shape& shape, const LayoutQuery& query) {
  return *Placing(shape, query, nullptr).run();
}

}  // namespace mtf
