// `mtf check`: all that is wrong with a file, found without running it.

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/commands/lint.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

std::string success(const std::string& file, const Session& session) {
  const std::size_t entries = session.entries().size();
  const std::size_t layouts = session.layouts().size();
  const auto in_regions = std::ranges::count_if(session.layouts(), [&](const Layout& layout) {
    return session.serves_regions_alone(layout.name);
  });
  return file + ": ok, " + std::to_string(entries) + (entries == 1 ? " entry, " : " entries, ") +
         plural(layouts, "layout") +
         (in_regions == 0 ? "" : ", " + std::to_string(in_regions) + " of them for regions alone") +
         "\n";
}

// Under `--strict` a warning counts as an error does.
int status_of(const Workspace& workspace) {
  const bool fails =
      workspace.options.strict ? !workspace.diags.diags().empty() : !workspace.diags.ok();
  return fails ? kProgramError : kDone;
}

}  // namespace

Outcome check_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const CheckedLayouts checked = file ? check_layouts(workspace, *file) : CheckedLayouts();
  CheckedProgram* program = checked.programs.empty() ? nullptr : checked.programs.front().get();
  if (program != nullptr) {
    check_contracts(workspace, *program, checked.layouts, workspace.diags);
    if (workspace.options.lint && workspace.diags.ok()) {  // else there are tensors it cannot see
      lint(workspace, program->session, checked.layouts);
    }
  }
  Outcome outcome = {.status = status_of(workspace),
                     .message = take_text(workspace, workspace.diags)};
  if (outcome.status == kDone && workspace.options.emit) {
    // Of the layout in use, if there is one.
    const std::unique_ptr<CheckedProgram> shown = check_program(workspace, *file);
    say(workspace, emitted(workspace, *file, *shown));
  } else if (outcome.status == kDone && !workspace.options.json) {
    say(workspace, success(workspace.sources.file(*file).name, program->session));
  }
  return outcome;
}

int check_command(const Options& options) {
  return run_alone(options, check_outcome);
}

}  // namespace mtf
