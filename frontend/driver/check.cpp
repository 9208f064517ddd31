// `mtf check`: all that is wrong with a file, found without running it.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/driver/checked.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/contracts.h"
#include "frontend/driver/lint.h"

namespace mtf {
namespace {

std::string success(const Workspace& workspace, const Session& session) {
  const std::size_t entries = session.entries().size();
  const std::size_t layouts = session.layouts().size();
  const auto in_regions = std::ranges::count_if(session.layouts(), [&](const Layout& layout) {
    return session.serves_regions_alone(layout.name);
  });
  return workspace.options.file + ": ok, " + std::to_string(entries) +
         (entries == 1 ? " entry, " : " entries, ") + std::to_string(layouts) +
         (layouts == 1 ? " layout" : " layouts") +
         (in_regions == 0 ? "" : ", " + std::to_string(in_regions) + " of them for regions alone") +
         "\n";
}

// Under `--strict` a warning counts as an error does.
int status_of(const Workspace& workspace) {
  const bool fails =
      workspace.options.strict ? !workspace.diags.diags().empty() : !workspace.diags.ok();
  return fails ? kProgramError : kDone;
}

Outcome check(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const CheckedLayouts checked = file ? check_layouts(workspace, *file) : CheckedLayouts();
  CheckedProgram* program = checked.programs.empty() ? nullptr : checked.programs.front().get();
  if (program != nullptr) {
    check_contracts(workspace, *program, checked.layouts, workspace.diags);
    if (workspace.options.lint) {
      lint(workspace, checked.layouts);
    }
  }
  Outcome outcome = {.status = status_of(workspace),
                     .message = take_text(workspace, workspace.diags)};
  if (workspace.options.json) {
    return outcome;
  }
  if (outcome.status == kDone && workspace.options.emit) {
    // Of the layout in use, if there is one.
    const std::unique_ptr<CheckedProgram> shown = check_program(workspace, *file);
    std::fputs(emitted(*workspace.options.emit, *shown, shown->device.units()).c_str(), stdout);
  } else if (outcome.status == kDone) {
    std::fputs(success(workspace, program->session).c_str(), stdout);
  }
  return outcome;
}

}  // namespace

int check_command(const Options& options) {
  return run_alone(options, check);
}

}  // namespace mtf
