// `mtf check`: all that is wrong with a file, found without running it.

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

std::string success(const Workspace& workspace, const CheckedProgram& program) {
  const std::size_t entries = program.session.entries().size();
  const std::size_t layouts = program.session.layouts().size();
  return workspace.options.file + ": ok, " + std::to_string(entries) +
         (entries == 1 ? " entry, " : " entries, ") + std::to_string(layouts) +
         (layouts == 1 ? " layout\n" : " layouts\n");
}

Outcome check(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  std::unique_ptr<CheckedProgram> program;
  if (file) {
    program = check_program(workspace, *file, workspace.options.layout.empty());
    if (program != nullptr) {
      check_contracts(workspace, *program);
      if (workspace.options.lint) {
        lint(workspace, *program);
      }
    }
  }
  if (workspace.options.json) {
    const std::vector<Diag> diags = workspace.messages.take(workspace.diags);
    std::fputs(render_json(diags, workspace.sources).c_str(), stdout);
    return {.status = workspace.diags.ok() ? kDone : kProgramError};
  }
  Outcome outcome = outcome_of(workspace, workspace.diags);
  if (outcome.status == kDone && workspace.options.emit) {
    std::fputs(emitted(*workspace.options.emit, *program, program->device.units()).c_str(), stdout);
  } else if (outcome.status == kDone) {
    std::fputs(success(workspace, *program).c_str(), stdout);
  }
  return outcome;
}

}  // namespace

int check_command(const Options& options) {
  return run_alone(options, check);
}

}  // namespace mtf
