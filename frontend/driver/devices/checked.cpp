#include "frontend/driver/devices/checked.h"

#include <algorithm>
#include <utility>

#include "frontend/driver/search/automatic.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/report.h"
#include "frontend/report/plan/spmd_text.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

std::string phase_text(Emit emit, const Program& program, const Layout& layout) {
  if (emit == Emit::kIr || emit == Emit::kGrad) {
    return to_string(program);  // as it is written, and simplified
  }
  DiagSink known;  // the check has reported what does not fit
  const std::optional<SpmdProgram> spmd = lower_simplified(program, layout, op_table(), known);
  if (!spmd) {
    return "";
  }
  return emit == Emit::kSharded ? values_text(*spmd) : steps_text(*spmd);
}

std::unique_ptr<CheckedProgram> evaluated(Workspace& workspace, FileId file,
                                          ElaborateOptions options, Lowered lowered,
                                          DiagSink& diags) {
  std::optional<ast::File> tree = parse_program(workspace, file, diags);
  if (!tree) {
    return nullptr;
  }
  options.check = true;
  if (!options.search) {
    options.search = automatic(workspace, file);
  }
  auto program =
      std::make_unique<CheckedProgram>(std::move(options), lowered, workspace.sources, diags);
  program->session.run(*std::move(tree));
  program->device.use(program->session.layout(), program->session.layouts(), diags);
  return program;
}

// Those that the program never calls.
void lower_entries(CheckedProgram& program, DiagSink& diags) {
  const std::vector<Entry> entries = program.session.entries();
  const bool is_first_left_out = program.session.entry_check() == EntryCheck::kLeftOutFirst;
  for (const Entry& entry : std::span(entries).subspan(is_first_left_out ? 1 : 0)) {
    if (entry.is_imported) {
      continue;
    }
    if (const Unit* unit = program.session.build(entry.name, false); unit != nullptr) {
      program.device.check(*unit, diags);
    }
  }
}

CheckedLayouts of_one(std::unique_ptr<CheckedProgram> program) {
  CheckedLayouts result;
  if (program != nullptr) {
    result.layouts = in_use(*program);
    result.programs.push_back(std::move(program));
  }
  return result;
}

std::unique_ptr<CheckedProgram> checked(Workspace& workspace, FileId file, ElaborateOptions options,
                                        Lowered lowered, DiagSink& diags) {
  std::unique_ptr<CheckedProgram> program =
      evaluated(workspace, file, std::move(options), lowered, diags);
  if (program != nullptr) {
    lower_entries(*program, diags);
  }
  return program;
}

}  // namespace

ElaborateOptions choosing(const Options& options, std::string_view layout) {
  ElaborateOptions result = elaborate_options(options);
  result.layout = layout;
  result.is_one_of_all = layout != options.layout;
  result.one_rank = layout.empty();
  return result;
}

CheckedProgram::CheckedProgram(ElaborateOptions options, Lowered lowered, SourceMap& sources,
                               DiagSink& diags)
    : device(lowered), session(std::move(options), sources, device, diags) {}

Layout CheckedProgram::layout() const {
  return session.layout() == nullptr ? one_rank() : *session.layout();
}

std::unique_ptr<CheckedProgram> check_program(Workspace& workspace, FileId file) {
  return checked(workspace, file, elaborate_options(workspace.options), Lowered::kInUse,
                 workspace.diags);
}

std::unique_ptr<CheckedProgram> check_to_plan(Workspace& workspace, FileId file,
                                              ElaborateOptions options, Lowered lowered) {
  const auto build = [&](bool leave_out_first) {
    options.leave_out_first = leave_out_first;
    options.search_all = true;
    return lowered == Lowered::kNot ? evaluated(workspace, file, options, lowered, workspace.diags)
                                    : checked(workspace, file, options, lowered, workspace.diags);
  };
  const DiagSink before = workspace.diags;
  std::unique_ptr<CheckedProgram> program = build(true);
  if (program != nullptr && program->session.entry_check() == EntryCheck::kOutOfOrder) {
    workspace.diags = before;
    program = build(false);
  }
  return program;
}

std::unique_ptr<CheckedProgram> check_under(Workspace& workspace, FileId file,
                                            std::string_view layout, DiagSink& diags) {
  return checked(workspace, file, choosing(workspace.options, layout), Lowered::kInUse, diags);
}

std::unique_ptr<CheckedProgram> build_under(Workspace& workspace, FileId file,
                                            std::string_view layout, DiagSink& diags) {
  return evaluated(workspace, file, choosing(workspace.options, layout), Lowered::kNot, diags);
}

