#include "frontend/driver/search/searched_program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "frontend/driver/entry_names.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/elaborate/context.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "ir/support/number.h"
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

// Axes that split anything.
std::size_t splitting(const Mesh& mesh) {
  return static_cast<std::size_t>(
      std::ranges::count_if(mesh.axes, [](const MeshAxis& axis) { return axis.size > 1; }));
}

void set_sizes(std::vector<ast::Sized>& dims, const DimSizes& sizes) {
  for (ast::Sized& dim : dims) {
    if (const auto wanted = sizes.find(dim.name.text); wanted != sizes.end()) {
      dim.size.node = ast::Int{.value = wanted->second};
    }
  }
}

// Of the axes that the declared mesh has.
std::string sizes_text(const Mesh& mesh, const Mesh& declared) {
  std::string text;
  for (const MeshAxis& axis : declared.axes) {
    text += (text.empty() ? "" : ",") + axis.name + "=" +
            std::to_string(mesh.axes[*mesh.find(axis.name)].size);
  }
  return text;
}

}  // namespace

std::unique_ptr<SearchedProgram> SearchedProgram::read(Workspace& workspace, FileId file,
                                                       const std::optional<Layout>& fixed,
                                                       DiagSink& diags) {
  auto found = std::make_unique<DiagSink>();  // with warnings of layouts that nobody asked about
  std::unique_ptr<CheckedProgram> unsplit = build_under(workspace, file, "", *found);
  for (const Diag& diag : errors_of(*found)) {
    diags.add(diag);
  }
  if (unsplit == nullptr || !diags.ok() || !knows_hardware(workspace, unsplit->session) ||
      !knows_layout(workspace, unsplit->session)) {
    return nullptr;
  }
  std::unique_ptr<SearchedProgram> program(
      new SearchedProgram(workspace, file, std::move(found), std::move(unsplit)));
  program->entries_ = chosen_entries(workspace, program->unsplit_->session);
  if (program->entries_.empty() || !program->choose_fixed(fixed, diags)) {
    return nullptr;
  }
  program->choose_limits();
  return program->programs(0).empty() || !program->check_dims(diags) ? nullptr : std::move(program);
}

bool SearchedProgram::choose_fixed(const std::optional<Layout>& fixed, DiagSink& diags) {
  const Session& session = unsplit_->session;
  const Options& options = workspace_.options;
  const bool by_rules = options.layout.empty() && !options.rules.empty();
  const auto declared =
      std::ranges::find(session.layouts(), by_rules ? "rules" : options.layout, &Layout::name);
  const SearchOptions& asked = options.search;
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
                    did_you_mean(asked.mesh, names,
                                 names.empty() ? "; the file declares none"
                                               : "; there is " + host::quoted_list(names)));
    return false;
  } else if (!session.meshes().empty()) {
    limits_.fixed.mesh = host::first_mesh(session.meshes(), options.mesh);
  } else if (asked.ranks.empty() && !asked.fit && asked.scale.empty()) {
    diags.error(DiagKind::kMissingArgument, {},
                "the file declares no mesh; `mesh grid = [x: 4, y: 2]` is one, and `--ranks 8` "
                "searches all shapes of 8 ranks");
    return false;
  }
  limits_.fixed.name = by_rules || limits_.fixed.name.empty() ? free_name() : limits_.fixed.name;
  return true;
}

void SearchedProgram::set_ranks(std::int64_t ranks) {
  const SearchOptions& asked = workspace_.options.search;
  is_resized_ = ranks > 0;
  Mesh mesh = declared_;
  if (is_resized_) {
    mesh.name = mesh.name.empty() ? "mesh_" + std::to_string(ranks) : mesh.name;
    const std::size_t axes =
        asked.axes > 0 ? asked.axes : std::max<std::size_t>(2, mesh.axes.size());
    limits_.meshes = meshes_of(with_axes(mesh, axes), ranks);
    std::erase_if(limits_.meshes, [axes](const Mesh& shape) { return splitting(shape) > axes; });
  } else {
    limits_.meshes = {mesh};
  }
  limits_.fixed.mesh = limits_.meshes.front();
  if (unsplit_->session.follows_layout()) {
    programs_.clear();
  }
}

void SearchedProgram::set_kept(std::optional<SourceSpan> block) {
  kept_ = block;
  programs_.clear();
}

void SearchedProgram::set_size(std::string_view dim, std::int64_t size) {
  sizes_.insert_or_assign(std::string(dim), size);
  programs_.clear();
  contracts_.clear();  // they may count with it
}

std::optional<std::int64_t> SearchedProgram::declared_size(std::string_view dim,
                                                           DiagSink& diags) const {
  std::vector<std::string> names;
  for (const ast::Stmt& statement : tree().statements) {
    if (const auto* declared = std::get_if<ast::Dims>(&statement.node)) {
      std::ranges::transform(declared->dims, std::back_inserter(names),
                             [](const ast::Sized& sized) { return sized.name.text; });
    }
  }
  const auto& files = unsplit_->session.context().modules.files;
  const host::Binding* binding = std::ranges::find(names, dim) == names.end() || files.empty()
                                     ? nullptr
                                     : files.back()->scope->own(dim);
  const Dim* found = binding == nullptr ? nullptr : binding->value.get<Dim>();
  if (found == nullptr) {
    diags.error(DiagKind::kUnknownDim, {},
                "the file declares no dim `" + std::string(dim) + "`" +
                    did_you_mean(dim, names,
                                 names.empty() ? "; `dim " + std::string(dim) + " = 64` is one"
                                               : "; there is " + host::quoted_list(names)));
    return std::nullopt;
  }
  return found->size;
}

