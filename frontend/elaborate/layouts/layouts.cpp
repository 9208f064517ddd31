// Declarations of meshes and layouts.

#include "frontend/elaborate/layouts/layouts.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/layouts/automatic.h"
#include "frontend/elaborate/layouts/conditions.h"
#include "frontend/elaborate/layouts/hardware.h"
#include "frontend/elaborate/layouts/layout_options.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

template <typename T>
const T* named(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return found == list.end() ? nullptr : &*found;
}

void add_mesh(Layouts& layouts, Mesh mesh) {
  const auto same = std::ranges::find(layouts.meshes, mesh.name, &Mesh::name);
  if (same != layouts.meshes.end()) {
    *same = std::move(mesh);  // a REPL declares it anew
  } else {
    layouts.meshes.push_back(std::move(mesh));
  }
}

void add_layout(Layouts& layouts, Layout layout) {
  const auto same = std::ranges::find(layouts.layouts, layout.name, &Layout::name);
  if (same != layouts.layouts.end()) {
    *same = std::move(layout);
  } else {
    layouts.layouts.push_back(std::move(layout));
  }
}

std::optional<Mesh> mesh_for(Reporter& report, const Layouts& layouts, const Names& names,
                             const ast::Layout& layout) {
  const std::vector<Mesh>& meshes = layouts.meshes;
  if (!layout.mesh && meshes.size() == 1) {
    return meshes.front();
  }
  if (!layout.mesh) {
    report.error(DiagKind::kMissingArgument, layout.name.span,
                 meshes.empty()
                     ? "no mesh is declared for the layout `" + layout.name.text + "`"
                     : "the layout `" + layout.name.text +
                           "` does not say which mesh it is on: " + quoted_list(names_of(meshes)));
    return std::nullopt;
  }
  const Mesh* mesh = named(meshes, layout.mesh->text);
  const Scope::Found found = names.scope->find(layout.mesh->text);
  if (mesh == nullptr && found.binding != nullptr && !is_unknown(found.binding->value)) {
    report.error(
        DiagKind::kWrongType, layout.mesh->span,
        "`" + layout.mesh->text + "` is " + kind_of(found.binding->value) + ", not a mesh");
  }
  return mesh == nullptr ? std::nullopt : std::optional(*mesh);
}

