// `mtf plan`: what one rank does, for any mesh, with no MPI and nothing executed.

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/report/json.h"
#include "frontend/report/plan/pseudo_code.h"

namespace mtf {
namespace {

// Several layouts and none of them chosen: the plan is that of one rank, and says so.
std::string layouts_note(const Workspace& workspace, const Session& session) {
  const std::span<const Layout> layouts = not_chosen(session);
  if (layouts.empty()) {
    return "";
  }
  const std::string names = joined(names_of(layouts), ", ");
  const bool typed = static_cast<bool>(workspace.program);
  return "no layout is chosen; `" + std::string(typed ? ":layout" : "--layout") + "` takes " +
         names + "\n\n";
}

PlanView view_of(const Options& options) {
  return {.only = options.only,
          .depth = options.depth,
          .unfolded = options.all,
          .width = options.width ? *options.width : terminal_columns().value_or(0)};
}

// The last one to the workspace; any other is gone before the next one is made.
void leave(Workspace& workspace, SpmdProgram plan, bool last) {
  if (last) {
    workspace.left.push_back(std::make_shared<const SpmdProgram>(std::move(plan)));
  }
}

std::string plan_text(Workspace& workspace, CheckedProgram& program,
                      const std::vector<std::string>& names) {
  const std::string& only = workspace.options.only;
  std::string text = workspace.options.json ? "" : layouts_note(workspace, program.session);
  std::vector<std::string> others;
  bool first = true;
  bool is_there = only.empty();  // what it is to be about
  for (const std::string& name : names) {
    std::optional<SpmdProgram> spmd = plan_of(workspace, program, name, /*last=*/true);
    if (!spmd) {
      return "";
    }
    const std::vector<std::string> globs = other_globs(*spmd, workspace.sources, only);
    others.insert(others.end(), globs.begin(), globs.end());
    is_there = is_there || globs.empty();
    if (!workspace.options.json) {
      text += (first ? "" : "\n") + pseudo_code(*spmd, workspace.sources, workspace.options.rank,
                                                view_of(workspace.options));
    } else if (first) {
      workspace.answers.push_back(plan_json(*spmd, workspace.sources, workspace.options.rank,
                                            top_entries(program.session)));
    }
    if (workspace.options.json && is_there) {
      break;
    }
    first = false;
    leave(workspace, *std::move(spmd), name == names.back());
  }
  if (!is_there) {
    workspace.diags.error(
        DiagKind::kUnknownName, {},
        "nothing in the plan is `" + only + "`" +
            did_you_mean(only, others, "; `--only` takes `collectives`, `kernels`, or a name"));
    return "";
  }
  return text;
}

}  // namespace

Outcome plan_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  std::unique_ptr<CheckedProgram> program =
      file ? check_to_plan(workspace, *file, elaborate_options(workspace.options), Lowered::kInUse)
           : nullptr;
  if (program == nullptr || !workspace.diags.ok()) {
    return outcome_of(workspace, workspace.diags);
  }
  check_contracts(workspace, *program, in_use(*program), workspace.diags);
  warn_of_idle_mesh(workspace.options.mesh, program->session, workspace.diags);
  const std::vector<std::string> names = chosen_entries(workspace, program->session);
  if (auto missing = missing_rank(workspace.options.rank, program->layout().mesh,
                                  not_chosen(program->session))) {
    workspace.diags.add(*std::move(missing));
  } else if (!names.empty()) {
    const std::string text = workspace.options.emit ? emitted(workspace, *file, *program, names)
                                                    : plan_text(workspace, *program, names);
    say(workspace, text);
  }
  workspace.left.push_back(std::shared_ptr<const CheckedProgram>(std::move(program)));
  return outcome_of(workspace, workspace.diags);
}

int plan_command(const Options& options) {
  return run_alone(options, plan_outcome);
}

}  // namespace mtf