std::unique_ptr<CheckedProgram> look_at(Workspace& workspace, FileId file) {
  ElaborateOptions options = elaborate_options(workspace.options);
  options.search = [](const Layout& searched, DiagSink& /*diags*/) {
    return std::optional(searched);
  };
  return checked(workspace, file, std::move(options), Lowered::kNot, workspace.diags);
}

std::vector<UnderLayout> in_use(CheckedProgram& program) {
  if (program.session.layout() != nullptr) {
    return {{.program = &program, .layout = *program.session.layout()}};
  }
  return program.session.layouts_to_choose().empty()
             ? std::vector<UnderLayout>{{.program = &program, .layout = one_rank()}}
             : std::vector<UnderLayout>();
}

CheckedLayouts check_layouts(Workspace& workspace, FileId file) {
  CheckedLayouts result;
  if (!workspace.options.layout.empty()) {
    return of_one(check_program(workspace, file));
  }
  // What is declared, and whether what is built depends on it, is known when all has been built.
  DiagSink unheard;
  ElaborateOptions options = elaborate_options(workspace.options);
  options.search_all = true;
  ElaborateOptions as_written = options;
  as_written.as_written = true;
  const std::unique_ptr<CheckedProgram> probe =
      evaluated(workspace, file, std::move(as_written), Lowered::kNot, unheard);
  const std::span<const Layout> declared =
      probe == nullptr ? std::span<const Layout>() : probe->session.layouts();
  if (declared.size() < 2) {
    return of_one(check_program(workspace, file));
  }
  if (!probe->session.follows_layout()) {
    result.programs.push_back(
        checked(workspace, file, std::move(options), Lowered::kEvery, workspace.diags));
  }
  for (const Layout& layout : declared) {
    if (probe->session.serves_regions_alone(layout.name)) {
      continue;
    }
    if (probe->session.follows_layout()) {
      result.programs.push_back(check_under(workspace, file, layout.name, workspace.diags));
    }
    result.layouts.push_back({.program = result.programs.back().get(), .layout = layout});
  }
  return result;
}

std::optional<SpmdProgram> plan_of(Workspace& workspace, CheckedProgram& program,
                                   std::string_view entry, bool last) {
  const Unit* unit = program.session.build(entry);
  if (unit == nullptr || !program.device.fit_initial_values(program.layout(), workspace.diags)) {
    return std::nullopt;
  }
  const HeldLayouts& held = program.device.held_before(*unit, program.layout());
  return lower_simplified(last ? program.session.take(entry) : unit->program, program.layout(),
                          op_table(), workspace.diags,
                          {.exact = !workspace.options.fast, .held = &held});
}

bool knows_layout(Workspace& workspace, const Session& session) {
  const std::string& wanted = workspace.options.layout;
  const std::vector<std::string> names = names_of(session.layouts());
  if (wanted.empty() || wanted == host::kOneRank ||
      std::ranges::find(names, wanted) != names.end()) {
    return true;
  }
  workspace.diags.error(DiagKind::kUnknownLayout, {},
                        "no layout `" + wanted + "`" +
                            did_you_mean(wanted, names,
                                         names.empty() ? "; the file declares none"
                                                       : "; there is " + host::quoted_list(names)));
  return false;
}

std::unique_ptr<CheckedProgram> as_written(Workspace& workspace, FileId file, DiagSink& diags) {
  ElaborateOptions options = elaborate_options(workspace.options);
  options.as_written = true;
  return checked(workspace, file, std::move(options), Lowered::kNot, diags);
}

std::string emitted(Workspace& workspace, FileId file, CheckedProgram& program,
                    std::span<const std::string> entries) {
  const Emit emit = *workspace.options.emit;
  if (emit == Emit::kAst) {
    return ast::to_string(program.session.file());
  }
  DiagSink known;
  const std::unique_ptr<CheckedProgram> written =
      emit == Emit::kIr ? as_written(workspace, file, known) : nullptr;
  CheckedProgram& shown = written == nullptr ? program : *written;
  std::vector<const Unit*> units(shown.device.units().begin(), shown.device.units().end());
  if (!entries.empty()) {
    units.clear();
    std::ranges::transform(entries, std::back_inserter(units),
                           [&](const std::string& entry) { return shown.session.build(entry); });
    std::erase(units, nullptr);
  }
  std::string text;
  for (const Unit* unit : units) {
    text += (text.empty() ? "" : "\n") + phase_text(emit, unit->program, shown.layout());
  }
  return text;
}

}  // namespace mtf
