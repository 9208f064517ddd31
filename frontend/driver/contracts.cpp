// Only units with a contract are lowered again.

#include "frontend/driver/contracts.h"

#include <algorithm>

#include "lowering/lower.h"
#include "lowering/promise.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

class Checker {
 public:
  Checker(Workspace& workspace, CheckedProgram& program)
      : workspace_(workspace), session_(program.session), device_(program.device) {
    for (const Layout& layout : session_.layouts()) {
      layout_names_.push_back(layout.name);
    }
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
    std::vector<std::string> names;
    for (const Entry& entry : session_.entries()) {
      names.push_back(entry.name);
    }
    if (std::ranges::find(names, contract.entry) != names.end()) {
      return session_.build(contract.entry);
    }
    const std::string_view match = closest(contract.entry, names);
    workspace_.diags.error(
        DiagKind::kUnknownEntry, contract.entry_span,
        "no entry is called `" + contract.entry + "`" +
            (match.empty() ? "" : "; did you mean `" + std::string(match) + "`?"));
    return nullptr;
  }

  bool layouts_exist(const Contract& contract) {
    bool ok = true;
    for (std::size_t i = 0; i < contract.layouts.size(); ++i) {
      const std::string& name = contract.layouts[i];
      if (std::ranges::find(layout_names_, name) == layout_names_.end()) {
        const std::string_view match = closest(name, layout_names_);
        workspace_.diags.error(
            DiagKind::kUnknownLayout, contract.layout_spans[i],
            "no layout `" + name + "`" +
                (match.empty() ? "" : "; did you mean `" + std::string(match) + "`?"));
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
      DiagSink reported;  // by the check, before
      const std::optional<SpmdProgram> spmd =
          meant ? lower(unit.program, layout, op_table(), reported, !workspace_.options.fast)
                : std::nullopt;
      for (const Expectation& clause : spmd ? contract.clauses : std::vector<Expectation>()) {
        if (std::optional<Diag> diag = broken(*spmd, clause, workspace_.sources)) {
          workspace_.diags.add(*std::move(diag));
        }
      }
    }
  }

  Workspace& workspace_;
  Session& session_;
  CheckDevice& device_;
  std::vector<std::string> layout_names_;
  std::vector<Layout> layouts_;
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
