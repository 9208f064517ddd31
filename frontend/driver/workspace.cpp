// Messages are shown in the order in which they were found.

#include "frontend/driver/workspace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <unistd.h>
#include <utility>

#include "frontend/driver/calibrate/measured_profile.h"
#include "frontend/driver/command_line/tables.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/stdlib_modules.h"
#include "frontend/parse/parse.h"
#include "frontend/report/json.h"
#include "runtime/ranks/interruption.h"
#include "runtime/ranks/mpi/launch.h"
#include "runtime/ranks/mpi/process.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

Diag file_error(const std::string& path, const std::string& why) {
  return {.kind = DiagKind::kFile, .text = "`" + path + "` cannot be read: " + why};
}

std::string too_large() {
  return "it is larger than " + std::to_string(kMaxFileBytes >> 20U) + " MiB";
}

// Why the file is not one that can be read; empty if it is.
std::string obstacle(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return "there is no such file";
  }
  if (std::filesystem::is_directory(status)) {
    return "it is a folder";
  }
  if (!std::filesystem::is_regular_file(status)) {
    return "it is not a regular file";
  }
  if (std::filesystem::file_size(path, error) > kMaxFileBytes) {
    return too_large();
  }
  return access(path.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

std::vector<Diag> Messages::take(const DiagSink& diags) {
  const std::span<const Diag> all = diags.diags();
  return take(all.subspan(std::exchange(seen_[&diags], all.size())));
}

std::vector<Diag> Messages::take(std::span<const Diag> diags) {
  std::vector<Diag> result;
  for (Diag diag : diags) {
    // Where a plan is made behind the program's back, as by `cost`, nobody has done so yet.
    move_to_caller(diag, [this](FileId file) { return sources_.file(file).is_library; });
    const std::string file = diag.span.file.valid() ? sources_.file(diag.span.file).name : "";
    if (taken_.emplace(diag.kind, file, diag.span.begin, diag.text).second) {
      result.push_back(std::move(diag));
    }
  }
  std::ranges::stable_sort(result, {}, [](const Diag& diag) {
    return std::pair(diag.span.file.index, diag.span.begin);
  });
  return result;
}

Workspace::Workspace(Options from_command_line)
    : options(std::move(from_command_line)), messages(sources), color(color_mode(options)) {}

std::string take_text(Workspace& workspace, const DiagSink& diags) {
  const std::vector<Diag> taken = workspace.messages.take(diags);
  workspace.told.insert(workspace.told.end(), taken.begin(), taken.end());
  return render(taken, workspace.sources, workspace.color);
}

void say(Workspace& workspace, std::string_view text) {
  const Options& options = workspace.options;
  if (!options.json) {
    clear_progress();
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  for (const std::string_view line : lines_of(text)) {
    if (options.json_lines) {
      std::puts(output_line_json(line).c_str());
    } else {
      workspace.lines.emplace_back(line);
    }
  }
}

void say_line(Workspace& workspace, std::string_view line) {
  say(workspace, std::string(line) + "\n");
  std::fflush(stdout);  // progress is for reading now
}

void warn(Workspace& workspace, const DiagSink& diags) {
  const std::string text = take_text(workspace, diags);
  if (!workspace.options.json) {
    clear_progress();
    std::fputs(text.c_str(), stderr);
  } else if (workspace.options.json_lines && !workspace.told.empty()) {
    std::puts(render_json(workspace.told, workspace.sources, /*on_one_line=*/true).c_str());
    std::fflush(stdout);
    workspace.told.clear();
  }
}

namespace {

// {"a": 1} and {"b": 2} as {"a": 1, "b": 2}
std::string merged(std::span<const std::string> objects) {
  std::string text;
  for (const std::string& object : objects) {
    const std::size_t begin = object.find('{') + 1;
    text += (text.empty() ? "{" : ", ") + object.substr(begin, object.rfind('}') - begin);
  }
  return text + "}\n";
}

}  // namespace

void show_json(Workspace& workspace, Outcome& outcome) {
  const Options& options = workspace.options;
  if (!options.json) {
    return;
  }
  std::vector<std::string> objects;
  if (options.json_lines) {
    objects.push_back(status_json(outcome.status));
  } else if (options.command == Command::kRun || !workspace.lines.empty()) {
    objects.push_back(output_json(workspace.lines));
  }
  std::ranges::copy(workspace.answers, std::back_inserter(objects));
  if (objects.empty() || !workspace.told.empty() || !workspace.remarks.empty()) {
    const bool on_one_line = workspace.in_session || options.command != Command::kCheck;
    objects.push_back(
        render_json(workspace.told, workspace.sources, on_one_line, workspace.remarks));
  }
  std::fputs(merged(objects).c_str(), stdout);
  if (outcome.status != kInternalError) {
    outcome.message.clear();
  }
}

ColorMode color_mode(const Options& options) {
  if (options.color != ColorChoice::kAuto) {
    return options.color == ColorChoice::kAlways ? ColorMode::kColor : ColorMode::kPlain;
  }
  return shows_color(STDERR_FILENO) ? ColorMode::kColor : ColorMode::kPlain;
}

bool shows_color(int stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return knows_escapes() && (no_color == nullptr || *no_color == '\0') && isatty(stream) == 1;
}

ProgramText read_standard_input() {
  ProgramText input;
  std::array<char, 65536> chunk{};
  ssize_t got = 0;
  while (input.text.size() <= kMaxFileBytes &&
         (got = read(STDIN_FILENO, chunk.data(), chunk.size())) != 0) {
    if (got > 0) {
      input.text.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      return {.text = "", .obstacle = std::strerror(errno)};
    }
  }
  input.obstacle = input.text.size() > kMaxFileBytes ? too_large() : "";
  return input;
}

namespace {

ProgramText read_file(const std::string& path) {
  ProgramText input{.text = "", .obstacle = obstacle(path)};
  if (input.obstacle.empty()) {
    std::ifstream stream(path, std::ios::binary);
    input.text.assign(std::istreambuf_iterator<char>(stream), {});
    input.obstacle = stream.bad() || !stream.is_open() ? std::strerror(errno) : "";
  }
  return input;
}

ProgramText read_shared_input(Communicator* world) {
  ProgramText input =
      world == nullptr || world->has_first_rank() ? read_standard_input() : ProgramText();
  if (world != nullptr) {
    input.obstacle = world->share(std::array{input.obstacle}).front();
    input.text = world->share(std::array{input.text}).front();
  }
  return input;
}

}  // namespace

std::optional<FileId> read_program(Workspace& workspace, Communicator* world) {
  if (workspace.program) {
    return workspace.sources.add({.name = "session", .path = "", .text = ""});
  }
  const std::string& path = workspace.options.file;
  const bool is_input = path == "-";
  ProgramText input = is_input ? read_shared_input(world) : read_file(path);
  const std::string name = is_input ? "<stdin>" : path;
  if (!input.obstacle.empty()) {
    workspace.diags.add(file_error(name, input.obstacle));
    return std::nullopt;
  }
  return workspace.sources.add(
      {.name = name, .path = is_input ? "" : path, .text = std::move(input.text)});
}

std::optional<ast::File> parse_program(const Workspace& workspace, FileId file, DiagSink& diags) {
  return workspace.program ? workspace.program(diags) : parse(file, workspace.sources, diags);
}

ElaborateOptions elaborate_options(const Options& options) {
  ElaborateOptions result;
  result.ops = op_table();
  result.layout = options.layout;
  result.mesh = options.mesh;
  result.rules = options.rules;
  result.settings = options.settings;
  const auto command = std::ranges::find(all_commands(), options.command, &CommandDef::command);
  if (command != all_commands().end()) {
    result.before_dashes = option_names(*command);
  }
  result.precision = precision_named(options.precision);
  result.deadline = options.deadline;
  result.module_text = [](std::string_view name) -> std::optional<std::string> {
    if (name == "this_machine") {
      return measured_profile();
    }
    const std::string_view text = stdlib_module(name);
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  for (const std::string_view name : stdlib_module_names()) {
    result.module_names.emplace_back(name);
  }
  return result;
}

std::vector<Diag> errors_of(const DiagSink& diags) {
  std::vector<Diag> errors;
  std::ranges::copy_if(diags.diags(), std::back_inserter(errors),
                       [](const Diag& diag) { return diag.severity == Severity::kError; });
  return errors;
}

Outcome outcome_of(Workspace& workspace, const DiagSink& diags) {
  return {.status = diags.ok() ? kDone : kProgramError, .message = take_text(workspace, diags)};
}

void flush_output(Outcome& outcome) {
  end_progress();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && outcome.status == kDone) {
    outcome.status = kProgramError;
    outcome.message += kUnwritten;
  }
}

int run_alone(const Options& options, Outcome (*body)(Workspace&)) {
  const std::optional<Launch> launch = launched();
  if (launch && launch->rank != 0) {
    return end_of_launch(*launch, kDone);
  }
  // The last one is not deleted, as the process ends.
  static Workspace* last = nullptr;
  delete last;
  last = new Workspace(options);
  Workspace& workspace = *last;
  Outcome outcome = guarded(workspace, [&] { return body(workspace); });
  show_json(workspace, outcome);
  flush_output(outcome);
  std::fputs(outcome.message.c_str(), stderr);
  return launch ? end_of_launch(*launch, outcome.status) : outcome.status;
}

int show_alone(const std::string& text, int status, bool json) {
  const std::optional<Launch> launch = launched();
  Outcome outcome{.status = status, .message = {}};
  if (!launch || launch->rank == 0) {
    std::fputs(text.c_str(), status == kDone || json ? stdout : stderr);
    flush_output(outcome);
    std::fputs(outcome.message.c_str(), stderr);
  }
  return launch ? end_of_launch(*launch, outcome.status) : outcome.status;
}

int show_usage_error(const std::string& text, bool json) {
  return show_alone(
      json ? render_json(Remark{.slug = "usage", .text = text}) : "mtf: " + text + "\n",
      kUsageError, json);
}

void say_interrupted(Workspace& workspace, const Interrupted& interrupted, const std::string& where,
                     Outcome& outcome) {
  const std::string& saved = interrupted.saved;
  const std::string text =
      "interrupted" + where + (saved.empty() ? "" : "; " + in_backticks(saved) + " is saved");
  outcome.status = interrupted.status;
  workspace.remarks.push_back({.slug = "interrupted", .text = text});
  outcome.message += "mtf: " + text + "\n";
}

Outcome guarded(Workspace& workspace, const std::function<Outcome()>& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    workspace.diags.add(failure.diag);
  } catch (const std::bad_alloc&) {
    workspace.diags.add({.kind = DiagKind::kMemory, .text = "there is not enough memory"});
  } catch (const std::exception& error) {
    workspace.remarks.push_back({.slug = "internal", .text = error.what()});
    return {.status = kInternalError,
            .message = take_text(workspace, workspace.diags) + "mtf: internal error: " +
                       error.what() + "\nThis is a fault of mtf: please report it, with " +
                       workspace.options.file + "\n"};
  }
  return outcome_of(workspace, workspace.diags);
}

}  // namespace mtf
