// What a check says of layouts beyond their errors: axes, rules and globs that do nothing.

#include <algorithm>

#include "frontend/elaborate/context.h"
#include "frontend/elaborate/layouts/layouts.h"

namespace mtf::host {
namespace {

using AllRules = std::vector<const Rule*>;

AllRules all_rules(const Layout& layout) {
  AllRules rules;
  const auto add = [&rules](const Rule& rule) { rules.push_back(&rule); };
  std::ranges::for_each(layout.rules, add);
  for (const VariableRules& block : layout.variables) {
    std::ranges::for_each(block.rules, add);
  }
  return rules;
}

// A glob that names no variable helps nobody.
void check_globs(Reporter& report, const Variables& variables, const Layout& layout) {
  std::vector<std::string> paths;
  for (const auto& [path, record] : variables.by_path) {
    paths.push_back(path);
  }
  for (const VariableRules& block : layout.variables) {
    const bool named =
        std::ranges::any_of(paths, [&block](const std::string& path) { return block.names(path); });
    if (!named && !block.glob.empty() && !paths.empty()) {
      report.warning(
          DiagKind::kUnknownName, block.span,
          "no variable is called `" + block.glob + "`" + suggest(block.glob, paths).text);
    }
  }
}

// Axes that no layout on the mesh uses.
void check_axes(Reporter& report, const Layouts& layouts, const Mesh& mesh) {
  std::vector<AxisId> used;
  bool has_rules = false;
  bool takes_rest = layouts.has_pins;
  for (const Layout& layout : layouts.layouts) {
    for (const Rule* rule : layout.mesh.name == mesh.name ? all_rules(layout) : AllRules()) {
      has_rules = true;
      takes_rest = takes_rest || rule->rest || layout.infer;
      used.insert(used.end(), rule->axes.begin(), rule->axes.end());
      std::ranges::transform(rule->where, std::back_inserter(used), &Condition::axis);
    }
  }
  for (std::size_t i = 0; has_rules && !takes_rest && i < mesh.axes.size(); ++i) {
    if (std::ranges::find(used, static_cast<AxisId>(i)) == used.end()) {
      report.warning(DiagKind::kUnusedAxis, mesh.span,
                     "the axis `" + mesh.axes[i].name + "` of `" + mesh.name +
                         "` is used by no layout; its ranks only repeat work");
    }
  }
}

void check_dims(Reporter& report, const Names& names, const std::string& asked,
                const Layout& layout) {
  const std::vector<std::string> dims(names.dims.begin(), names.dims.end());
  for (const Rule* rule : all_rules(layout)) {
    const Suggestion suggestion = suggest(rule->dim, dims);
    if (!names.dims.contains(rule->dim) && !suggestion.text.empty()) {
      const bool in_file = rule->span.file.valid();
      report.warning(DiagKind::kUnknownDim, rule->span,
                     (in_file ? "" : "`--rules " + asked + "`: ") + "no tensor has a dim `" +
                         rule->dim + "`" + suggestion.text);
    }
  }
}

}  // namespace

void check_layouts(Context& c) {
  for (const Mesh& mesh : c.layouts.meshes) {
    check_axes(c.report, c.layouts, mesh);
  }
  for (const Layout& layout : c.layouts.layouts) {
    check_dims(c.report, c.names, c.layouts.asked.rules, layout);
    check_globs(c.report, c.variables, layout);
  }
}

}  // namespace mtf::host
