// `mtf check`: all that is wrong with a file, found without running it.

#include <cstdio>
#include <string>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/driver/checked.h"
#include "frontend/driver/commands.h"

namespace mtf {
namespace {

std::string success(const Workspace& workspace, const CheckedProgram& program) {
  const auto count = [](std::size_t n, std::string one, const std::string& many) {
    return std::to_string(n) + " " + (n == 1 ? std::move(one) : many);
  };
  return workspace.options.file + ": ok, " +
         count(program.session.entries().size(), "entry", "entries") + ", " +
         count(program.session.layouts().size(), "layout", "layouts") + "\n";
}

Outcome check(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  std::unique_ptr<CheckedProgram> program;
  if (file) {
    program = check_program(workspace, *file, workspace.options.layout.empty());
  }
  if (workspace.options.json) {
    const std::vector<Diag> diags = workspace.messages.take(workspace.diags);
    std::fputs(render_json(diags, workspace.sources).c_str(), stdout);
    return {.status = workspace.diags.ok() ? kDone : kProgramError};
  }
  Outcome outcome = outcome_of(workspace, workspace.diags);
  if (outcome.status == kDone && workspace.options.emit) {
    std::fputs(emitted(workspace, *file, *program, program->device.units()).c_str(), stdout);
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
