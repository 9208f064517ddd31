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

bool write_picture(Workspace& workspace, const std::string& picture) {
  const std::string& path = workspace.options.search.svg;
  std::ofstream stream(path, std::ios::binary);
  if (stream << picture << std::flush) {
    return true;
  }
  workspace.diags.error(DiagKind::kFile, {}, "the picture cannot be written to `" + path + "`");
  return false;
}

// The object, or the text and the picture of a terminal.
template <typename Report>
void show(Workspace& workspace, const Report& report, const std::string& text,
          std::string (*json)(const Report&), std::string (*picture)(const Report&, std::size_t)) {
  if (workspace.options.json) {
    workspace.answers.push_back(json(report));
    return;
  }
  say(workspace, text + (workspace.options.search.plot ? picture(report, output_columns()) : ""));
}

// About the answer of a search that has found one.
void answer(Workspace& workspace, FileId file, SearchedProgram& program, Searching& searching) {
  const SearchOptions& asked = workspace.options.search;
  const std::optional<std::string> explained =
      asked.explain.empty() ? "" : searching.explanation(asked.explain, workspace.diags);
  const SearchReport report = searching.report();
  const std::string sensitivity =
      asked.sensitivity.empty() ? "" : sensitivity_text(workspace, program, searching);
  end_progress();
  if (explained && (asked.svg.empty() || write_picture(workspace, scatter_svg(report))) &&
      (!asked.write || write_layout(workspace, file, program, searching.answer()))) {
    show(workspace, report, search_text(report) + *explained + sensitivity, search_json,
         scatter_text);
  }
}

void answer_fit(Workspace& workspace, FileId file, SearchedProgram& program) {
  const std::optional<Fitted> fitted = fit_ranks(workspace, program);
  end_progress();
  if (fitted) {
    if (!workspace.options.json) {
      say(workspace, fitted->says);
    }
    answer(workspace, file, program, *fitted->searching);
  }
}

void answer_scale(Workspace& workspace, SearchedProgram& program) {
  const std::optional<ScaleReport> report = scaled(workspace, program);
  end_progress();
  const std::string& svg = workspace.options.search.svg;
  if (report && (svg.empty() || write_picture(workspace, scale_svg(*report)))) {
    show(workspace, *report, scale_text(*report), scale_json, scale_bars);
  }
}

}  // namespace

Outcome search_outcome(Workspace& workspace) {
  const SearchOptions& asked = workspace.options.search;
  const std::optional<FileId> file = read_program(workspace);
  const auto program =
      file ? SearchedProgram::read(workspace, *file, std::nullopt, workspace.diags) : nullptr;
  if (program != nullptr && asked.fit) {
    answer_fit(workspace, *file, *program);
  } else if (program != nullptr && !asked.scale.empty()) {
    answer_scale(workspace, *program);
  } else if (program != nullptr) {
    Searching searching(workspace, *program, asked.budget);
    if (searching.find(workspace.diags)) {
      answer(workspace, *file, *program, searching);
    }
  }
  return outcome_of(workspace, workspace.diags);
}

int search_command(const Options& options) {
  return run_alone(options, search_outcome);
}

}  // namespace mtf
