// `mtf show`: which ranks hold which blocks of a value. Nothing is executed.

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/report/plan/value_names.h"
#include "frontend/report/show/blocks.h"
#include "frontend/report/why/why_find.h"

namespace mtf {
namespace {

// Every form of a value that the plan has: pending, moved, at rest.
std::vector<Picture> pictures_of(const SpmdProgram& program, const SourceMap& sources,
                                 const std::string& wanted) {
  const ValueNames names(program);
  const Asked asked = find_asked(program, sources, names, wanted);
  std::vector<Picture> pictures;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const SpmdId id{static_cast<std::int32_t>(i)};
    const SpmdValue& value = program.at(id);
    const bool is_form = std::ranges::find(asked.values, value.origin) != asked.values.end() ||
                         names.of(id) == wanted;
    if (is_form && !is_sum_of_blocks(program, id)) {
      pictures.push_back(
          {.name = names.of(id), .type = value.type, .layout = value.layout, .mesh = program.mesh});
    }
  }
  return pictures;
}

void show_all(Workspace& workspace, const std::vector<Picture>& pictures) {
  const Options& options = workspace.options;
  std::string text;
  for (const Picture& picture : pictures) {
    text += text.empty() ? "" : "\n";
    text += picture_text(
        picture, {.ascii = options.ascii, .rank = options.marked, .columns = output_columns()});
  }
  say(workspace, text);
}

Outcome show_outcome(Workspace& workspace) {
  const Options& options = workspace.options;
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> program = file ? check_program(workspace, *file) : nullptr;
  if (program == nullptr || !workspace.diags.ok()) {
    return outcome_of(workspace, workspace.diags);
  }
  std::vector<Picture> pictures;
  std::vector<std::string> known;
  for (const std::string& entry : chosen_entries(workspace, program->session)) {
    if (const std::optional<SpmdProgram> plan = plan_of(workspace, *program, entry)) {
      std::ranges::copy(pictures_of(*plan, workspace.sources, options.value),
                        std::back_inserter(pictures));
      std::ranges::copy(askable(*plan, ValueNames(*plan)), std::back_inserter(known));
    }
  }
  if (!workspace.diags.ok()) {
    return outcome_of(workspace, workspace.diags);
  }
  const Mesh mesh = program->layout().mesh;
  if (auto missing = missing_rank(options.marked.value_or(0), mesh)) {
    workspace.diags.add(*std::move(missing));
  } else if (pictures.empty()) {
    workspace.diags.error(DiagKind::kUnknownName, {},
                          "no value is called `" + options.value + "`" +
                              did_you_mean(options.value, known, "; `mtf plan` lists them"));
  } else if (options.json) {
    workspace.answers.push_back(pictures_json(pictures));
  } else {
    show_all(workspace, pictures);
  }
  return outcome_of(workspace, workspace.diags);
}

}  // namespace

int show_command(const Options& options) {
  return run_alone(options, show_outcome);
}

}  // namespace mtf
