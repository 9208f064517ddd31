// Layouts inside the code: `h @ [batch -> x, ..]` and `with layout`.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/layouts/automatic.h"
#include "frontend/elaborate/layouts/conditions.h"
#include "frontend/elaborate/layouts/layouts.h"

namespace mtf::host {
namespace {

bool axis_exists(Reporter& report, const Layouts& layouts, const ast::Name& axis) {
  std::vector<std::string> axes;
  for (const Mesh& mesh : layouts.meshes) {
    const std::vector<std::string> names = names_of(mesh.axes);
    axes.insert(axes.end(), names.begin(), names.end());
  }
  if (std::ranges::find(axes, axis.text) != axes.end()) {
    return true;
  }
  const Suggestion suggestion = suggest(axis.text, axes);
  report.error(DiagKind::kUnknownAxis, axis.span,
               axes.empty() ? "no mesh is declared, so there is no axis `" + axis.text + "`"
                            : "no mesh has an axis `" + axis.text + "`" + suggestion.text,
               {}, suggestion.fix);
  return false;
}

// The axes of `all`: of the mesh in use.
void add_all(Reporter& report, Layouts& layouts, std::vector<std::string>& axes) {
  layouts.pins_all = true;
  if (const Layout* layout = choose_layout(report, layouts)) {
    const std::vector<std::string> names = names_of(layout->mesh.axes);
    axes.insert(axes.end(), names.begin(), names.end());
  }
}

// The tensor's dim of that name, or the one that a parameter of the name stands for.
std::string dim_of(const Names& names, Units& units, const Shape& shape, const std::string& name) {
  const std::optional<Dim> dim = shape.has(name) ? std::nullopt : find_dim(names, units, name);
  return dim ? dim->name : name;
}

std::optional<NamedRule> pin_rule(Layouts& layouts, const Names& names, Units& units,
                                  const Shape& shape, const ast::Rule& rule) {
  NamedRule pinned{
      .dim = dim_of(names, units, shape, rule.dim.text), .axes = {}, .span = rule.span};
  if (!shape.has(pinned.dim)) {
    std::vector<std::string> dims;
    std::ranges::transform(shape.dims(), std::back_inserter(dims), &Dim::name);
    const Suggestion suggestion = suggest(rule.dim.text, dims);
    units.report.error(DiagKind::kUnknownDim, rule.dim.span,
                       "the tensor " + mtf::to_string(shape) + " has no dim `" + rule.dim.text +
                           "`" + suggestion.text,
                       {}, suggestion.fix);
    return std::nullopt;
  }
  for (const ast::Target& target : rule.targets) {
    const bool last = &target == &rule.targets.back();
    if (target.kind == ast::TargetKind::kUnused && !last) {
      units.report.error(DiagKind::kLayoutConflict, target.axis.span,
                         "`*`, the axes that a tensor leaves unused, stands last");
      return std::nullopt;
    }
    if (target.kind == ast::TargetKind::kAxis && !axis_exists(units.report, layouts, target.axis)) {
      return std::nullopt;
    }
    if (target.kind == ast::TargetKind::kUnused) {
      pinned.rest = true;
    } else if (target.kind == ast::TargetKind::kAll) {
      add_all(units.report, layouts, pinned.axes);
    } else {
      pinned.axes.push_back(target.axis.text);
    }
  }
  auto where = conditions_of(units.report, rule, [&](const ast::Name& axis) {
    return axis_exists(units.report, layouts, axis);
  });
  if (!where) {
    return std::nullopt;
  }
  pinned.where = *std::move(where);
  return pinned;
}

// All axes that the rules name, in order, each once.
std::vector<std::string> axes_of(const Pin& pin) {
  std::vector<std::string> axes;
  const auto add = [&axes](const std::string& axis) {
    if (std::ranges::find(axes, axis) == axes.end()) {
      axes.push_back(axis);
    }
  };
  for (const NamedRule& rule : pin.rules) {
    std::ranges::for_each(rule.axes, add);
  }
  return axes;
}

// False after an error: each axis is of some mesh, but no mesh has them all, so the pin would never
// apply.
bool share_a_mesh(Reporter& report, const Layouts& layouts, const Pin& pin, SourceSpan span) {
  const std::vector<std::string> axes = axes_of(pin);
  const auto has_all = [&axes](const Mesh& mesh) {
    return std::ranges::all_of(
        axes, [&mesh](const std::string& axis) { return mesh.find(axis).has_value(); });
  };
  if (axes.size() < 2 || std::ranges::any_of(layouts.meshes, has_all)) {
    return true;
  }
  report.error(
      DiagKind::kUnknownAxis, span,
      "no mesh has the axes " + quoted_list(axes) + " together, so nothing is laid out so");
  return false;
}

}  // namespace

Value pin_tensor(Context& c, const Operand& tensor, const ast::Pin& pin, SourceSpan span) {
  c.layouts.has_pins = true;
  if (is_unknown(tensor.value)) {
    return unknown();
  }
  const auto* of = tensor.value.get<Tensor>();
  if (of == nullptr) {
    c.report.error(DiagKind::kWrongType, tensor.span,
                   "`@` lays out a tensor; this is " + kind_of(tensor.value));
    return unknown();
  }
  Pin layout{.rules = {}, .open = pin.open};
  for (const ast::Rule& rule : pin.rules) {
    std::optional<NamedRule> pinned = pin_rule(c.layouts, c.names, c.units, of->type.shape, rule);
    if (!pinned) {
      return unknown();
    }
    if (std::ranges::find(layout.rules, pinned->dim, &NamedRule::dim) != layout.rules.end()) {
      c.report.error(DiagKind::kDuplicateName, rule.dim.span,
                     "`" + rule.dim.text + "` has a rule in this `@` already");
      return unknown();
    }
    layout.rules.push_back(*std::move(pinned));
  }
  if (!share_a_mesh(c.report, c.layouts, layout, span)) {
    return unknown();
  }
  OpArgs args;
  args.set("layout", std::move(layout));
  return apply_op(c.units, op_of(c.units.ops, Primitive::kPin), {&tensor, 1}, std::move(args),
                  span);
}

namespace {

// By the names of its axes; false: there is no axis of some name.
bool move_rules(std::vector<Rule>& rules, const Mesh& from, const Mesh& to) {
  return std::ranges::all_of(rules, [&](Rule& rule) {
    const NamedRule moved = named(rule, from);
    const bool has_all = names_axes_of(to, moved);
    rule = has_all ? resolved(moved, to) : rule;
    return has_all;
  });
}

// The layout's rules on another mesh, which has the axes that they name.
std::optional<Layout> moved_to(const Mesh& mesh, Layout layout) {
  const bool has_all = move_rules(layout.rules, layout.mesh, mesh) &&
                       std::ranges::all_of(layout.variables, [&](VariableRules& block) {
                         return move_rules(block.rules, layout.mesh, mesh);
                       });
  layout.mesh.axes = mesh.axes;
  return has_all ? std::optional(std::move(layout)) : std::nullopt;
}

}  // namespace

std::optional<Layout> region_layout(Reporter& report, Layouts& layouts, const ast::Name& name) {
  const auto found = std::ranges::find(layouts.layouts, name.text, &Layout::name);
  if (found == layouts.layouts.end() && layouts.written.contains(name.text) &&
      !report.sink().ok()) {
    report.fail();  // where it is declared is told why it could not be
    return std::nullopt;
  }
  if (found == layouts.layouts.end()) {
    const Suggestion suggestion = suggest(name.text, names_of(layouts.layouts));
    report.error(DiagKind::kUnknownLayout, name.span,
                 no_layout_text(layouts, name.text, suggestion), {}, suggestion.fix);
    return std::nullopt;
  }
  layouts.in_regions.insert(name.text);
  if (!find_rules(report, layouts.asked, *found)) {
    refuse_unsearched(report, *found, name.span);
    return std::nullopt;
  }
  // On one rank it lays out nothing, and keeps apart what rewrites would join there alone.
  const Layout* in_use = choose_layout(report, layouts);
  if (in_use == nullptr || in_use->mesh.axes == found->mesh.axes) {
    return *found;
  }
  std::optional<Layout> moved = moved_to(in_use->mesh, *found);
  if (!moved) {
    report.error(DiagKind::kMeshSize, name.span,
                 "the layout `" + name.text + "` is on the mesh " + mtf::to_string(found->mesh) +
                     ", and the program runs under `" + in_use->name + "` on " +
                     mtf::to_string(in_use->mesh) + "; `with layout` stays on one mesh",
                 {{.span = found->span, .text = "declared here"}});
  }
  return moved;
}

void enter_region(const Layouts& layouts, Recording& unit) {
  if (!layouts.region || unit.kind == UnitKind::kInitial) {
    unit.builder.within(-1);
    return;
  }
  std::vector<Layout>& regions = unit.program().regions;
  auto found = std::ranges::find(regions, layouts.region->name, &Layout::name);
  if (found == regions.end()) {
    found = regions.insert(regions.end(), *layouts.region);
  }
  unit.builder.within(static_cast<std::int32_t>(found - regions.begin()));
}

}  // namespace mtf::host
