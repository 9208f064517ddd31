// Only units with a contract are lowered again, once under each layout.

#include "frontend/driver/devices/contracts.h"

#include <algorithm>
#include <map>

#include "frontend/driver/entry_names.h"
#include "frontend/report/expect/broken.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// The names in a contract are the same under every layout.
class NameCheck {
 public:
  NameCheck(const Session& session, DiagSink& diags)
      : session_(session),
        diags_(diags),
        entries_(names_of(session.entries())),
        layouts_(names_of(session.layouts())) {}

  void check(const Contract& contract) {
    const bool is_told = contract.entry.empty() || session_.has_entry(contract.entry) ||
                         tell_why_no_entry(session_, contract.entry, contract.entry_span, diags_);
    if (!is_told) {
      check(contract.entry, contract.entry_span, entries_, DiagKind::kUnknownEntry,
            "no entry is called ");
    }
    for (std::size_t i = 0; i < contract.layouts.size(); ++i) {
      check(contract.layouts[i], contract.layout_spans[i], layouts_, DiagKind::kUnknownLayout,
            "no layout ");
    }
  }

 private:
  void check(const std::string& name, SourceSpan span, const std::vector<std::string>& known,
             DiagKind kind, std::string_view problem) {
    if (std::ranges::find(known, name) == known.end()) {
      diags_.error(kind, span, std::string(problem) + "`" + name + "`" + did_you_mean(name, known));
    }
  }

  const Session& session_;
  DiagSink& diags_;
  std::vector<std::string> entries_;
  std::vector<std::string> layouts_;
};

// Holds what was built to its contracts, under the layout that it was built for.
class Holder {
 public:
  Holder(const Workspace& workspace, const UnderLayout& under, DiagSink& diags)
      : workspace_(workspace), under_(under), diags_(diags) {}

  void run() {
    for (const Unit* unit : under_.program->device.units()) {
      for (const Contract& contract : unit->contracts) {
        hold(*unit, contract);
      }
    }
    Session& session = under_.program->session;
    for (const Contract& contract : session.contracts()) {
      const bool exists = session.has_entry(contract.entry);
      if (const Unit* unit = exists ? session.build(contract.entry, false) : nullptr;
          unit != nullptr) {
        hold(*unit, contract);
      }
    }
  }

 private:
  void hold(const Unit& unit, const Contract& contract) {
    const bool is_meant =
        contract.layouts.empty() ||
        std::ranges::find(contract.layouts, under_.layout.name) != contract.layouts.end();
    const SpmdProgram* spmd = is_meant ? lowered(unit) : nullptr;
    if (spmd == nullptr) {
      return;
    }
    for (const Expectation& clause : contract.clauses) {
      if (std::optional<Diag> diag = broken(*spmd, clause, workspace_.sources)) {
        diags_.add(*std::move(diag));
      }
    }
  }

  // Null where the unit does not fit the layout.
  const SpmdProgram* lowered(const Unit& unit) {
    const auto [at, is_new] = lowered_.try_emplace(&unit);
    std::optional<SpmdProgram>& spmd = at->second;
    if (is_new) {
      DiagSink reported;  // by the check, before
      const HeldLayouts& held = under_.program->device.held_before(unit, under_.layout);
      spmd = lower_simplified(unit.program, under_.layout, op_table(), reported,
                              {.exact = !workspace_.options.fast, .held = &held});
    }
    return spmd ? &*spmd : nullptr;
  }

  const Workspace& workspace_;
  const UnderLayout& under_;
  DiagSink& diags_;
  std::map<const Unit*, std::optional<SpmdProgram>> lowered_;
};

}  // namespace

void check_contracts(const Workspace& workspace, CheckedProgram& program,
                     std::span<const UnderLayout> layouts, DiagSink& diags) {
  // A layout that does not fit says nothing of the others.
  const bool is_built = std::ranges::all_of(diags.diags(), [](const Diag& diag) {
    return diag.severity != Severity::kError || is_of_layout(diag.kind);
  });
  if (!is_built) {
    return;
  }
  NameCheck names(program.session, diags);
  for (const Unit* unit : program.device.units()) {
    std::ranges::for_each(unit->contracts, [&](const Contract& c) { names.check(c); });
  }
  std::ranges::for_each(program.session.contracts(), [&](const Contract& c) { names.check(c); });
  for (const UnderLayout& under : layouts) {
    Holder(workspace, under, diags).run();
  }
}

}  // namespace mtf
