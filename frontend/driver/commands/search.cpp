// `mtf search`: the layout that costs least.

#include <fstream>

#include "frontend/driver/commands.h"
#include "frontend/driver/fmt/replace_file.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/search/questions.h"
#include "frontend/driver/search/searching.h"
#include "frontend/driver/search/written_layout.h"
#include "frontend/report/search/scatter.h"

namespace mtf {

namespace {

// Into the file of the command line; false after an error.
bool write_layout(Workspace& workspace, FileId file, const SearchedProgram& program,
                  const Layout& layout) {
  const SourceFile& source = workspace.sources.file(file);
  const bool is_file = !source.path.empty();
  const std::string text = with_layout(source.text, program.tree(), layout, program.makes_mesh());
  const std::string obstacle =
      is_file ? replace_file(source.path, text) : "the program was read from standard input";
  if (!obstacle.empty()) {
    workspace.diags.error(DiagKind::kFile, {},
                          "the layout cannot be written into " + source.name + ": " + obstacle);
  }
  return obstacle.empty();
}

bool write_picture(Workspace& workspace, const SearchReport& report) {
  const std::string& path = workspace.options.search.svg;
  std::ofstream stream(path, std::ios::binary);
  if (stream << scatter_svg(report) << std::flush) {
    return true;
  }
  workspace.diags.error(DiagKind::kFile, {}, "the picture cannot be written to `" + path + "`");
  return false;
}

void answer(Workspace& workspace, FileId file, SearchedProgram& program) {
  const SearchOptions& asked = workspace.options.search;
  Searching searching(workspace, program);
  if (!searching.find(workspace.diags)) {
    return;
  }
  const std::optional<std::string> explained =
      asked.explain.empty() ? "" : searching.explanation(asked.explain, workspace.diags);
  const SearchReport report = searching.report();
  const std::string sensitivity =
      asked.sensitivity.empty() ? "" : sensitivity_text(workspace, program);
  end_progress();
  if (!explained || (!asked.svg.empty() && !write_picture(workspace, report)) ||
      (asked.write && !write_layout(workspace, file, program, searching.answer()))) {
    return;
  }
  if (workspace.options.json) {
    workspace.answers.push_back(search_json(report));
    return;
  }
  say(workspace, search_text(report) + *explained + sensitivity +
                     (asked.plot ? scatter_text(report, output_columns()) : ""));
}

}  // namespace

Outcome search_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  std::optional<std::string> fitted = "";
  if (file && workspace.options.search.fit) {
    fitted = fit_ranks(workspace, *file);
    end_progress();
    if (!workspace.options.json) {
      say(workspace, fitted.value_or(""));
    }
  }
  const auto program = file && fitted
                           ? SearchedProgram::read(workspace, *file, std::nullopt, workspace.diags)
                           : nullptr;
  if (program != nullptr) {
    answer(workspace, *file, *program);
  }
  return outcome_of(workspace, workspace.diags);
}

int search_command(const Options& options) {
  return run_alone(options, search_outcome);
}

}  // namespace mtf
