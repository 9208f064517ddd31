#include "frontend/driver/checked.h"

#include <algorithm>
#include <utility>

#include "frontend/parse.h"
#include "ir/rewrite.h"
#include "lowering/lower.h"
#include "lowering/spmd_text.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

std::string phase_text(Emit emit, const Program& program, const Layout& layout) {
  if (emit == Emit::kIr) {
    return to_string(program);
  }
  if (emit == Emit::kGrad) {
    return to_string(simplify(program, op_table()));
  }
  DiagSink known;  // the check has reported what does not fit
  const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), known);
  if (!spmd) {
    return "";
  }
  return emit == Emit::kSharded ? values_text(*spmd) : steps_text(*spmd);
}

ElaborateOptions check_options(const Options& options) {
  ElaborateOptions result = elaborate_options(options);
  result.check = true;
  return result;
}

}  // namespace

CheckedProgram::CheckedProgram(Workspace& workspace, bool every_layout)
    : device(op_table(), every_layout),
      session(check_options(workspace.options), workspace.sources, device, workspace.diags) {}

std::unique_ptr<CheckedProgram> check_program(Workspace& workspace, FileId file,
                                              bool every_layout) {
  std::optional<ast::File> tree = parse(file, workspace.sources, workspace.diags);
  if (!tree) {
    return nullptr;
  }
  auto program = std::make_unique<CheckedProgram>(workspace, every_layout);
  program->session.run(*std::move(tree));
  program->device.use(program->session.layout(), program->session.layouts(), workspace.diags);
  for (const Entry& entry : program->session.entries()) {
    if (const Unit* unit = program->session.build(entry.name); unit != nullptr) {
      program->device.check(*unit, workspace.diags);
    }
  }
  return program;
}

std::string emitted(Emit emit, const CheckedProgram& program, std::span<const Unit* const> units) {
  if (emit == Emit::kAst) {
    return ast::to_string(program.session.file());
  }
  const Layout* layout = program.session.layout();
  std::string text;
  for (const Unit* unit : units) {
    text += text.empty() ? "" : "\n";
    text += phase_text(emit, unit->program, layout == nullptr ? one_rank() : *layout);
  }
  return text;
}

}  // namespace mtf
