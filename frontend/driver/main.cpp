// The command `mtf`.

#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/options.h"
#include "frontend/driver/workspace.h"

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
    return mtf::show_alone(answer->text, answer->status);
  }
  return execute(std::get<mtf::Options>(parsed));
}
