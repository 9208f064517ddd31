// A place is warned of once, under the first layout that shows it, and not at all where the check
// has said something of it.

#include "frontend/driver/commands/lint.h"

#include <algorithm>
#include <deque>

#include "frontend/report/lint/lint.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

class Linter {
 public:
  explicit Linter(Workspace& workspace) : workspace_(workspace) {}

  void statements(const Session& session) {
    DiagSink found;
    session.find_idle_statements(found);
    add(found.diags());
  }

  void under(const Layout& layout, CheckDevice& device) {
    std::deque<SpmdProgram> lowered;
    std::vector<UsedProgram> uses;
    for (const Unit* unit : device.units()) {
      DiagSink reported;  // by the check, before
      std::optional<SpmdProgram> spmd =
          lower_simplified(unit->program, layout, op_table(), reported,
                           {.held = &device.held_before(*unit, layout)});
      if (!spmd) {
        return;
      }
      lowered.push_back(*std::move(spmd));
      uses.push_back({.program = &lowered.back(), .calls = device.calls(*unit)});
    }
    DiagSink found;
    lint_layout(uses, layout, found);
    add(found.diags());
  }

 private:
  void add(std::span<const Diag> found) {
    for (const Diag& diag : found) {
      const bool said = std::ranges::any_of(workspace_.diags.diags(), [&](const Diag& other) {
        return other.span == diag.span &&
               (other.kind == diag.kind || other.kind == DiagKind::kUnknownDim);
      });
      if (!said) {
        workspace_.diags.add(diag);
      }
    }
  }

  Workspace& workspace_;
};

}  // namespace

void lint(Workspace& workspace, const Session& session, std::span<const UnderLayout> layouts) {
  Linter linter(workspace);
  linter.statements(session);
  for (const UnderLayout& under : layouts) {
    if (!under.layout.mesh.axes.empty()) {
      linter.under(under.layout, under.program->device);
    }
  }
}

}  // namespace mtf
