// Layouts of values, and the one place that judges whether rules fit a tensor.

#include "ir/layout.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mtf {
namespace {

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// "x", or "(x, y)" for several.
std::string grouped(const Mesh& mesh, const Axes& axes) {
  const std::string list = to_string(mesh, axes);
  return axes.size() == 1 ? list : "(" + list + ")";
}

Note note_of(const Rule& rule, const Layout& layout) {
  return {
      .span = rule.span,
      .text = quoted(to_string(rule, layout.mesh)) + " is a rule of layout " + quoted(layout.name)};
}

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
struct Checker {
  const Shape& shape;
  const Layout& layout;
  SourceSpan span;
  std::string_view what;
  DiagSink& diags;
  std::vector<const Rule*> user;  // of each axis

  [[nodiscard]] std::string tensor() const { return std::string(what) + " " + to_string(shape); }
};

bool claim_axes(Checker& at, const Rule& rule) {
  for (const AxisId axis : rule.axes) {
    const Rule* other = std::exchange(at.user[axis], &rule);
    if (other == nullptr) {
      continue;
    }
    const std::string name = quoted(at.layout.mesh.axes[axis].name);
    if (other == &rule) {
      at.diags.error(DiagKind::kLayoutConflict, at.span,
                     at.tensor() + " names axis " + name + " twice for " + quoted(rule.dim) +
                         "; an axis splits a tensor once",
                     {note_of(rule, at.layout)});
      return false;
    }
    at.diags.error(DiagKind::kLayoutConflict, at.span,
                   "axis " + name + " would split two dims of " + at.tensor() + ": " +
                       quoted(other->dim) + " and " + quoted(rule.dim) +
                       "; give one of them another axis, another name here, or no rule",
                   {note_of(*other, at.layout), note_of(rule, at.layout)});
    return false;
  }
  return true;
}

bool check_size(Checker& at, const Rule& rule, const Dim& dim) {
  const Mesh& mesh = at.layout.mesh;
  const std::int64_t parts = mesh.size_of(rule.axes);
  if (dim.size % parts == 0) {
    return true;
  }
  at.diags.error(DiagKind::kIndivisible, at.span,
                 quoted(dim.name) + " of " + at.tensor() + " does not split evenly over " +
                     (rule.axes.size() == 1 ? "axis " : "axes ") +
                     quoted(to_string(mesh, rule.axes)) + " (" + ways(mesh, rule.axes) +
                     " ways); a size of " + nearest_sizes(dim.size, parts) + " would",
                 {note_of(rule, at.layout)});
  return false;
}

}  // namespace

const Rule* Layout::rule_for(std::string_view dim) const {
  const auto found = std::ranges::find(rules, dim, &Rule::dim);
  return found == rules.end() ? nullptr : &*found;
}

bool ValueLayout::is_replicated() const {
  return partial.empty() &&
         std::ranges::all_of(dims, [](const Axes& axes) { return axes.empty(); });
}

bool ValueLayout::uses(AxisId axis) const {
  const auto has = [axis](const Axes& axes) { return std::ranges::find(axes, axis) != axes.end(); };
  return has(partial) || std::ranges::any_of(dims, has);
}

ValueLayout replicated(const Shape& shape) {
  return {.dims = std::vector<Axes>(shape.rank()), .partial = {}};
}

Shape local_shape(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  assert(layout.dims.size() == shape.rank());
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t parts = mesh.size_of(layout.dims[i]);
    assert(dims[i].size % parts == 0);
    dims[i].size /= parts;
  }
  return Shape(std::move(dims));
}

Slice slice_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh, std::int64_t rank) {
  const Shape local = local_shape(shape, layout, mesh);
  Slice slice;
  for (std::size_t i = 0; i < local.rank(); ++i) {
    slice.offset.push_back(mesh.index_along(rank, layout.dims[i]) * local[i].size);
    slice.extent.push_back(local[i].size);
  }
  return slice;
}

ValueLayout layout_that_fits(const Shape& shape, const Layout& layout) {
  ValueLayout fit = replicated(shape);
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const Rule* rule = layout.rule_for(shape[d].name);
    if (rule == nullptr || shape[d].size % layout.mesh.size_of(rule->axes) != 0) {
      continue;
    }
    if (std::ranges::none_of(rule->axes, [&](AxisId axis) { return fit.uses(axis); })) {
      fit.dims[d] = rule->axes;
    }
  }
  return fit;
}

std::optional<ValueLayout> layout_by_rules(const Shape& shape, const Layout& layout,
                                           SourceSpan span, std::string_view what,
                                           DiagSink& diags) {
  Checker at{.shape = shape,
             .layout = layout,
             .span = span,
             .what = what,
             .diags = diags,
             .user = std::vector<const Rule*>(layout.mesh.axes.size())};
  ValueLayout result = replicated(shape);
  bool fits = true;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const Rule* rule = layout.rule_for(shape[i].name);
    if (rule == nullptr) {
      continue;
    }
    fits = claim_axes(at, *rule) && fits;
    fits = check_size(at, *rule, shape[i]) && fits;
    result.dims[i] = rule->axes;
  }
  return fits ? std::optional(std::move(result)) : std::nullopt;
}

std::string to_string(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    text += i > 0 ? ", " : "";
    text += shape[i].name;
    if (!layout.dims[i].empty()) {
      text += ": " + grouped(mesh, layout.dims[i]);
    }
  }
  text += "]";
  return layout.partial.empty() ? text : text + " partial(" + to_string(mesh, layout.partial) + ")";
}

std::string to_string(const Rule& rule, const Mesh& mesh) {
  return rule.dim + " -> " + grouped(mesh, rule.axes);
}

}  // namespace mtf
