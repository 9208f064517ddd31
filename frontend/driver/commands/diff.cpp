// `mtf diff`: the plans of a program under two of its layouts, set against each other.

#include <algorithm>
#include <memory>
#include <utility>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/report/cost/layout_diff.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// That the program has no layout of a name that was asked for, which `knows_layouts` says better.
bool is_of_asked_layout(const Diag& diag) {
  return diag.kind == DiagKind::kUnknownLayout && !diag.span.file.valid();
}

void add_all(const DiagSink& from, DiagSink& to) {
  for (const Diag& diag : from.diags()) {
    if (!is_of_asked_layout(diag)) {
      to.add(diag);
    }
  }
}

bool knows_layouts(Workspace& workspace, const Session& session) {
  std::vector<std::string> names = names_of(session.layouts());
  std::string all;
  for (const std::string& name : names) {
    all += name + ", ";
  }
  names.emplace_back(host::kOneRank);
  for (const std::string& wanted : workspace.options.layouts) {
    if (std::ranges::find(names, wanted) == names.end()) {
      workspace.diags.error(
          DiagKind::kUnknownLayout, {},
          "no layout `" + wanted + "`" +
              did_you_mean(wanted, names,
                           all.empty() ? "; there is only `none`, one rank"
                                       : "; there are " + all + "and `none`, one rank"));
    }
  }
  return workspace.diags.ok();
}

// Null of no plan.
std::shared_ptr<const Cost> priced_plan(Workspace& workspace, Session& session,
                                        std::optional<SpmdProgram> plan,
                                        const std::string& profile) {
  if (!plan) {
    return nullptr;
  }
  const std::int64_t ranks = plan->mesh.ranks();
  const double flops = plan->totals.flops;
  return std::make_shared<const Cost>(
      cost_of(*std::move(plan), hardware_for(workspace.options, session, profile, ranks), flops));
}

Outcome told(Workspace& workspace, const std::vector<LayoutDiff>& diffs) {
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

// One of the two sides. It is built when it is first priced, unless it was priced before.
class PlannedSide {
 public:
  // `profile`: of the hardware, for what has no mesh.
  PlannedSide(Workspace& workspace, FileId file, std::string layout, std::string profile)
      : workspace_(workspace),
        file_(file),
        layout_(std::move(layout)),
        profile_(std::move(profile)) {}

  void is_built(std::unique_ptr<CheckedProgram> program) { built_ = std::move(program); }

  // Null after an error.
  std::shared_ptr<const Cost> cost(const std::string& entry) {
    if (workspace_.known_costs == nullptr || layout_ == workspace_.unknown) {
      return priced(entry);
    }
    std::shared_ptr<const Cost>& cost = workspace_.known_costs->cost_of(layout_, entry);
    if (cost == nullptr) {
      cost = priced(entry);
    }
    return cost;
  }

 private:
  std::shared_ptr<const Cost> priced(const std::string& entry) {
    if (built_ == nullptr) {
      built_ = build_under(workspace_, file_, layout_, workspace_.diags);
    }
    Session& session = built_->session;
    if (session.layout() == nullptr && !layout_.empty()) {
      return nullptr;
    }
    return priced_plan(workspace_, session, plan_of(workspace_, *built_, entry),
                       layout_.empty() ? profile_ : built_->layout().mesh.profile);
  }

  Workspace& workspace_;
  FileId file_;
  std::string layout_;  // "": one rank
  std::string profile_;
  std::unique_ptr<CheckedProgram> built_;
};

// The layout under which the program is built to see what it declares: one of the two.
std::string layout_to_begin_with(const std::vector<std::string>& wanted) {
  return wanted[1] == host::kOneRank ? "" : wanted[1];
}

std::vector<LayoutDiff> differences(Workspace& workspace, FileId file,
                                    std::unique_ptr<CheckedProgram> built,
                                    const std::vector<std::string>& entries) {
  const std::vector<std::string>& wanted = workspace.options.layouts;
  const std::span<const Layout> declared = built->session.layouts();
  std::vector<std::string> names;
  std::string profile;
  for (const std::string& name : wanted) {
    const auto layout = std::ranges::find(declared, name, &Layout::name);
    const bool is_one = layout == declared.end();
    names.push_back(is_one ? "" : name);
    profile = is_one ? profile : layout->mesh.profile;
  }
  PlannedSide before(workspace, file, names[0], profile);
  PlannedSide after(workspace, file, names[1], profile);
  if (names[1] == layout_to_begin_with(wanted)) {
    after.is_built(std::move(built));
  }
  std::vector<LayoutDiff> diffs;
  for (const std::string& entry : entries) {
    std::shared_ptr<const Cost> old_cost = before.cost(entry);
    std::shared_ptr<const Cost> new_cost = after.cost(entry);
    if (old_cost != nullptr && new_cost != nullptr) {
      diffs.push_back(diff_of(std::move(old_cost), std::move(new_cost), workspace.sources));
    }
  }
  return diffs;
}

}  // namespace

Outcome diff_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  DiagSink diags;
  std::unique_ptr<CheckedProgram> built =
      file ? build_under(workspace, *file, layout_to_begin_with(workspace.options.layouts), diags)
           : nullptr;
  const bool is_sound = std::ranges::none_of(diags.diags(), [](const Diag& diag) {
    return diag.severity == Severity::kError && !is_of_asked_layout(diag);
  });
  if (built != nullptr && is_sound && !knows_layouts(workspace, built->session)) {
    return outcome_of(workspace, workspace.diags);
  }
  if (built == nullptr || !diags.ok() || !knows_hardware(workspace, built->session)) {
    add_all(diags, workspace.diags);
    return outcome_of(workspace, workspace.diags);
  }
  const std::vector<std::string> entries = chosen_entries(workspace, built->session);
  const std::vector<LayoutDiff> diffs = differences(workspace, *file, std::move(built), entries);
  add_all(diags, workspace.diags);
  return told(workspace, diffs);
}

Outcome what_if_outcome(Workspace& workspace, Session& session, const Layout& to) {
  KnownCosts& known = *workspace.known_costs;
  const Layout from = session.layout() == nullptr ? one_rank() : *session.layout();
  const auto priced = [&](const std::string& entry, const Layout& layout) {
    const Unit* unit = session.build(entry);
    return unit == nullptr
               ? nullptr
               : priced_plan(workspace, session,
                             lower_simplified(unit->program, layout, op_table(), workspace.diags,
                                              {.exact = !workspace.options.fast}),
                             to.mesh.profile);
  };
  std::vector<LayoutDiff> diffs;
  for (const std::string& entry : chosen_entries(workspace, session)) {
    std::shared_ptr<const Cost>& before = known.cost_of(from.name, entry);
    before = before == nullptr ? priced(entry, from) : before;
    std::shared_ptr<const Cost> after = priced(entry, to);
    if (before != nullptr && after != nullptr) {
      diffs.push_back(diff_of(before, std::move(after), workspace.sources));
    }
  }
  return told(workspace, diffs);
}

int diff_command(const Options& options) {
  return run_alone(options, diff_outcome);
}

}  // namespace mtf
