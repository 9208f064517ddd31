// `--layout`, `--mesh` and `--rules` of a session: they hold from where they can, as they may name
// what is not there yet, and until something else is typed. And its settings.

#include <algorithm>

#include "frontend/driver/commands.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "ir/support/match.h"

namespace mtf {
namespace {

bool declares_layout(std::span<const Statement> statements, std::string_view name) {
  return std::ranges::any_of(statements, [&](const Statement& statement) {
    return statement.kind == StatementKind::kLayout && statement.names.front() == name;
  });
}

using AxisNames = std::vector<std::string>;

// Of each mesh.
std::vector<AxisNames> axes_declared(std::span<const Statement> statements,
                                     const SourceMap& sources) {
  std::vector<Statement> meshes;
  std::ranges::copy_if(statements, std::back_inserter(meshes), [](const Statement& statement) {
    return statement.kind == StatementKind::kMesh;
  });
  DiagSink known;
  const ast::File file = program_of(meshes, sources, known);
  std::vector<AxisNames> result;
  for (const ast::Stmt& statement : file.statements) {
    AxisNames& axes = result.emplace_back();
    for (const ast::Sized& axis : std::get<ast::Mesh>(statement.node).axes) {
      axes.push_back(axis.name.text);
    }
  }
  return result;
}

// Whether one of the meshes has all of these axes.
bool has_all(const std::vector<AxisNames>& meshes, const AxisNames& axes) {
  return std::ranges::any_of(meshes, [&](const AxisNames& mesh) {
    return std::ranges::all_of(
        axes, [&](const std::string& axis) { return std::ranges::find(mesh, axis) != mesh.end(); });
  });
}

AxisNames axes_of_rules(const host::TextPairs& rules) {
  AxisNames axes;
  for (const auto& [dim, axis] : rules.pairs) {
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

Options Repl::options_for(std::span<const Statement> statements, const Asked& asked) const {
  Options options = options_;
  options.layout = asked.layout;
  options.mesh = asked.mesh;
  options.rules = asked.rules;
  if (options.layout != host::kOneRank && !declares_layout(statements, options.layout)) {
    options.layout.clear();
  }
  if (options.mesh.empty() && options.rules.empty()) {
    return options;
  }
  const std::vector<AxisNames> meshes = axes_declared(statements, sources_);
  if (!has_all(meshes, names_of(host::parse_axis_sizes(options.mesh).axes))) {
    options.mesh.clear();
  }
  if (!has_all(meshes, axes_of_rules(host::parse_pairs(options.rules)))) {
    options.rules.clear();
  }
  return options;
}

Options Repl::options_for(std::span<const Statement> statements) const {
  return options_for(statements, asked_);
}

Repl::Asked Repl::asked_behind(std::span<const Statement> changed) {
  Asked asked = asked_;
  if (changed.empty() || loading_) {
    return asked;
  }
  const Statement& first = changed.front();
  if (first.kind == StatementKind::kUse) {
    asked.layout.clear();
    asked.rules.clear();
  } else if (first.kind == StatementKind::kMesh &&
             planned_->value(first.names.front()) != nullptr) {
    asked.mesh.clear();  // there was one of the name, which had those sizes
  }
  return asked;
}

// Of what the command line gives the program, and the mesh in use.
DiagSink Repl::told_of_given() const {
  DiagSink told;
  host::Reporter report(told);
  host::check_settings(report, planned_->context().settings);
  if (const Layout* layout = planned_->session().layout(); layout != nullptr) {
    host::check_sizes_taken(report, planned_->context().layouts, *layout);
  }
  return told;
}

// More may be asked for until the session ends.
void Repl::tell_unused_settings() const {
  DiagSink told;
  host::Reporter report(told);
  host::check_settings(report, planned_->context().settings);
  show(told.diags());
}

bool Repl::holds_what_is_asked() {
  if (const DiagSink told = told_of_given(); !told.ok()) {
    return show(errors_of(told));
  }
  const Options held = options_for(script_.inputs());
  if (held.layout != asked_.layout || held.mesh != asked_.mesh || held.rules != asked_.rules) {
    Options asked = held;
    asked.layout = asked_.layout;
    asked.mesh = asked_.mesh;
    asked.rules = asked_.rules;
    PlannedSession planned(asked, sources_, auto_layouts());
    DiagSink known;
    static_cast<void>(planned.run(program_of(script_.inputs(), sources_, known)));
    return show(errors_of(planned.diags()));
  }
  const auto& known = planned_->context().names.dims;
  const std::vector<std::string> dims(known.begin(), known.end());
  for (const auto& [dim, axis] : host::parse_pairs(asked_.rules).pairs) {
    if (!known.contains(dim)) {
      return refuse(DiagKind::kUnknownDim, "`--rules " + asked_.rules + "`: no tensor has a dim `" +
                                               dim + "`" +
                                               did_you_mean(dim, dims, host::there_is(dims)));
    }
  }
  return true;
}

}  // namespace mtf
