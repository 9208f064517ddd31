// `mtf watch`: the curves of runs, drawn anew when their files have grown.

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "frontend/driver/metrics/curves.h"
#include "frontend/driver/workspace.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

// False after an error.
bool draw_once(Workspace& workspace, bool follows) {
  const Options& options = workspace.options;
  const Curves curves = read_curves(options.file);
  if (!curves.problem.empty()) {
    workspace.diags.error(DiagKind::kFile, {}, in_backticks(options.file) + " " + curves.problem);
    return false;
  }
  if (curves.curves.empty() && !follows) {  // nothing comes any more
    workspace.diags.error(DiagKind::kFile, {},
                          in_backticks(options.file) + " has no metrics: " + curves.found + "; " +
                              std::string(kWritesMetrics));
    return false;
  }
  if (!options.plot.empty()) {
    const std::string problem = put_picture(options.plot, curves_svg(curves, options.file));
    if (!problem.empty()) {
      workspace.diags.error(DiagKind::kFile, {},
                            in_backticks(options.plot) + " cannot be written: " + problem);
      return false;
    }
  }
  const std::string text = curves_text(
      curves, {.columns = options.width.value_or(output_columns()), .ascii = options.ascii});
  std::fputs(((follows ? "\x1b[H\x1b[J" : "") + text).c_str(), stdout);
  std::fflush(stdout);
  return true;
}

Outcome watch(Workspace& workspace) {
  const bool follows = !workspace.options.once && isatty(STDOUT_FILENO) == 1;
  std::optional<MetricsStamp> drawn;
  while (true) {  // a follower ends by a signal
    const std::optional<MetricsStamp> stamp = metrics_stamp(workspace.options.file);
    // A file that was drawn and is gone is rotated, or written anew: its picture stays meanwhile.
    if (!drawn || (stamp && stamp != drawn)) {
      if (!draw_once(workspace, follows)) {
        return outcome_of(workspace, workspace.diags);
      }
      drawn = stamp;
    }
    if (!follows) {
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

int watch_command(const Options& options) {
  return run_alone(options, watch);
}

}  // namespace mtf
