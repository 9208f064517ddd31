// `mtf watch`: the curves of runs, drawn anew when their files have grown.

#include <chrono>
#include <cstdio>
#include <filesystem>
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
bool draw(Workspace& workspace, const Curves& curves, bool follows) {
  const Options& options = workspace.options;
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
  const std::string text = curves_text(curves, {.columns = options.width.value_or(output_columns()),
                                                .rows = follows ? terminal_rows() : std::nullopt,
                                                .ascii = options.ascii});
  std::fputs(((follows ? "\x1b[H\x1b[J" : "") + text).c_str(), stdout);
  std::fflush(stdout);
  return true;
}

// Whether what is written from now on has another stamp, on a disk that counts seconds, too.
bool is_settled(const MetricsStamp& stamp, std::filesystem::file_time_type now) {
  constexpr std::chrono::seconds kTick{2};
  return stamp.written < now - kTick || stamp.written > now + kTick;
}

// Draws what is new. False after an error.
bool look(Workspace& workspace, bool follows, std::optional<MetricsStamp>& drawn) {
  const auto now = std::filesystem::file_time_type::clock::now();
  const std::optional<MetricsStamp> stamp = metrics_stamp(workspace.options.file);
  if (drawn && (!stamp || stamp == drawn)) {
    return true;
  }
  const Curves curves = read_curves(workspace.options.file);
  // A file that was drawn and is gone, or is cut short while it is read, is rotated or written
  // anew: its picture stays meanwhile.
  if (drawn && !curves.problem.empty()) {
    return true;
  }
  drawn = stamp && !is_settled(*stamp, now) ? MetricsStamp() : stamp;
  return draw(workspace, curves, follows);
}

Outcome watch(Workspace& workspace) {
  const bool follows = !workspace.options.once && isatty(STDOUT_FILENO) == 1;
  std::optional<MetricsStamp> drawn;
  while (true) {  // a follower ends by a signal
    if (!look(workspace, follows, drawn)) {
      return outcome_of(workspace, workspace.diags);
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
