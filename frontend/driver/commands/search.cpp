// `mtf search`: the layout that costs least.

#include <array>
#include <ostream>

#include "frontend/driver/commands.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/search/questions.h"
#include "frontend/driver/search/searching.h"
#include "frontend/driver/search/written_layout.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/scatter.h"
#include "ir/support/file.h"

namespace mtf {

namespace {

using TakeLayout = std::function<void(const std::string& name, const std::string& text)>;

// What was found is shown even where it cannot be written, which is said beside it.
void write_picture(Workspace& workspace, const std::string& picture) {
  const std::string& path = workspace.options.search.svg;
  const std::string problem = put_picture(path, picture);
  if (!problem.empty()) {
    workspace.diags.error(DiagKind::kFile, {},
                          "the picture `" + path + "` cannot be written: " + problem);
  }
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

// What becomes of the answer, but for showing it.
void take_answer(Workspace& workspace, FileId file, SearchedProgram& program, Searching& searching,
                 SearchReport& report, const TakeLayout& take) {
  const SearchOptions& asked = workspace.options.search;
  const std::string& layout = report.front[report.best].layout.name;
  if (take) {
    report.wording = declared_source(workspace.sources, program, searching.shortest());
    report.taken = asked.write ? "used from here on" : "`:layout " + layout + "` uses it";
    take(layout, report.wording);
  } else if (asked.write) {
    const std::array wordings = {searching.shortest(), searching.answer()};
    if (const auto written = write_layout(workspace, file, program, wordings)) {
      report.wording = declared_source(workspace.sources, program, *written);
      report.taken = "written into " + workspace.sources.file(file).name;
    }
  }
}

// A layout that no rank can hold is no answer, so that it is shown and not taken.
void refuse_answer(Workspace& workspace, const SearchReport& report, bool in_session) {
  const FoundLayout& nearest = report.front[report.best];
  const auto memory = static_cast<std::int64_t>(report.goal.memory);
  const std::string rules = rules_source(nearest.layout);
  const std::string fits = "fits the " + bytes_text(memory) + " of a rank; the nearest, " +
                           (rules == "nothing split" ? "with " + rules : in_backticks(rules)) +
                           ", needs " + bytes_text(nearest.priced.peak_bytes);
  std::vector<Note> notes = {{.span = {},
                              .text = "what helps: more ranks (`--fit` finds how many), a smaller "
                                      "batch, blocks that `recompute`"}};
  if (workspace.options.search.write) {
    notes.push_back(
        {.span = {}, .text = in_session ? "the layout in use stays" : "the file stays as it is"});
  }
  workspace.diags.error(
      DiagKind::kMemory, {},
      (report.proof.is_proven() ? "no layout " : "no layout was found that ") + fits,
      std::move(notes));
}

// About the best that a search has found.
void answer(Workspace& workspace, FileId file, SearchedProgram& program, Searching& searching,
            const TakeLayout& take, std::vector<TriedRanks> tried = {}) {
  const SearchOptions& asked = workspace.options.search;
  SearchReport report = searching.report();
  if (!asked.explain.empty()) {
    report.explained = searching.explained(asked.explain, workspace.diags);
  }
  report.tried = std::move(tried);
  if (!asked.sensitivity.empty()) {
    add_sensitivity(workspace, program, searching, report);
  }
  if (!asked.explain.empty() && !report.explained) {
    return end_progress();
  }
  if (!asked.svg.empty()) {
    write_picture(workspace, scatter_svg(report));
  }
  if (report.fits) {
    take_answer(workspace, file, program, searching, report, take);
  } else {
    refuse_answer(workspace, report, static_cast<bool>(take));
  }
  add_recomputed(workspace, program, searching, report);
  end_progress();
  show(workspace, report, search_text(report), search_json, scatter_text);
}

void answer_fit(Workspace& workspace, FileId file, SearchedProgram& program,
                const TakeLayout& take) {
  std::optional<Fitted> fitted = fit_ranks(workspace, program);
  end_progress();
  if (fitted) {
    answer(workspace, file, program, *fitted->searching, take, std::move(fitted->tried));
  }
}

void answer_scale(Workspace& workspace, SearchedProgram& program) {
  const std::optional<ScaleReport> report = scaled(workspace, program);
  end_progress();
  if (!report) {
    return;
  }
  if (!workspace.options.search.svg.empty()) {
    write_picture(workspace, scale_svg(*report));
  }
  show(workspace, *report, scale_text(*report), scale_json, scale_bars);
}

// Whether the search is on the mesh that is asked for: rules that stay are on a mesh of their own.
bool is_on_mesh(Workspace& workspace, const SearchedProgram& program) {
  const std::string& asked = workspace.options.search.mesh;
  const Mesh& mesh = program.declared_mesh();
  if (asked.empty() || asked == mesh.name) {
    return true;
  }
  const std::string& layout = workspace.options.layout;
  workspace.diags.error(DiagKind::kBadArgument, {},
                        "`--on " + asked + "`: " +
                            (layout.empty() ? "the rules that stay are"
                                            : "the layout `" + layout + "`, whose rules stay, is") +
                            " on the mesh `" + mesh.name + "`");
  return false;
}

// Whether there is a file to put the answer into, before anything is searched.
bool can_be_written(Workspace& workspace, FileId file) {
  if (!workspace.options.search.write || !workspace.sources.file(file).path.empty()) {
    return true;
  }
  workspace.diags.error(DiagKind::kBadArgument, {},
                        "`--write` takes a file; the program was read from standard input");
  return false;
}

}  // namespace

Outcome search_outcome(Workspace& workspace, const TakeLayout& take) {
  const SearchOptions& asked = workspace.options.search;
  const std::optional<FileId> file = read_program(workspace);
  const bool is_ready = file && (take || can_be_written(workspace, *file));
  const auto program =
      is_ready ? SearchedProgram::read(workspace, *file, std::nullopt, workspace.diags) : nullptr;
  if (program == nullptr || !is_on_mesh(workspace, *program)) {
    return outcome_of(workspace, workspace.diags);
  }
  if (asked.fit) {
    answer_fit(workspace, *file, *program, take);
  } else if (!asked.scale.empty()) {
    answer_scale(workspace, *program);
  } else {
    Searching searching(workspace, *program, asked.budget);
    const bool is_askable =
        asked.explain.empty() || searching.can_explain(asked.explain, workspace.diags);
    if (is_askable && searching.find(workspace.diags)) {
      answer(workspace, *file, *program, searching, take);
    }
  }
  return outcome_of(workspace, workspace.diags);
}

int search_command(const Options& options) {
  return run_alone(options, [](Workspace& workspace) { return search_outcome(workspace); });
}

}  // namespace mtf
