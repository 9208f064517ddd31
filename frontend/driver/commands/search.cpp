// `mtf search`: the layout that costs least.

#include "frontend/driver/commands.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/search/searching.h"

namespace mtf {

Outcome search_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const auto program =
      file ? SearchedProgram::read(workspace, *file, std::nullopt, workspace.diags) : nullptr;
  if (program == nullptr) {
    return outcome_of(workspace, workspace.diags);
  }
  Searching searching(workspace, *program);
  if (searching.find(workspace.diags)) {
    const SearchReport report = searching.report();
    end_progress();
    if (workspace.options.json) {
      workspace.answers.push_back(search_json(report));
    } else {
      say(workspace, search_text(report));
    }
  }
  return outcome_of(workspace, workspace.diags);
}

int search_command(const Options& options) {
  return run_alone(options, search_outcome);
}

}  // namespace mtf
