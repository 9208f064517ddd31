// Each layout is checked and lowered as if the command line had chosen it, so that `@` and `with
// layout` mean the same as when the program runs; what does not fit is a row with its errors.

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/report/cost/cost_table.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

class Pricing {
 public:
  Pricing(Workspace& workspace, FileId file, CheckedProgram& unsplit)
      : workspace_(workspace), file_(file), unsplit_(unsplit) {}

  // Nothing after an error that is not one of a layout.
  std::vector<CostTable> run(const std::vector<std::string>& entries) {
    std::vector<CostTable> tables;
    for (const std::string& entry : entries) {
      tables.push_back({.entry = entry,
                        .one_rank = {},
                        .layouts = {},
                        .entries = top_entries(unsplit_.session)});
      add_one_rank(tables.back());
    }
    for (const Layout& layout : unsplit_.session.layouts()) {
      if (is_wanted(layout)) {
        add_layout(layout, tables);
      }
    }
    return tables;
  }

 private:
  [[nodiscard]] bool is_wanted(const Layout& layout) const {
    const std::string& wanted = workspace_.options.layout;
    return wanted.empty() || layout.name == wanted;
  }

  std::optional<SpmdProgram> lowered(Program program, const Layout& layout, const HeldLayouts& held,
                                     DiagSink& diags) {
    return lower_simplified(std::move(program), layout, op_table(), diags,
                            {.exact = !workspace_.options.fast,
                             .price_only = true,
                             .named = true,
                             .held = &held,
                             .cache = &cache_});
  }

  void add_one_rank(CostTable& table) {
    const Unit* unit = unsplit_.session.build(table.entry);
    if (unit == nullptr) {
      return;
    }
    unsplit_units_[table.entry] = unit;
    if (std::optional<SpmdProgram> program =
            lowered(unit->program, one_rank(), {}, workspace_.diags)) {
      const double flops = program->totals.flops;
      std::string profile;
      for (const Layout& layout : unsplit_.session.layouts()) {
        profile = profile.empty() && is_wanted(layout) ? layout.mesh.profile : profile;
      }
      table.one_rank.cost =
          cost_of(*std::move(program),
                  hardware_for(workspace_.options, unsplit_.session, profile, 1), flops);
      say(table.one_rank);
    }
  }

  // Before the next plan is made: no two of them are held, but for Json, which has more of them.
  void say(CostRow& row) const {
    if (!workspace_.options.json) {
      say_details(row, workspace_.sources);
    }
  }

  // What a layout changes nothing of was built already; otherwise it is built under this one.
  void add_layout(const Layout& declared, std::vector<CostTable>& tables) {
    DiagSink diags;
    std::unique_ptr<CheckedProgram> own;
    if (unsplit_.session.follows_layout() || declared.automatic) {
      own = build_under(workspace_, file_, declared.name, diags);
    }
    CheckedProgram& built = own == nullptr ? unsplit_ : *own;
    const Layout* layout = own == nullptr ? &declared : own->session.layout();
    const bool fits = layout != nullptr && built.device.fit_initial_values(*layout, diags);
    for (CostTable& table : tables) {
      CostRow row{
          .layout = declared.name, .mesh = declared.mesh, .cost = std::nullopt, .errors = {}};
      DiagSink found = diags;
      std::optional<SpmdProgram> program;
      if (fits && diags.ok()) {
        program = own == nullptr ? lowered(table.entry, *layout, found)
                                 : lowered(*own, table.entry, found);
      }
      if (program && table.one_rank.cost) {
        row.cost = cost_of(*std::move(program),
                           hardware_for(workspace_.options, unsplit_.session, declared.mesh.profile,
                                        declared.mesh.ranks()),
                           table.one_rank.cost->useful_flops);
      }
      say(row);
      row.errors = errors_of(found);
      table.layouts.push_back(std::move(row));
    }
  }

  // As it was built without a layout.
  std::optional<SpmdProgram> lowered(const std::string& entry, const Layout& layout,
                                     DiagSink& diags) {
    const auto known = unsplit_units_.find(entry);
    return known == unsplit_units_.end()
               ? std::nullopt
               : lowered(known->second->program, layout,
                         unsplit_.device.held_before(*known->second, layout), diags);
  }

  std::optional<SpmdProgram> lowered(CheckedProgram& own, const std::string& entry,
                                     DiagSink& diags) {
    const Unit* unit = own.session.build(entry);
    if (unit == nullptr) {
      return std::nullopt;
    }
    const Layout& layout = *own.session.layout();
    const HeldLayouts& held = own.device.held_before(*unit, layout);
    return lowered(own.session.take(entry), layout, held, diags);
  }

  Workspace& workspace_;
  FileId file_;
  CheckedProgram& unsplit_;
  std::map<std::string, const Unit*> unsplit_units_;  // by entry
  PlanCache cache_;
};

}  // namespace

Outcome cost_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  // The program itself is checked without a layout: what does not fit one is that one's row.
  const std::unique_ptr<CheckedProgram> unsplit =
      file ? check_to_plan(workspace, *file, choosing(workspace.options, ""), Lowered::kNot)
           : nullptr;
  if (unsplit == nullptr || !workspace.diags.ok() || !knows_layout(workspace, unsplit->session) ||
      !knows_hardware(workspace, unsplit->session)) {
    return outcome_of(workspace, workspace.diags);
  }
  const std::vector<std::string> names = chosen_entries(workspace, unsplit->session);
  const std::vector<CostTable> tables = Pricing(workspace, *file, *unsplit).run(names);
  if (workspace.diags.ok()) {
    std::string text;
    for (const CostTable& table : tables) {
      text += (text.empty() ? "" : "\n\n") + cost_text(table, workspace.sources);
    }
    if (workspace.options.json && !tables.empty()) {
      workspace.answers.push_back(cost_json(tables.front(), workspace.sources));
    } else {
      say(workspace, text);
    }
  }
  return outcome_of(workspace, workspace.diags);
}

int cost_command(const Options& options) {
  return run_alone(options, cost_outcome);
}

}  // namespace mtf
