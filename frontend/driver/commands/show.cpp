// `mtf show`: which ranks hold which blocks of a value, and how they came to it. Nothing is
// executed.

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/report/plan/value_names.h"
#include "frontend/report/show/shown.h"
#include "frontend/report/why/why_find.h"

namespace mtf {
namespace {

PictureOptions picture_options(const Options& options) {
  return {.ascii = options.ascii,
          .color = colors_output(options.color),
          .rank = options.marked,
          .columns = options.width.value_or(output_columns())};
}

// `mtf show FILE mesh [NAME]`.
Outcome show_meshes(Workspace& workspace, const Session& session) {
  const Options& options = workspace.options;
  std::vector<Mesh> meshes;
  for (const Mesh& mesh : session.meshes()) {
    if (options.name.empty() || mesh.name == options.name) {
      meshes.push_back(mesh);
    }
  }
  std::string text;
  for (const Mesh& mesh : meshes) {
    if (auto missing = missing_rank(options.marked.value_or(0), mesh)) {
      workspace.diags.add(*std::move(missing));
      return outcome_of(workspace, workspace.diags);
    }
    text += (text.empty() ? "" : "\n") + mesh_picture_text(mesh, picture_options(options));
  }
  if (meshes.empty()) {
    const std::string what =
        options.name.empty() ? "no mesh is declared" : "no mesh is called `" + options.name + "`";
    workspace.diags.error(DiagKind::kUnknownName, {},
                          what + did_you_mean(options.name, names_of(session.meshes())));
  } else if (options.json) {
    workspace.answers.push_back(mesh_picture_json(meshes));
  } else {
    say(workspace, text);
  }
  return outcome_of(workspace, workspace.diags);
}

}  // namespace

Outcome show_outcome(Workspace& workspace) {
  const Options& options = workspace.options;
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> program = file ? check_program(workspace, *file) : nullptr;
  if (program == nullptr || !workspace.diags.ok()) {
    return outcome_of(workspace, workspace.diags);
  }
  if (options.value == "mesh") {  // a word of the language, which no value can have as its name
    return show_meshes(workspace, program->session);
  }
  std::vector<Shown> forms;
  std::vector<std::string> known;
  for (const std::string& entry : chosen_entries(workspace, program->session)) {
    if (const std::optional<SpmdProgram> plan = plan_of(workspace, *program, entry)) {
      std::ranges::copy(shown_forms(*plan, workspace.sources, options.value),
                        std::back_inserter(forms));
      std::ranges::copy(askable(*plan, ValueNames(*plan)), std::back_inserter(known));
      std::ranges::copy(askable_paths(*plan), std::back_inserter(known));
    }
  }
  if (!workspace.diags.ok()) {
    return outcome_of(workspace, workspace.diags);
  }
  const Mesh mesh = program->layout().mesh;
  if (auto missing = missing_rank(options.marked.value_or(0), mesh, not_chosen(program->session))) {
    workspace.diags.add(*std::move(missing));
  } else if (forms.empty()) {
    workspace.diags.error(DiagKind::kUnknownName, {},
                          "no value is called `" + options.value + "`" +
                              did_you_mean(options.value, known, "; `mtf plan` lists them"));
  } else if (options.json) {
    workspace.answers.push_back(shown_json(forms));
  } else {
    say(workspace, shown_text(forms, picture_options(workspace.options)));
  }
  return outcome_of(workspace, workspace.diags);
}

int show_command(const Options& options) {
  return run_alone(options, show_outcome);
}

}  // namespace mtf
