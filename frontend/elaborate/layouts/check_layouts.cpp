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

// Paths, and their last parts behind any: "*/h".
std::vector<std::string> spelt(std::vector<std::string> paths) {
  for (std::size_t i = 0, count = paths.size(); i < count; ++i) {
    if (const std::size_t last = paths[i].rfind('/'); last != std::string::npos) {
      paths.push_back("*" + paths[i].substr(last));
    }
  }
  return paths;
}

// Where the glob names what is of the other kind.
std::string other_kind(const Context& c, const VariableRules& block) {
  VariableRules other = block;
  other.lets = !block.lets;
  const auto is_variable = [&](const auto& entry) { return other.names(entry.first); };
  const auto is_let = [&](const std::string& path) { return other.names_let(path); };
  if (block.lets && std::ranges::any_of(c.variables.by_path, is_variable)) {
    return "; variables are named without `let`: `" + title_of(other) + "`";
  }
  return !block.lets && std::ranges::any_of(c.names.lets, is_let)
             ? "; what a `let` named is `" + title_of(other) + "`"
             : "";
}

// A glob that names nothing helps nobody.
void check_globs(Context& c, const Layout& layout) {
  std::vector<std::string> variables;
  for (const auto& [path, record] : c.variables.by_path) {
    variables.push_back(path);
  }
  const std::vector<std::string> lets(c.names.lets.begin(), c.names.lets.end());
  for (const VariableRules& block : layout.variables) {
    const std::vector<std::string>& paths = block.lets ? lets : variables;
    const bool named = std::ranges::any_of(paths, [&block](const std::string& path) {
      return block.names(path) || block.names_let(path);
    });
    if (!named && !block.glob.empty() && !paths.empty()) {
      const std::string none = block.lets ? "no `let` names `" : "no variable is called `";
      const std::string other = other_kind(c, block);
      c.report.warning(DiagKind::kUnknownName, block.span,
                       none + block.glob + "`" +
                           (other.empty() ? suggest(block.glob, spelt(paths)).text : other));
    }
  }
}

// Axes of several ranks that no layout on the mesh uses. One that is still to be searched may use
// any.
void check_axes(Reporter& report, const Layouts& layouts, const Mesh& mesh) {
  std::vector<AxisId> used;
  bool has_rules = false;
  bool takes_rest = layouts.has_pins || layouts.has_mistakes;
  for (const Layout& layout : layouts.layouts) {
    const bool is_here = layout.mesh.name == mesh.name;
    takes_rest = takes_rest || (is_here && layout.automatic);
    for (const Rule* rule : is_here ? all_rules(layout) : AllRules()) {
      has_rules = true;
      takes_rest = takes_rest || rule->rest || layout.infer;
      used.insert(used.end(), rule->axes.begin(), rule->axes.end());
      std::ranges::transform(rule->where, std::back_inserter(used), &Condition::axis);
    }
  }
  has_rules = has_rules && !report.is_declared_twice(mesh.name);
  for (std::size_t i = 0; has_rules && !takes_rest && i < mesh.axes.size(); ++i) {
    const bool is_used = std::ranges::find(used, static_cast<AxisId>(i)) != used.end();
    if (!is_used && mesh.axes[i].size > 1) {
      report.warning(DiagKind::kUnusedAxis, mesh.span,
                     "the axis `" + mesh.axes[i].name + "` of `" + mesh.name +
                         "` is used by no layout; its ranks only repeat work");
    }
  }
}

// ", which is a mesh": what a name stands for that is no dim's.
std::string what_it_is(const Context& c, const Mesh& mesh, const std::string& name) {
  if (mesh.find(name)) {
    return ", which is an axis";
  }
  // Nothing runs any more, so that the names are those of the file.
  if (const Binding* binding = c.modules.files.back()->scope->own(name); binding != nullptr) {
    return ", which is " + std::string(to_string(binding->kind));
  }
  return find_op(c.units.ops, name) != nullptr ? ", which is an operation" : "";
}

// A dim that a file is read with may have any name that is no other's.
void check_declared_dim(Context& c, const Mesh& mesh, const Rule& rule,
                        const std::vector<std::string>& dims) {
  constexpr std::size_t kFew = 6;
  const std::string is = what_it_is(c, mesh, rule.dim);
  std::string instead = suggest(rule.dim, dims).text;
  if (c.modules.dims.contains(rule.dim) ||
      (c.modules.reads_own_dims && is.empty() && instead.empty())) {
    return;
  }
  if (instead.empty()) {
    instead = dims.empty() || dims.size() > kFew ? "; leave the rule out, or correct the name"
                                                 : "; there is " + quoted_list(dims);
  }
  c.report.warning(DiagKind::kUnknownDim, rule.span,
                   "no tensor has a dim `" + rule.dim + "`" + is + instead);
}

// A file may have a rule for dims that only some of its options lead to, which a lint tells; what
// `--rules` says is meant for what runs now.
void check_dims(Context& c, const Layout& layout) {
  const std::vector<std::string> dims(c.names.dims.begin(), c.names.dims.end());
  for (const Rule* rule : all_rules(layout)) {
    if (c.names.dims.contains(rule->dim)) {
      continue;
    }
    if (layout.span.file.valid()) {
      check_declared_dim(c, layout.mesh, *rule, dims);
    } else {
      c.report.error(DiagKind::kUnknownDim, rule->span,
                     "`--rules " + c.layouts.asked.rules + "`: no tensor has a dim `" + rule->dim +
                         "`" + did_you_mean(rule->dim, dims, there_is(dims)));
    }
  }
}

// What a statement with a mistake declares is not known; a layout that does not fit changes
// nothing.
bool keeps_paths_from_being_made(const Diag& diag) {
  return diag.severity == Severity::kError && !is_of_layout(diag.kind);
}

}  // namespace

void check_layouts(Context& c) {
  for (const Mesh& mesh : c.layouts.meshes) {
    check_axes(c.report, c.layouts, mesh);
  }
  const bool is_whole = std::ranges::none_of(c.report.sink().diags(), keeps_paths_from_being_made);
  for (const Layout& layout : c.layouts.layouts) {
    if (is_whole) {
      check_dims(c, layout);
      check_globs(c, layout);
    }
  }
}

}  // namespace mtf::host
