#include "frontend/driver/search/searched_program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/driver/entry_names.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/report/expect/broken.h"
#include "ir/rewrite/rewrite.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr std::array kNewAxes = std::to_array<std::string_view>({"x", "y", "z", "u", "v", "w"});

// With as many axes as are asked for, under names that are free.
Mesh with_axes(Mesh mesh, std::size_t count) {
  for (const std::string_view name : kNewAxes) {
    if (mesh.axes.size() < count && !mesh.find(name)) {
      mesh.axes.push_back({.name = std::string(name), .size = 1});
    }
  }
  return mesh;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "`" : ", `") + name + "`";
  }
  return text.empty() ? "none" : text;
}

std::string sizes_text(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) {
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  }
  return text;
}

}  // namespace

std::unique_ptr<SearchedProgram> SearchedProgram::read(Workspace& workspace, FileId file,
                                                       const std::optional<Layout>& fixed,
                                                       DiagSink& diags) {
  DiagSink found;  // with warnings of layouts that are not what is asked about
  std::unique_ptr<CheckedProgram> unsplit = build_under(workspace, file, "", found);
  for (const Diag& diag : errors_of(found)) {
    diags.add(diag);
  }
  if (unsplit == nullptr || !diags.ok() || !knows_hardware(workspace, unsplit->session)) {
    return nullptr;
  }
  std::unique_ptr<SearchedProgram> program(
      new SearchedProgram(workspace, file, std::move(unsplit)));
  program->entries_ = chosen_entries(workspace, program->unsplit_->session);
  if (program->entries_.empty() || !program->choose_fixed(fixed, diags)) {
    return nullptr;
  }
  program->choose_meshes();
  return program->programs(0).empty() || !program->check_dims(diags) ? nullptr : std::move(program);
}

bool SearchedProgram::choose_fixed(const std::optional<Layout>& fixed, DiagSink& diags) {
  const SearchOptions& asked = workspace_.options.search;
  const Session& session = unsplit_->session;
  const auto declared =
      std::ranges::find(session.layouts(), workspace_.options.layout, &Layout::name);
  const std::vector<std::string> names = names_of(session.meshes());
  const auto named = std::ranges::find(names, asked.mesh);
  if (fixed) {
    limits_.fixed = *fixed;
  } else if (declared != session.layouts().end()) {
    limits_.fixed = *declared;
  } else if (named != names.end()) {
    limits_.fixed.mesh = session.meshes()[static_cast<std::size_t>(named - names.begin())];
  } else if (!asked.mesh.empty()) {
    diags.error(DiagKind::kUnknownName, {},
                "no mesh `" + asked.mesh + "`" +
                    did_you_mean(asked.mesh, names, "; there is " + joined_names(names)));
    return false;
  } else if (!session.meshes().empty()) {
    limits_.fixed.mesh = session.meshes().front();
  } else if (asked.ranks == 0) {
    diags.error(DiagKind::kMissingArgument, {},
                "the file declares no mesh; `mesh grid = [x: 4, y: 2]` is one, and `--ranks 8` "
                "searches all shapes of 8 ranks");
    return false;
  }
  limits_.fixed.name = limits_.fixed.name.empty() ? "found" : limits_.fixed.name;
  return true;
}

void SearchedProgram::choose_meshes() {
  const SearchOptions& asked = workspace_.options.search;
  is_resized_ = asked.ranks > 0;
  Mesh& mesh = limits_.fixed.mesh;
  if (is_resized_) {
    mesh.name = mesh.name.empty() ? "mesh" : mesh.name;
    mesh =
        with_axes(mesh, asked.axes > 0 ? asked.axes : std::max<std::size_t>(2, mesh.axes.size()));
    limits_.meshes = meshes_of(mesh, asked.ranks);
    mesh = limits_.meshes.front();
  } else {
    limits_.meshes = {mesh};
  }
  limits_.whole = asked.whole;
  const auto varies = [&asked](const char* what) {
    return asked.over.empty() || asked.over.contains(what);
  };
  const bool has_own = std::ranges::any_of(
      limits_.fixed.variables, [](const VariableRules& block) { return block.glob.empty(); });
  limits_.variables = varies("params") && !has_own;
  limits_.rest = varies("rest");
  limits_.passes = varies("gather");
}

