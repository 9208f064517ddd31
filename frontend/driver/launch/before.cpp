#include "frontend/driver/launch/before.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/driver/workspace.h"
#include "ir/support/stop.h"

namespace mtf {
namespace {

// The ranks look at the program once more, all of it.
constexpr std::chrono::seconds kLook{1};

Outcome look(Workspace& workspace, const std::optional<std::string>& input) {
  const std::optional<FileId> file =
      input ? workspace.sources.add({.name = "<stdin>", .path = "", .text = *input})
            : read_program(workspace);
  DiagSink& diags = workspace.diags;
  const std::unique_ptr<CheckedProgram> program = file ? look_at(workspace, *file) : nullptr;
  if (program != nullptr && diags.ok()) {
    static_cast<void>(check_mesh_size(program->session.layout(),
                                      program->session.layouts_to_choose(), workspace.options.ranks,
                                      sizes_of_dims(program->device.units()), diags));
  }
  return outcome_of(workspace, diags);
}

}  // namespace

std::optional<int> end_before_ranks(const Options& options,
                                    const std::optional<std::string>& input) {
  Workspace workspace(options);
  std::optional<std::chrono::steady_clock::time_point>& deadline = workspace.options.deadline;
  const auto soon = std::chrono::steady_clock::now() + kLook;
  deadline = deadline ? std::min(*deadline, soon) : soon;
  Outcome outcome = guarded(workspace, [&] { return look(workspace, input); });
  const bool is_late =
      std::ranges::find(workspace.told, kTimeIsOver, &Diag::text) != workspace.told.end();
  if (outcome.status == kDone || is_late) {
    return std::nullopt;
  }
  show_json(workspace, outcome);
  flush_output(outcome);
  std::fputs(outcome.message.c_str(), stderr);
  return outcome.status;
}

}  // namespace mtf
