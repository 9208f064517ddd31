// Messages are shown in the order in which they were found.

#include "frontend/driver/workspace.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <unistd.h>
#include <utility>

#include "frontend/driver/measured_profile.h"
#include "frontend/driver/stdlib_modules.h"
#include "frontend/parse.h"
#include "runtime/communicator_process.h"
#include "runtime/world.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

Diag file_error(const std::string& path, const std::string& why) {
  return {.kind = DiagKind::kFile, .text = "`" + path + "` cannot be read: " + why};
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
    return "it is no ordinary file";
  }
  if (std::filesystem::file_size(path, error) > kMaxFileBytes) {
    return "it is larger than " + std::to_string(kMaxFileBytes >> 20U) + " MiB";
  }
  return access(path.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

std::vector<Diag> Messages::take(const DiagSink& diags) {
  std::vector<Diag> result;
  std::size_t& seen = seen_[&diags];
  for (; seen < diags.diags().size(); ++seen) {
    const Diag& diag = diags.diags()[seen];
    const std::string file = diag.span.file.valid() ? sources_.file(diag.span.file).name : "";
    if (taken_.emplace(diag.kind, file, diag.span.begin, diag.text).second) {
      result.push_back(diag);
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

void show_json(const Workspace& workspace, Outcome& outcome) {
  if (!workspace.options.json) {
    return;
  }
  std::vector<std::string> objects = workspace.answers;
  if (objects.empty() || !workspace.told.empty()) {
    objects.push_back(render_json(workspace.told, workspace.sources,
                                  workspace.options.command != Command::kCheck));
  }
  std::string text;
  for (const std::string& object : objects) {
    const std::size_t begin = object.find('{') + 1;
    text += (text.empty() ? "{" : ", ") + object.substr(begin, object.rfind('}') - begin);
  }
  std::fputs((text + "}\n").c_str(), stdout);
  if (outcome.status != kInternalError) {
    outcome.message.clear();
  }
}

ColorMode color_mode(const Options& options) {
  if (options.color != ColorChoice::kAuto) {
    return options.color == ColorChoice::kAlways ? ColorMode::kColor : ColorMode::kPlain;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const bool wanted = no_color == nullptr || *no_color == '\0';
  return wanted && isatty(STDERR_FILENO) == 1 ? ColorMode::kColor : ColorMode::kPlain;
}

std::optional<FileId> read_program(Workspace& workspace) {
  const std::string& path = workspace.options.file;
  std::string why = obstacle(path);
  std::string text;
  if (why.empty()) {
    std::ifstream stream(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(stream), {});
    why = stream.bad() || !stream.is_open() ? std::strerror(errno) : "";
  }
  if (!why.empty()) {
    workspace.diags.add(file_error(path, why));
    return std::nullopt;
  }
  return workspace.sources.add({.name = path, .path = path, .text = std::move(text)});
}

ElaborateOptions elaborate_options(const Options& options) {
  ElaborateOptions result;
  result.ops = op_table();
  result.layout = options.layout;
  result.mesh = options.mesh;
  result.rules = options.rules;
  result.settings = options.settings;
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

Outcome outcome_of(Workspace& workspace, const DiagSink& diags) {
  return {.status = diags.ok() ? kDone : kProgramError, .message = take_text(workspace, diags)};
}

void flush_output(Outcome& outcome) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && outcome.status == kDone) {
    outcome.status = kProgramError;
    outcome.message += "mtf: standard output cannot be written\n";
  }
}

int run_alone(const Options& options, Outcome (*body)(Workspace&)) {
  const std::optional<Launch> launch = launched();
  if (launch && launch->rank != 0) {
    return end_of_launch(*launch, kDone);
  }
  Workspace workspace(options);
  Outcome outcome = guarded(workspace, [&] { return body(workspace); });
  show_json(workspace, outcome);
  flush_output(outcome);
  std::fputs(outcome.message.c_str(), stderr);
  return launch ? end_of_launch(*launch, outcome.status) : outcome.status;
}

int show_alone(const std::string& text, int status) {
  const std::optional<Launch> launch = launched();
  Outcome outcome{.status = status, .message = {}};
  if (!launch || launch->rank == 0) {
    std::fputs(text.c_str(), status == kDone ? stdout : stderr);
    flush_output(outcome);
    std::fputs(outcome.message.c_str(), stderr);
  }
  return launch ? end_of_launch(*launch, outcome.status) : outcome.status;
}

Outcome guarded(Workspace& workspace, const std::function<Outcome()>& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    workspace.diags.add(failure.diag);
  } catch (const std::bad_alloc&) {
    workspace.diags.add({.kind = DiagKind::kMemory, .text = "there is not enough memory"});
  } catch (const std::exception& error) {
    return {.status = kInternalError,
            .message = take_text(workspace, workspace.diags) + "mtf: internal error: " +
                       error.what() + "\nThis is a fault of mtf: please report it, with " +
                       workspace.options.file + "\n"};
  }
  return outcome_of(workspace, workspace.diags);
}

}  // namespace mtf