// batch -> none
bool means_no_axis(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {"none", "None", "null", "no", "replicated"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// "; …" of `rows -> batch`, where `rows` is the axis.
std::string turned(const Mesh& mesh, const ast::Rule& rule, const ast::Name& axis) {
  return mesh.find(rule.dim.text)
             ? "; `" + axis.text + " -> " + rule.dim.text + "` would split a dim `" + axis.text +
                   "` over `" + rule.dim.text + "`"
             : "";
}

// `rule`: whose target it is, so that `()` may stand there; null: of none.
bool has_axis(Reporter& report, const Mesh& mesh, const ast::Name& axis, const ast::Rule* rule) {
  if (mesh.find(axis.text)) {
    return true;
  }
  const bool is_none = rule != nullptr && means_no_axis(axis.text);
  Suggestion suggestion = suggest(axis.text, names_of(mesh.axes));
  if (rule != nullptr && suggestion.text.empty()) {
    suggestion.text = turned(mesh, *rule, axis);
  }
  report.error(DiagKind::kUnknownAxis, axis.span,
               "the mesh " + mtf::to_string(mesh) + " has no axis `" + axis.text + "`" +
                   (is_none ? "; `()` stands for none" : suggestion.text),
               {{.span = mesh.span, .text = "the mesh is declared here"}},
               is_none ? std::string() : suggestion.fix);
  return false;
}

// The axes of one rule; nullopt after an error.
std::optional<Axes> axes_of(Reporter& report, const ast::Rule& rule, const Mesh& mesh) {
  Axes axes;
  for (const ast::Target& target : rule.targets) {
    if (target.kind == ast::TargetKind::kUnused) {
      continue;
    }
    if (target.kind == ast::TargetKind::kAll) {
      // Those that a rule has twice are told where it is used.
      for (std::size_t i = 0; i < mesh.axes.size() && axes.size() < Axes::kRoom; ++i) {
        axes.push_back(static_cast<AxisId>(i));
      }
      continue;
    }
    if (!has_axis(report, mesh, target.axis, &rule)) {
      return std::nullopt;
    }
    const std::optional<AxisId> axis = mesh.find(target.axis.text);
    if (std::ranges::find(axes, *axis) != axes.end()) {
      report.error(
          DiagKind::kLayoutConflict, target.axis.span,
          "`" + rule.dim.text + "` is split over the axis `" + target.axis.text + "` twice");
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  return axes;
}

// Whether `*` stands behind the axes; nullopt after an error.
std::optional<bool> ends_in_rest(Reporter& report, const ast::Rule& rule) {
  for (const ast::Target& target : rule.targets) {
    if (target.kind == ast::TargetKind::kUnused && &target != &rule.targets.back()) {
      report.error(DiagKind::kLayoutConflict, target.axis.span,
                   "`*`, the axes that a tensor leaves unused, stands last: `" + rule.dim.text +
                       " -> (…, *)`");
      return std::nullopt;
    }
  }
  return !rule.targets.empty() && rule.targets.back().kind == ast::TargetKind::kUnused;
}

// Which ranks hold the blocks; nullopt after an error.
std::optional<std::vector<Condition>> where_of(Reporter& report, const ast::Rule& rule,
                                               const Axes& axes, const Mesh& mesh) {
  const auto written = conditions_of(
      report, rule, [&](const ast::Name& axis) { return has_axis(report, mesh, axis, nullptr); });
  if (!written) {
    return std::nullopt;
  }
  OrientedConditions result = oriented(mesh, rule.dim.text, axes, *written);
  if (!result.problem.empty()) {
    report.error(DiagKind::kLayoutConflict, rule.where.front().span, std::move(result.problem));
    return std::nullopt;
  }
  return std::move(result.where);
}

std::vector<Rule> rules_of(Reporter& report, const std::vector<ast::Rule>& rules,
                           const Mesh& mesh) {
  std::vector<Rule> result;
  for (const ast::Rule& rule : rules) {
    const auto same = std::ranges::find(result, rule.dim.text, &Rule::dim);
    if (same != result.end()) {
      report.error(DiagKind::kDuplicateName, rule.dim.span,
                   "`" + rule.dim.text +
                       "` has a rule in this layout already; one rule names all its axes, as in `" +
                       rule.dim.text + " -> (x, y)`",
                   {{.span = same->span, .text = "the first one"}});
      continue;
    }
    const std::optional<bool> rest = ends_in_rest(report, rule);
    std::optional<Axes> axes = axes_of(report, rule, mesh);
    std::optional<std::vector<Condition>> where =
        axes ? where_of(report, rule, *axes, mesh) : std::nullopt;
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

Layout build_layout(Reporter& report, const ast::Layout& declared, const Mesh& mesh) {
  Layout layout{.name = declared.name.text,
                .mesh = mesh,
                .rules = rules_of(report, declared.rules, mesh),
                .span = declared.name.span,
                .variables = {},
                .infer = declared.infer.has_value(),
                .automatic = declared.automatic.has_value(),
                .gather_again = false};
  layout.mesh.uneven = declared.uneven.has_value();
  for (const ast::RulesAt& at : declared.at) {
    layout.variables.push_back({.glob = at.glob.text,
                                .rules = rules_of(report, at.rules, mesh),
                                .span = at.glob.span,
                                .lets = at.lets});
  }
  if (declared.params) {
    layout.variables.push_back(
        {.glob = "", .rules = rules_of(report, declared.params->rules, mesh), .span = {}});
  }
  set_options(report, declared, layout);
  return layout;
}

bool check_ranks(Reporter& report, const Mesh& mesh) {
  if (has_too_many_ranks(mesh)) {
    report.error(DiagKind::kOverflow, mesh.span,
                 "the mesh `" + mesh.name + "` has more than 2^31 ranks");
    return false;
  }
  return true;
}

bool is_in_program(Reporter& report, const Module& file, SourceSpan span, std::string_view what) {
  if (file.is_main) {
    return true;
  }
  report.error(
      DiagKind::kBadImport, span,
      std::string(what) + " in a module; the program that imports it says how it is laid out");
  return false;
}

// Everything is held in one layout from the first computation on. One that comes too late is told;
// the others, and what uses them, go where it goes.
bool is_in_time(Reporter& report, Layouts& layouts, const Modules& modules, SourceSpan span,
                const std::string& what) {
  if (!layouts.is_used || modules.files.size() > 1) {
    return true;
  }
  if (layouts.has_late) {
    report.fail();
    return false;
  }
  layouts.has_late = true;
  std::vector<Note> notes = {{.span = layouts.used_at, .text = "the first computation"}};
  if (layouts.used_by.file.valid()) {
    notes.push_back({.span = layouts.used_by,
                     .text = "in a file that is imported here; this may stand behind the layouts"});
  }
  report.error(DiagKind::kUnknownLayout, span,
               what +
                   " stands behind the first computation, which needs to know where tensors "
                   "are; layouts, and `use layout`, stand before it",
               std::move(notes));
  return false;
}

}  // namespace

void declare_mesh(Context& c, const Module& file, const ast::Mesh& declared, SourceSpan span) {
  if (!is_in_program(c.report, file, span, "a mesh")) {
    return;
  }
  Mesh mesh{.name = declared.name.text,
            .axes = {},
            .profile = declared.profile ? declared.profile->text : "",
            .span = declared.name.span};
  bool fits = !declared.profile || hardware_exists(c, *declared.profile);
  for (const ast::Sized& axis : declared.axes) {
    const auto size = checked_size(c.report, compute(c, axis.size),
                                   "the axis `" + axis.name.text + "`", axis.size.span);
    if (mesh.find(axis.name.text)) {
      c.report.error(DiagKind::kDuplicateName, axis.name.span,
                     "the mesh has an axis `" + axis.name.text + "` already");
      fits = false;
    }
    fits = fits && size.has_value();
    mesh.axes.push_back({.name = axis.name.text, .size = size.value_or(1)});
  }
  if (mesh.axes.size() > kMaxAxes) {
    c.report.error(DiagKind::kBadArgument, declared.name.span,
                   "the mesh has " + std::to_string(mesh.axes.size()) + " axes; at most " +
                       std::to_string(kMaxAxes) + " are possible");
    fits = false;
  }
  fits = fits && check_ranks(c.report, mesh);
  if (fits) {
    resize_mesh(c.report, c.layouts, mesh);
  }
  if (fits) {
    add_mesh(c.layouts, std::move(mesh));
  }
  const std::size_t index = c.layouts.meshes.size();
  c.names.scope->declare(declared.name.text, {.value = fits ? make(MeshRef{index}) : unknown(),
                                              .kind = NameKind::kMesh,
                                              .span = declared.name.span});
}

void declare_layout(Context& c, const Module& file, const ast::Layout& declared, SourceSpan span) {
  if (!is_in_program(c.report, file, span, "a layout")) {
    return;
  }
  const std::string what = "the layout `" + declared.name.text + "`";
  const std::optional<Mesh> mesh =
      is_in_time(c.report, c.layouts, c.modules, declared.name.span, what)
          ? mesh_for(c.report, c.layouts, c.names, declared)
          : std::nullopt;
  std::optional<Layout> layout;
  if (!mesh) {
    c.layouts.has_mistakes = true;
  } else {
    const std::size_t before = c.report.sink().errors();
    layout = build_layout(c.report, declared, *mesh);
    if (c.report.sink().errors() > before) {
      c.layouts.has_mistakes = true;
    } else if (c.layouts.asked.searches_all) {
      static_cast<void>(find_rules(c.report, c.layouts.asked, *layout));
    }
    add_layout(c.layouts, *layout);
  }
  c.names.scope->declare(declared.name.text,
                         {.value = layout ? make(LayoutRef{c.layouts.layouts.size()}) : unknown(),
                          .kind = NameKind::kLayout,
                          .span = declared.name.span});
}

void use_layout(Context& c, const Module& file, const ast::UseLayout& use) {
  if (is_in_program(c.report, file, use.layout.span, "`use layout`") &&
      is_in_time(c.report, c.layouts, c.modules, use.layout.span, "`use layout`")) {
    c.layouts.use = use.layout;
  }
}

}  // namespace mtf::host
