// Only units with a contract are lowered again, once under each layout.

#include "frontend/driver/contracts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lowering/lower.h"
#include "lowering/promise.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

class Checker {
 public:
  Checker(Workspace& workspace, CheckedProgram& program)
      : workspace_(workspace),
        session_(program.session),
        device_(program.device),
        layout_names_(names_of(program.session.layouts())) {
    if (session_.layouts().empty()) {
      layouts_ = {one_rank()};
    } else {
      layouts_.assign(device_.layouts().begin(), device_.layouts().end());
    }
  }

  void run() {
    for (const Unit* unit : device_.units()) {
      for (const Contract& contract : unit->contracts) {
        hold(*unit, contract);
      }
    }
    for (const Contract& contract : session_.contracts()) {
      if (const Unit* unit = entry_of(contract); unit != nullptr) {
        hold(*unit, contract);
      }
    }
  }

 private:
  const Unit* entry_of(const Contract& contract) {
    const std::vector<std::string> names = names_of(session_.entries());
    if (std::ranges::find(names, contract.entry) != names.end()) {
      return session_.build(contract.entry);
    }
    workspace_.diags.error(
        DiagKind::kUnknownEntry, contract.entry_span,
        "no entry is called `" + contract.entry + "`" + did_you_mean(contract.entry, names));
    return nullptr;
  }

  bool layouts_exist(const Contract& contract) {
    bool ok = true;
    for (std::size_t i = 0; i < contract.layouts.size(); ++i) {
      const std::string& name = contract.layouts[i];
      if (std::ranges::find(layout_names_, name) == layout_names_.end()) {
        workspace_.diags.error(DiagKind::kUnknownLayout, contract.layout_spans[i],
                               "no layout `" + name + "`" + did_you_mean(name, layout_names_));
        ok = false;
      }
    }
    return ok;
  }

  void hold(const Unit& unit, const Contract& contract) {
    if (!layouts_exist(contract)) {
      return;
    }
    for (const Layout& layout : layouts_) {
      const bool meant = contract.layouts.empty() ||
                         std::ranges::find(contract.layouts, layout.name) != contract.layouts.end();
      const SpmdProgram* spmd = meant ? lowered(unit, layout) : nullptr;
      if (spmd == nullptr) {
        continue;
      }
      for (const Expectation& clause : contract.clauses) {
        if (std::optional<Diag> diag = broken(*spmd, clause, workspace_.sources)) {
          workspace_.diags.add(*std::move(diag));
        }
      }
    }
  }

  // Null where the unit does not fit the layout. requires: one of `layouts_`.
  const SpmdProgram* lowered(const Unit& unit, const Layout& layout) {
    const auto [at, is_new] = lowered_.try_emplace({&unit, &layout});
    std::optional<SpmdProgram>& spmd = at->second;
    if (is_new) {
      DiagSink reported;  // by the check, before
      spmd = lower(unit.program, layout, op_table(), reported, !workspace_.options.fast);
    }
    return spmd ? &*spmd : nullptr;
  }

  Workspace& workspace_;
  Session& session_;
  CheckDevice& device_;
  std::vector<std::string> layout_names_;
  std::vector<Layout> layouts_;
  std::map<std::pair<const Unit*, const Layout*>, std::optional<SpmdProgram>> lowered_;
};

}  // namespace

void check_contracts(Workspace& workspace, CheckedProgram& program) {
  // A layout that does not fit says nothing of the others.
  const bool is_built = std::ranges::all_of(workspace.diags.diags(), [](const Diag& diag) {
    return diag.severity != Severity::kError || diag.kind == DiagKind::kLayoutConflict ||
           diag.kind == DiagKind::kIndivisible;
  });
  if (is_built) {
    Checker(workspace, program).run();
  }
}

}  // namespace mtf