DimSizes SearchedProgram::common_sizes() {
  DimSizes sizes;
  for (const Program& program : programs(0)) {
    for (const Value& value : program.values) {
      for (const Dim& dim : value.type.shape.dims()) {
        std::int64_t& common = sizes[dim.name];
        common = value.internal ? common : std::gcd(common, dim.size);
      }
    }
  }
  for (const std::string& dim : limits_.whole) {
    sizes.erase(dim);
  }
  return sizes;
}

void SearchedProgram::choose_limits() {
  const SearchOptions& asked = workspace_.options.search;
  declared_ = limits_.fixed.mesh;
  set_ranks(asked.ranks.empty() ? 0 : asked.ranks.front());
  limits_.whole = asked.whole;
  const auto varies = [&asked](const char* what) {
    return asked.over.empty() || asked.over.contains(what);
  };
  const bool has_own = std::ranges::any_of(
      limits_.fixed.variables, [](const VariableRules& block) { return block.glob.empty(); });
  limits_.variables = varies("params") && !has_own;
  limits_.rest = varies("rest");
  // What a person has written of it stays.
  limits_.passes = varies("gather") && !limits_.fixed.gather_again && limits_.fixed.stream == 1;
  limits_.recompute = varies("recompute");
  limits_.lets = varies("lets");
  limits_.infer = asked.over.empty() ? std::nullopt : std::optional(varies("infer"));
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

// `--keep-whole` and `--rules` name dims that there are.
bool SearchedProgram::check_dims(DiagSink& diags) const {
  const std::vector<std::string> names = dim_names();
  const auto check = [&](const char* option, const std::string& dim) {
    if (std::ranges::find(names, dim) == names.end()) {
      diags.error(DiagKind::kUnknownDim, {},
                  "`" + std::string(option) + dim + "`: no tensor has a dim `" + dim + "`" +
                      did_you_mean(dim, names, host::there_is(names)));
    }
  };
  std::ranges::for_each(limits_.whole, [&](const auto& dim) { check("--keep-whole ", dim); });
  if (workspace_.options.layout.empty() && !workspace_.options.rules.empty()) {
    std::ranges::for_each(limits_.fixed.rules,
                          [&](const Rule& rule) { check("--rules ", rule.dim); });
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

// With the sizes of dims that are wanted.
std::optional<ast::File> SearchedProgram::sized_tree(DiagSink& diags) const {
  std::optional<ast::File> tree = parse_program(workspace_, file_, diags);
  if (tree && kept_) {
    keep_block(*tree, *kept_);
  }
  if (tree && !sizes_.empty()) {
    for (ast::Stmt& statement : tree->statements) {
      if (auto* declared = std::get_if<ast::Dims>(&statement.node)) {
        set_sizes(declared->dims, sizes_);
      }
    }
  }
  return tree;
}

namespace {

// Whether all that bounds layouts of the one bounds those of the other.
bool implies(const RuledTensor& wide, const RuledTensor& narrow) {
  return wide.is_variable == narrow.is_variable && contains(wide.shape, narrow.shape);
}

}  // namespace

// Of what the file runs. The entries have been taken out of it.
void SearchedProgram::note_beside(const CheckedProgram& program, std::span<const Program> entries) {
  const Layout layout = program.layout();
  std::vector<RuledTensor> all;
  const auto add = [&](const Program& of) {
    for (RuledTensor& tensor : ruled_tensors(of, layout)) {
      const bool is_known = std::ranges::any_of(
          all, [&tensor](const RuledTensor& known) { return implies(known, tensor); });
      if (!is_known && tensor.shape.rank() > 0) {
        all.push_back(std::move(tensor));
      }
    }
  };
  std::ranges::for_each(entries, add);  // the space has these anyway
  const std::size_t known = all.size();
  for (const Unit* unit : program.device.units()) {
    add(unit->program);
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known));
  limits_.beside = std::move(all);
}

// Under the fixed layout on this mesh, as if it were in use.
std::vector<Program> SearchedProgram::built(const Mesh& mesh) {
  ElaborateOptions options = elaborate_options(workspace_.options);
  options.given = limits_.fixed;
  options.given->mesh = mesh;
  options.check = true;
  if (is_resized_ && !declared_.axes.empty()) {
    options.mesh = sizes_text(mesh, declared_);
  }
  DiagSink diags;
  std::optional<ast::File> tree = sized_tree(diags);
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
    result.push_back(program.session.take(entries_[i]));
  }
  note_beside(program, result);
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

std::vector<const Expectation*> SearchedProgram::expected(std::size_t entry) const {
  std::vector<const Expectation*> clauses;
  if (entry >= contracts_.size()) {
    return clauses;
  }
  for (const Contract& contract : contracts_[entry]) {
    std::ranges::transform(contract.clauses, std::back_inserter(clauses),
                           [](const Expectation& clause) { return &clause; });
  }
  return clauses;
}

std::string SearchedProgram::expectations() const {
  std::string text;
  for (std::size_t entry = 0; entry < contracts_.size(); ++entry) {
    for (const Expectation* clause : expected(entry)) {
      text += entries_[entry] + " expects " + clause->text + " " + shortest(clause->bound) + "\n";
    }
  }
  return text;
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
