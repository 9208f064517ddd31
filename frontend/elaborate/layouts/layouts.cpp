// Declarations of meshes and layouts, and the choice of the one that is used.

#include "frontend/elaborate/layouts/layouts.h"

#include <algorithm>

#include "frontend/elaborate/layouts/conditions.h"
#include "frontend/elaborate/layouts/hardware.h"
#include "frontend/elaborate/layouts/layout_options.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

constexpr std::int64_t kMaxRanks = std::int64_t{1} << 31U;

template <typename T>
const T* named(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return found == list.end() ? nullptr : &*found;
}

void add_mesh(Context& c, Mesh mesh) {
  const auto same = std::ranges::find(c.layouts.meshes, mesh.name, &Mesh::name);
  if (same != c.layouts.meshes.end()) {
    *same = std::move(mesh);  // a REPL declares it anew
  } else {
    c.layouts.meshes.push_back(std::move(mesh));
  }
}

void add_layout(Context& c, Layout layout) {
  const auto same = std::ranges::find(c.layouts.layouts, layout.name, &Layout::name);
  if (same != c.layouts.layouts.end()) {
    *same = std::move(layout);
  } else {
    c.layouts.layouts.push_back(std::move(layout));
  }
}

std::optional<Mesh> mesh_for(Context& c, const ast::Layout& layout) {
  const std::vector<Mesh>& meshes = c.layouts.meshes;
  if (!layout.mesh && meshes.size() == 1) {
    return meshes.front();
  }
  if (!layout.mesh) {
    c.error(DiagKind::kMissingArgument, layout.name.span,
            meshes.empty()
                ? "no mesh is declared for the layout `" + layout.name.text + "`"
                : "the layout `" + layout.name.text +
                      "` does not say which mesh it is on: " + quoted_list(names_of(meshes)));
    return std::nullopt;
  }
  const Mesh* mesh = named(meshes, layout.mesh->text);
  const Scope::Found found = c.scope->find(layout.mesh->text);
  if (mesh == nullptr && found.binding != nullptr && !is_unknown(found.binding->value)) {
    c.error(DiagKind::kWrongType, layout.mesh->span,
            "`" + layout.mesh->text + "` is " + kind_of(found.binding->value) + ", not a mesh");
  }
  return mesh == nullptr ? std::nullopt : std::optional(*mesh);
}

bool has_axis(Context& c, const Mesh& mesh, const ast::Name& axis) {
  if (mesh.find(axis.text)) {
    return true;
  }
  const Suggestion suggestion = suggest(axis.text, names_of(mesh.axes));
  c.error(DiagKind::kUnknownAxis, axis.span,
          "the mesh " + mtf::to_string(mesh) + " has no axis `" + axis.text + "`" + suggestion.text,
          {{.span = mesh.span, .text = "the mesh is declared here"}}, suggestion.fix);
  return false;
}

