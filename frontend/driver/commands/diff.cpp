// `mtf diff`: the plans of a program under two of its layouts, set against each other.

#include <algorithm>
#include <memory>
#include <utility>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/report/cost/layout_diff.h"
#include "lowering/lower.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

constexpr std::string_view kOneRank = "none";  // unless the program has a layout of that name

bool knows_layouts(Workspace& workspace, const Session& session) {
  std::vector<std::string> names = names_of(session.layouts());
  std::string all;
  for (const std::string& name : names) {
    all += name + ", ";
  }
  names.emplace_back(kOneRank);
  for (const std::string& wanted : workspace.options.layouts) {
    if (std::ranges::find(names, wanted) == names.end()) {
      workspace.diags.error(
          DiagKind::kUnknownLayout, {},
          "no layout `" + wanted + "`" +
              did_you_mean(wanted, names, "; there are " + all + "and `none`, one rank"));
    }
  }
  return workspace.diags.ok();
}

// One of the two sides.
class Side {
 public:
  // `profile`: of the hardware, for what has no mesh.
  Side(Workspace& workspace, FileId file, std::string layout, std::string profile)
      : workspace_(workspace),
        layout_(std::move(layout)),
        profile_(std::move(profile)),
        built_(build_under(workspace, file, layout_, workspace.diags)) {}

  // nullopt after an error.
  std::optional<Cost> cost(const std::string& entry) {
    Session& session = built_->session;
    const Unit* unit = session.build(entry);
    const Layout layout = session.layout() == nullptr ? one_rank() : *session.layout();
    std::optional<SpmdProgram> program =
        unit == nullptr || (session.layout() == nullptr && !layout_.empty())
            ? std::nullopt
            : lower(unit->program, layout, op_table(), workspace_.diags, !workspace_.options.fast);
    if (!program) {
      return std::nullopt;
    }
    const double flops = program->totals.flops;
    return cost_of(
        *std::move(program),
        hardware_for(workspace_.options, session, layout_.empty() ? profile_ : layout.mesh.profile,
                     layout.mesh.ranks()),
        flops);
  }

 private:
  Workspace& workspace_;
  std::string layout_;  // "": one rank
  std::string profile_;
  std::unique_ptr<CheckedProgram> built_;
};

std::vector<LayoutDiff> differences(Workspace& workspace, FileId file, const Session& declared,
                                    const std::vector<std::string>& entries) {
  std::vector<std::string> names;
  std::string profile;
  for (const std::string& wanted : workspace.options.layouts) {
    const auto layout = std::ranges::find(declared.layouts(), wanted, &Layout::name);
    const bool is_one = layout == declared.layouts().end();
    names.push_back(is_one ? "" : wanted);
    profile = is_one ? profile : layout->mesh.profile;
  }
  Side before(workspace, file, names[0], profile);
  Side after(workspace, file, names[1], profile);
  std::vector<LayoutDiff> diffs;
  for (const std::string& entry : entries) {
    std::optional<Cost> old_cost = before.cost(entry);
    std::optional<Cost> new_cost = after.cost(entry);
    if (old_cost && new_cost) {
      diffs.push_back(diff_of(*std::move(old_cost), *std::move(new_cost), workspace.sources));
    }
  }
  return diffs;
}

}  // namespace

Outcome diff_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> unsplit =
      file ? build_under(workspace, *file, "", workspace.diags) : nullptr;
  if (unsplit == nullptr || !workspace.diags.ok() || !knows_layouts(workspace, unsplit->session) ||
      !knows_hardware(workspace, unsplit->session)) {
    return outcome_of(workspace, workspace.diags);
  }
  const std::vector<std::string> entries = chosen_entries(workspace, unsplit->session);
  const std::vector<LayoutDiff> diffs = differences(workspace, *file, unsplit->session, entries);
  if (workspace.diags.ok() && workspace.options.json) {
    workspace.answers.push_back(diff_json(diffs, workspace.sources));
  } else if (workspace.diags.ok()) {
    std::string text;
    for (const LayoutDiff& one : diffs) {
      text += (text.empty() ? "" : "\n\n") + diff_text(one, workspace.sources);
    }
    say(workspace, text);
  }
  return outcome_of(workspace, workspace.diags);
}

int diff_command(const Options& options) {
  return run_alone(options, diff_outcome);
}

}  // namespace mtf