std::vector<std::string> SearchedProgram::dim_names() const {
  std::set<std::string> names;
  for (const auto& [mesh, programs] : programs_) {
    for (const Program& program : programs) {
      for (const Value& value : program.values) {
        std::ranges::transform(value.type.shape.dims(), std::inserter(names, names.end()),
                               &Dim::name);
      }
    }
  }
  return {names.begin(), names.end()};
}

// `--keep-whole` names dims that there are.
bool SearchedProgram::check_dims(DiagSink& diags) const {
  const std::vector<std::string> names = dim_names();
  for (const std::string& dim : limits_.whole) {
    if (std::ranges::find(names, dim) == names.end()) {
      diags.error(DiagKind::kUnknownDim, {},
                  "`--keep-whole " + dim + "`: no tensor has a dim `" + dim + "`" +
                      did_you_mean(dim, names));
    }
  }
  return diags.ok();
}

void SearchedProgram::keep_contracts(const Unit& unit, std::size_t entry) {
  contracts_.resize(entries_.size());
  if (!contracts_[entry].empty()) {
    return;
  }
  const auto keep = [&](const Contract& contract) {
    const bool is_meant =
        contract.layouts.empty() ||
        std::ranges::find(contract.layouts, limits_.fixed.name) != contract.layouts.end();
    if (is_meant && (contract.entry.empty() || contract.entry == entries_[entry])) {
      contracts_[entry].push_back(contract);
    }
  };
  std::ranges::for_each(unit.contracts, keep);
  std::ranges::for_each(unsplit_->session.contracts(), keep);
}

// Under the fixed layout on this mesh, as if it were in use.
std::vector<Program> SearchedProgram::built(const Mesh& mesh) {
  ElaborateOptions options = elaborate_options(workspace_.options);
  options.given = limits_.fixed;
  options.given->mesh = mesh;
  options.check = true;
  if (is_resized_ && !unsplit_->session.meshes().empty()) {
    options.mesh = sizes_text(mesh);
  }
  DiagSink diags;
  std::optional<ast::File> tree = parse_program(workspace_, file_, diags);
  if (!tree) {
    return {};
  }
  CheckedProgram program(std::move(options), Lowered::kNot, workspace_.sources, diags);
  program.session.run(*std::move(tree));
  std::vector<Program> result;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Unit* unit = program.session.build(entries_[i]);
    if (unit == nullptr) {
      for (const Diag& diag : diags.diags()) {
        workspace_.diags.add(diag);
      }
      return {};
    }
    keep_contracts(*unit, i);
    result.push_back(simplify(unit->program, op_table()));
  }
  return result;
}

std::span<const Program> SearchedProgram::programs(std::size_t mesh) {
  const std::size_t number = unsplit_->session.follows_layout() ? mesh : 0;
  const auto found = programs_.find(number);
  return found != programs_.end()
             ? found->second
             : programs_.emplace(number, built(limits_.meshes[number])).first->second;
}

Hardware SearchedProgram::hardware(const Mesh& mesh) {
  return hardware_for(workspace_.options, unsplit_->session, mesh.profile, mesh.ranks());
}

bool SearchedProgram::expects() const {
  return std::ranges::any_of(contracts_, [](const auto& of_entry) { return !of_entry.empty(); });
}

std::string SearchedProgram::refusal(std::size_t entry, const SpmdProgram& plan) const {
  if (entry >= contracts_.size()) {
    return "";
  }
  for (const Contract& contract : contracts_[entry]) {
    for (const Expectation& clause : contract.clauses) {
      if (const std::optional<Diag> diag = broken(plan, clause, workspace_.sources)) {
        return "`expect { " + clause.text + " }` does not hold";
      }
    }
  }
  return "";
}

double SearchedProgram::useful_flops() {
  double flops = 0;
  for (const Program& program : programs(0)) {
    DiagSink diags;
    const auto plan = lower_simplified(program, one_rank(), op_table(), diags);
    flops += plan ? plan->totals.flops : 0;
  }
  return flops;
}

}  // namespace mtf