// The axes of one rule; nullopt after an error.
std::optional<Axes> axes_of(Context& c, const ast::Rule& rule, const Mesh& mesh) {
  Axes axes;
  for (const ast::Target& target : rule.targets) {
    if (target.kind == ast::TargetKind::kUnused) {
      continue;
    }
    if (target.kind == ast::TargetKind::kAll) {
      for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
        axes.push_back(static_cast<AxisId>(i));
      }
      continue;
    }
    if (!has_axis(c, mesh, target.axis)) {
      return std::nullopt;
    }
    const std::optional<AxisId> axis = mesh.find(target.axis.text);
    if (std::ranges::find(axes, *axis) != axes.end()) {
      c.error(DiagKind::kLayoutConflict, target.axis.span,
              "`" + rule.dim.text + "` is split over the axis `" + target.axis.text + "` twice");
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  return axes;
}

// Whether `*` stands behind the axes; nullopt after an error.
std::optional<bool> ends_in_rest(Context& c, const ast::Rule& rule) {
  for (const ast::Target& target : rule.targets) {
    if (target.kind == ast::TargetKind::kUnused && &target != &rule.targets.back()) {
      c.error(DiagKind::kLayoutConflict, target.axis.span,
              "`*`, the axes that a tensor leaves unused, stands last: `" + rule.dim.text +
                  " -> (…, *)`");
      return std::nullopt;
    }
  }
  return !rule.targets.empty() && rule.targets.back().kind == ast::TargetKind::kUnused;
}

// Which ranks hold the blocks; nullopt after an error.
std::optional<std::vector<Condition>> where_of(Context& c, const ast::Rule& rule, const Axes& axes,
                                               const Mesh& mesh) {
  const auto written =
      conditions_of(c, rule, [&](const ast::Name& axis) { return has_axis(c, mesh, axis); });
  if (!written) {
    return std::nullopt;
  }
  OrientedConditions result = oriented(mesh, rule.dim.text, axes, *written);
  if (!result.problem.empty()) {
    c.error(DiagKind::kLayoutConflict, rule.where.front().span, std::move(result.problem));
    return std::nullopt;
  }
  return std::move(result.where);
}

std::vector<Rule> rules_of(Context& c, const std::vector<ast::Rule>& rules, const Mesh& mesh) {
  std::vector<Rule> result;
  for (const ast::Rule& rule : rules) {
    const auto same = std::ranges::find(result, rule.dim.text, &Rule::dim);
    if (same != result.end()) {
      c.error(DiagKind::kDuplicateName, rule.dim.span,
              "`" + rule.dim.text + "` has a rule in this layout already",
              {{.span = same->span, .text = "the first one"}});
      continue;
    }
    const std::optional<bool> rest = ends_in_rest(c, rule);
    std::optional<Axes> axes = axes_of(c, rule, mesh);
    std::optional<std::vector<Condition>> where =
        axes ? where_of(c, rule, *axes, mesh) : std::nullopt;
    if (axes && rest && where) {
      result.push_back({.dim = rule.dim.text,
                        .axes = *std::move(axes),
                        .span = rule.span,
                        .rest = *rest,
                        .where = *std::move(where)});
    }
  }
  return result;
}

bool is_later_layout(Context& c, const ast::Layout& layout) {
  const auto later = [&](const std::optional<SourceSpan>& span, std::string_view what) {
    if (span) {
      c.error(DiagKind::kLaterFeature, *span, "`" + std::string(what) + "` is not built yet");
    }
    return span.has_value();
  };
  return later(layout.automatic, "auto");
}

Layout build_layout(Context& c, const ast::Layout& declared, const Mesh& mesh) {
  Layout layout{.name = declared.name.text,
                .mesh = mesh,
                .rules = rules_of(c, declared.rules, mesh),
                .span = declared.name.span,
                .variables = {},
                .infer = declared.infer.has_value(),
                .gather_again = false};
  layout.mesh.uneven = declared.uneven.has_value();
  for (const ast::RulesAt& at : declared.at) {
    layout.variables.push_back(
        {.glob = at.glob.text, .rules = rules_of(c, at.rules, mesh), .span = at.glob.span});
  }
  if (declared.params) {
    layout.variables.push_back(
        {.glob = "", .rules = rules_of(c, declared.params->rules, mesh), .span = {}});
  }
  set_options(c, declared, layout);
  return layout;
}

// The sizes of `--mesh`, if the mesh has all the axes that it names.
void resize_mesh(Context& c, Mesh& mesh) {
  if (c.options.mesh.empty()) {
    return;
  }
  const AxisSizes sizes = parse_axis_sizes(c.options.mesh);
  const bool has_all =
      sizes.problem.empty() && std::ranges::all_of(sizes.axes, [&](const MeshAxis& axis) {
        return mesh.find(axis.name).has_value();
      });
  for (const MeshAxis& axis : has_all ? sizes.axes : std::vector<MeshAxis>()) {
    mesh.axes[*mesh.find(axis.name)].size = axis.size;
  }
}

bool check_ranks(Context& c, const Mesh& mesh) {
  std::int64_t ranks = 1;
  for (const MeshAxis& axis : mesh.axes) {
    if (__builtin_mul_overflow(ranks, axis.size, &ranks) || ranks > kMaxRanks) {
      c.error(DiagKind::kOverflow, mesh.span,
              "the mesh `" + mesh.name + "` has more than 2^31 ranks");
      return false;
    }
  }
  return true;
}

// "": none.
std::string chosen_name(const Context& c) {
  if (!c.options.layout.empty()) {
    return c.options.layout;
  }
  if (!c.options.rules.empty()) {
    return "rules";
  }
  return c.layouts.use ? c.layouts.use->text : "";
}

bool is_in_program(Context& c, const Module& file, SourceSpan span, std::string_view what) {
  if (file.is_main) {
    return true;
  }
  c.error(DiagKind::kBadImport, span,
          std::string(what) + " in a module; the program that imports it says how it is laid out");
  return false;
}

// Everything is held in one layout from the first computation on.
bool is_in_time(Context& c, SourceSpan span, std::string_view what) {
  if (!c.layouts.is_used || c.files.size() > 1) {
    return true;
  }
  c.error(DiagKind::kUnknownLayout, span,
          std::string(what) + " after the first computation; tensors are in a layout already");
  return false;
}

}  // namespace

