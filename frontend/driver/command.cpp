// What a process does for the words of its command line.

#include <sys/ioctl.h>
#include <unistd.h>
#include <variant>

#include "frontend/driver/command_line/pages.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/workspace.h"

namespace mtf {
namespace {

int execute(const Options& options) {
  switch (options.command) {
    case Command::kRun:
      return run_command(options);
    case Command::kCheck:
      return check_command(options);
    case Command::kPlan:
      return plan_command(options);
    case Command::kCost:
      return cost_command(options);
    case Command::kSearch:
      return search_command(options);
    case Command::kCalibrate:
      return calibrate_command(options);
    case Command::kDiff:
      return diff_command(options);
    case Command::kWhy:
      return why_command(options);
    case Command::kVerify:
      return verify_command(options);
    case Command::kOps:
      return ops_command(options);
    case Command::kDoctor:
      return doctor_command(options);
    case Command::kShow:
      return show_command(options);
    case Command::kRepl:
      return repl_command(options);
    case Command::kDoc:
      return doc_command(options);
    case Command::kFmt:
      return fmt_command(options);
    case Command::kCompletion:
      return completion_command(options);
    case Command::kWatch:
      return watch_command(options);
    case Command::kMan:
      break;
  }
  return show_alone(manual_page(), kDone);
}

// Of a terminal; nothing where the output goes elsewhere.
winsize output_size() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

}  // namespace

int command_line(std::span<const std::string> words) {
  const std::variant<Options, Answer> parsed = parse_options(words);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    return show_alone(answer->text, answer->status, answer->json);
  }
  const auto& options = std::get<Options>(parsed);
  const Progress progress(options);
  return execute(options);
}

std::optional<std::size_t> terminal_columns() {
  constexpr std::size_t kNarrowest = 20;
  const std::size_t columns = output_size().ws_col;
  return columns > kNarrowest ? std::optional(columns) : std::nullopt;
}

std::optional<std::size_t> terminal_rows() {
  const std::size_t rows = output_size().ws_row;
  return rows > 0 ? std::optional(rows) : std::nullopt;
}

bool knows_escapes() {
  const char* kind = std::getenv("TERM");
  return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

std::size_t output_columns() {
  constexpr std::size_t kOtherwise = 80;
  return terminal_columns().value_or(kOtherwise);
}

bool colors_output(ColorChoice choice) {
  return choice == ColorChoice::kAlways ||
         (choice == ColorChoice::kAuto && shows_color(STDOUT_FILENO));
}

}  // namespace mtf
