// The command `mtf`.

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/options.h"
#include "frontend/driver/workspace.h"
#include "runtime/world.h"

namespace {

int execute(const mtf::Options& options) {
  switch (options.command) {
    case mtf::Command::kRun:
      return mtf::run_command(options);
    case mtf::Command::kCheck:
      return mtf::check_command(options);
    case mtf::Command::kPlan:
      return mtf::plan_command(options);
    case mtf::Command::kCost:
      return mtf::cost_command(options);
    case mtf::Command::kCalibrate:
      return mtf::calibrate_command(options);
    case mtf::Command::kDiff:
      return mtf::diff_command(options);
    case mtf::Command::kWhy:
      return mtf::why_command(options);
    case mtf::Command::kVerify:
      return mtf::verify_command(options);
    case mtf::Command::kOps:
      break;
  }
  return mtf::ops_command(options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::variant<mtf::Options, mtf::Answer> parsed = mtf::parse_options(args);
  if (const auto* answer = std::get_if<mtf::Answer>(&parsed)) {
    const std::optional<mtf::Launch> launch = mtf::launched();
    if (launch && launch->rank != 0) {
      return mtf::kDone;  // the first rank says it, and its status counts
    }
    mtf::Outcome outcome{.status = answer->status, .message = {}};
    std::fputs(answer->text.c_str(), answer->status == mtf::kDone ? stdout : stderr);
    mtf::flush_output(outcome);
    std::fputs(outcome.message.c_str(), stderr);
    return outcome.status;
  }
  return execute(std::get<mtf::Options>(parsed));
}