void declare_mesh(Context& c, const Module& file, const ast::Mesh& declared, SourceSpan span) {
  if (!is_in_program(c, file, span, "a mesh")) {
    return;
  }
  Mesh mesh{.name = declared.name.text,
            .axes = {},
            .profile = declared.profile ? declared.profile->text : "",
            .span = declared.name.span};
  bool fits = !declared.profile || hardware_exists(c, *declared.profile);
  for (const ast::Sized& axis : declared.axes) {
    const auto size =
        checked_size(c, compute(c, axis.size), "the axis `" + axis.name.text + "`", axis.size.span);
    if (mesh.find(axis.name.text)) {
      c.error(DiagKind::kDuplicateName, axis.name.span,
              "the mesh has an axis `" + axis.name.text + "` already");
      fits = false;
    }
    fits = fits && size.has_value();
    mesh.axes.push_back({.name = axis.name.text, .size = size.value_or(1)});
  }
  if (mesh.axes.size() > kMaxAxes) {
    c.error(DiagKind::kBadArgument, declared.name.span,
            "the mesh has " + std::to_string(mesh.axes.size()) + " axes; at most " +
                std::to_string(kMaxAxes) + " are possible");
    fits = false;
  }
  resize_mesh(c, mesh);
  fits = fits && check_ranks(c, mesh);
  if (fits) {
    add_mesh(c, std::move(mesh));
  }
  const std::size_t index = c.layouts.meshes.size();
  c.scope->declare(declared.name.text, {.value = fits ? make(MeshRef{index}) : unknown(),
                                        .kind = NameKind::kMesh,
                                        .span = declared.name.span});
}

void declare_layout(Context& c, const Module& file, const ast::Layout& declared, SourceSpan span) {
  if (!is_in_program(c, file, span, "a layout") || !is_in_time(c, declared.name.span, "a layout")) {
    return;
  }
  const bool is_later = is_later_layout(c, declared);
  const std::optional<Mesh> mesh = mesh_for(c, declared);
  std::optional<Layout> layout;
  if (mesh && !is_later) {
    layout = build_layout(c, declared, *mesh);
    add_layout(c, *layout);
  }
  c.scope->declare(declared.name.text,
                   {.value = layout ? make(LayoutRef{c.layouts.layouts.size()}) : unknown(),
                    .kind = NameKind::kLayout,
                    .span = declared.name.span});
}

void use_layout(Context& c, const Module& file, const ast::UseLayout& use) {
  if (is_in_program(c, file, use.layout.span, "`use layout`") &&
      is_in_time(c, use.layout.span, "`use layout`")) {
    c.layouts.use = use.layout;
  }
}

std::string no_layout_text(const Context& c, std::string_view name, const Suggestion& suggestion) {
  const std::vector<std::string> names = names_of(c.layouts.layouts);
  return "no layout `" + std::string(name) + "`" +
         (!suggestion.text.empty() ? suggestion.text
          : names.empty()          ? "; the file declares none"
                                   : "; there is " + quoted_list(names));
}

const Layout* choose_layout(Context& c) {
  if (c.layouts.in_use || c.layouts.is_refused) {
    return c.layouts.chosen;
  }
  if (c.options.one_rank) {
    return nullptr;
  }
  const std::vector<Layout>& layouts = c.layouts.layouts;
  const bool by_option = !c.options.layout.empty();
  const std::string name = chosen_name(c);
  if (name.empty()) {
    return layouts.size() == 1 ? layouts.data() : nullptr;
  }
  const Layout* layout = named(layouts, name);
  if (layout == nullptr && (by_option || c.options.rules.empty())) {
    c.error(DiagKind::kUnknownLayout, by_option ? SourceSpan() : c.layouts.use->span,
            no_layout_text(c, name, suggest(name, names_of(layouts))));
  }
  return layout;
}

bool put_in_use(Context& c) {
  if (c.layouts.is_used) {
    return !c.layouts.is_refused;
  }
  c.layouts.is_used = true;
  const std::size_t before = c.report.sink().errors();
  declare_from_options(c);
  if (const Layout* chosen = choose_layout(c)) {
    c.layouts.in_use = *chosen;
    c.layouts.chosen = &*c.layouts.in_use;
  }
  bool usable = c.report.sink().errors() == before;
  if (usable && !c.dry) {
    DiagSink diags;
    usable = c.device.use(c.layouts.chosen, c.layouts.layouts, diags);
    c.report.forward(diags, false);
  }
  c.layouts.is_refused = !usable;
  if (!usable) {
    c.fail();
  }
  return usable;
}

}  // namespace mtf::host
