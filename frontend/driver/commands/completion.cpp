// `mtf completion`: the script of a shell, and what that asks on the way: the layouts and entries
// of the program on the line. One that cannot be read has none.

#include <algorithm>
#include <string>
#include <variant>

#include "frontend/driver/command_line/pages.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/workspace.h"
#include "frontend/elaborate/tensors/entries.h"

namespace mtf {
namespace {

// One name a line.
Outcome names_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  DiagSink mistakes;  // are for those who run it
  const std::optional<ast::File> tree =
      file ? parse_program(workspace, *file, mistakes) : std::nullopt;
  if (!tree) {
    return outcome_of(workspace, workspace.diags);
  }
  std::string text;
  for (const ast::Stmt& statement : tree->statements) {
    const auto* layout = std::get_if<ast::Layout>(&statement.node);
    const auto* function = std::get_if<ast::Fn>(&statement.node);
    if (workspace.options.name == "layouts" && layout != nullptr) {
      text += layout->name.text + "\n";
    }
    if (workspace.options.name == "entries" && function != nullptr && host::is_entry(*function)) {
      text += function->name.text + "\n";
    }
  }
  say(workspace, text);
  return outcome_of(workspace, workspace.diags);
}

}  // namespace

int completion_command(const Options& options) {
  const bool asks = options.name == "layouts" || options.name == "entries";
  if (asks && options.file.empty()) {
    return show_usage_error("completion: " + options.name + " of which file?", /*json=*/false);
  }
  return asks ? run_alone(options, names_outcome)
              : show_alone(completion_script(options.name), kDone);
}

}  // namespace mtf
