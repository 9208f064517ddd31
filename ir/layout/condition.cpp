// Conditions of rules, `where y == z`: which axis splits the dim and which ones only say who holds
// its blocks. Every block must be held by somebody.

#include <algorithm>

#include "ir/layout/layout.h"

namespace mtf {
namespace {

using Class = Axes;  // axes of equal coordinates

class Turning {
 public:
  Turning(const Mesh& mesh, std::string_view dim, const Axes& axes) : mesh_(mesh), axes_(axes) {
    dim_ = "`" + std::string(dim) + "`";
  }

  OrientedConditions run(std::span<const NamedCondition> written) {
    for (const NamedCondition& condition : written) {
      const AxisId axis = *mesh_.find(condition.axis);
      if (!condition.same) {
        fixed({.axis = axis, .same = std::nullopt, .at = condition.at});
      } else {
        pair(*mesh_.find(*condition.same), axis);
      }
    }
    std::ranges::for_each(classes_, [this](const Class& axes) { turn(axes); });
    std::ranges::sort(result_.where);
    for (std::size_t i = 1; i < result_.where.size(); ++i) {
      if (result_.where[i].axis == result_.where[i - 1].axis) {
        problem(name(result_.where[i].axis) + " has two conditions");
      }
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string name(AxisId axis) const { return "`" + mesh_.axes[axis].name + "`"; }

  void problem(std::string text) {
    if (result_.problem.empty()) {
      result_.problem = std::move(text);
    }
  }

  void fixed(const Condition& condition) {
    if (has(axes_, condition.axis)) {
      problem(name(condition.axis) + " splits " + dim_ +
              ", of which only one block would be held; `where` takes an axis that splits nothing");
    }
    result_.where.push_back(condition);
  }

  void pair(AxisId a, AxisId b) {
    if (a == b) {
      problem(name(a) + " is compared with itself");
      return;
    }
    Class joined = {a, b};
    std::erase_if(classes_, [&](const Class& axes) {
      const bool meets = has(axes, a) || has(axes, b);
      if (meets) {
        joined.insert(joined.end(), axes.begin(), axes.end());
      }
      return meets;
    });
    std::ranges::sort(joined);
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    classes_.push_back(std::move(joined));
  }

  void turn(const Class& axes) {
    Class split;
    std::ranges::copy_if(axes, std::back_inserter(split),
                         [this](AxisId axis) { return has(axes_, axis); });
    if (split.empty()) {
      problem("neither " + name(axes[0]) + " nor " + name(axes[1]) + " splits " + dim_ +
              "; the rule names one of them, whose blocks lie on the diagonal");
      return;
    }
    if (split.size() > 1) {
      problem(name(split[0]) + " and " + name(split[1]) + " both split " + dim_ +
              ", and most of its blocks would be held nowhere; the rule names one of them");
      return;
    }
    for (const AxisId axis : axes) {
      if (axis != split[0]) {
        result_.where.push_back({.axis = axis, .same = split[0]});
      }
    }
  }

  const Mesh& mesh_;
  const Axes& axes_;
  std::string dim_;
  std::vector<Class> classes_;
  OrientedConditions result_;
};

}  // namespace

OrientedConditions oriented(const Mesh& mesh, std::string_view dim, const Axes& axes,
                            std::span<const NamedCondition> written) {
  return Turning(mesh, dim, axes).run(written);
}

std::string problem_of_sizes(std::span<const Condition> where, const Mesh& mesh) {
  const auto text = [&mesh](AxisId axis) {
    return "`" + mesh.axes[axis].name + "` has size " + std::to_string(mesh.axes[axis].size);
  };
  for (const Condition& condition : where) {
    const std::int64_t size = mesh.axes[condition.axis].size;
    if (condition.same && mesh.axes[*condition.same].size != size) {
      return "a diagonal is one of axes of the same size; " + text(*condition.same) + ", and " +
             text(condition.axis);
    }
    if (!condition.same && condition.at >= size) {
      return "no rank has coordinate " + std::to_string(condition.at) + "; " +
             text(condition.axis) + ", and coordinates begin with 0";
    }
  }
  return "";
}

NamedCondition named(const Condition& condition, const Mesh& mesh) {
  NamedCondition result{.axis = mesh.axes[condition.axis].name, .same = {}, .at = condition.at};
  if (condition.same) {
    result.same = mesh.axes[*condition.same].name;
  }
  return result;
}

NamedRule named(const Rule& rule, const Mesh& mesh) {
  NamedRule result{.dim = rule.dim, .axes = {}, .span = rule.span, .rest = rule.rest};
  for (const AxisId axis : rule.axes) {
    result.axes.push_back(mesh.axes[axis].name);
  }
  for (const Condition& condition : rule.where) {
    result.where.push_back(named(condition, mesh));
  }
  return result;
}

bool names_axes_of(const Mesh& mesh, const NamedRule& rule) {
  const auto has = [&mesh](const std::string& axis) { return mesh.find(axis).has_value(); };
  return std::ranges::all_of(rule.axes, has) &&
         std::ranges::all_of(rule.where, [&](const NamedCondition& condition) {
           return has(condition.axis) && (!condition.same || has(*condition.same));
         });
}

Rule resolved(const NamedRule& rule, const Mesh& mesh) {
  Rule result{.dim = rule.dim, .axes = {}, .span = rule.span, .rest = rule.rest};
  for (const std::string& axis : rule.axes) {
    if (result.axes.size() < Axes::kRoom) {  // else some are there twice, which is an error
      result.axes.push_back(*mesh.find(axis));
    }
  }
  result.where = oriented(mesh, result.dim, result.axes, rule.where).where;
  return result;
}

}  // namespace mtf
