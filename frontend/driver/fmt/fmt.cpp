// `mtf fmt`: each file by itself; one that has mistakes stays as it is, and the others go on.

#include "frontend/driver/commands.h"
#include "frontend/driver/workspace.h"
#include "frontend/format/format.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

constexpr std::string_view kInput = "-";

// Whether the file has the standard layout, or has got it.
bool format_one(Workspace& workspace, const std::string& path) {
  workspace.options.file = path;
  const std::optional<FileId> file = read_program(workspace);
  const std::optional<std::string> text =
      file ? format_source(*file, workspace.sources, workspace.diags) : std::nullopt;
  if (!text) {
    return true;  // why not was said
  }
  const bool changes = *text != workspace.sources.file(*file).text;
  if (workspace.options.check) {
    if (changes) {
      say(workspace, path + "\n");
    }
    return !changes;
  }
  if (path == kInput) {
    say(workspace, *text);
  } else if (changes) {
    const std::string why = replace_file(path, *text);
    if (!why.empty()) {
      workspace.diags.add(
          {.kind = DiagKind::kFile, .text = "`" + path + "` cannot be written: " + why});
    }
  }
  return true;
}

Outcome fmt_outcome(Workspace& workspace) {
  bool ok = true;
  for (const std::string& path : workspace.options.files) {
    ok = format_one(workspace, path) && ok;
  }
  Outcome outcome = outcome_of(workspace, workspace.diags);
  outcome.status = ok ? outcome.status : kProgramError;
  return outcome;
}

}  // namespace

int fmt_command(const Options& options) {
  if (options.files.empty()) {
    return show_usage_error(
        "fmt: which files? it is used as `mtf fmt FILE…`, `-` is standard input",
        /*json=*/false);
  }
  return run_alone(options, fmt_outcome);
}

}  // namespace mtf
