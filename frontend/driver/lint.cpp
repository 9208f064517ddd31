// A place is warned of once, under the first layout that shows it, and not at all where the check
// has said something of it.

#include "frontend/driver/lint.h"

#include <algorithm>
#include <deque>

#include "lowering/lint.h"
#include "lowering/lower.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

class Linter {
 public:
  Linter(Workspace& workspace, CheckedProgram& program)
      : workspace_(workspace), program_(program) {}

  void run() {
    for (const Layout& layout : program_.device.layouts()) {
      under(layout);
    }
  }

 private:
  void under(const Layout& layout) {
    std::deque<SpmdProgram> lowered;
    std::vector<Use> uses;
    for (const Unit* unit : program_.device.units()) {
      DiagSink reported;  // by the check, before
      std::optional<SpmdProgram> spmd = lower(unit->program, layout, op_table(), reported);
      if (!spmd) {
        return;
      }
      lowered.push_back(*std::move(spmd));
      uses.push_back({.program = &lowered.back(), .calls = program_.device.calls(*unit)});
    }
    add(lint_layout(uses, layout));
    for (const SpmdProgram& spmd : lowered) {
      add(lint_program(spmd));
    }
  }

  void add(const std::vector<Diag>& found) {
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
  CheckedProgram& program_;
};

}  // namespace

void lint(Workspace& workspace, CheckedProgram& program) {
  Linter(workspace, program).run();
}

}  // namespace mtf
