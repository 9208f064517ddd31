#include "tests/unit/layouts/every_layout.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

#include "frontend/diagnostics.h"
#include "frontend/elaborate.h"
#include "frontend/parse.h"
#include "lowering/lower.h"
#include "runtime/executor.h"
#include "stdlib/ops/ops.h"

namespace mtf::tests {
namespace {

// Runs nothing: the harness takes the program and runs it itself.
class NoDevice final : public Device {
 public:
  bool use(const Layout* /*chosen*/, std::span<const Layout> /*declared*/,
           DiagSink& /*diags*/) override {
    return true;
  }
  void declare(const Variable& /*variable*/) override {}
  std::optional<std::vector<TensorHandle>> run(const Unit& /*unit*/,
                                               std::span<const TensorHandle> /*arguments*/,
                                               DiagSink& /*diags*/) override {
    return std::nullopt;
  }
  std::optional<double> scalar(const TensorHandle& /*tensor*/) override { return std::nullopt; }
  std::optional<std::string> text(const TensorHandle& /*tensor*/) override {
    return std::nullopt;
  }
  void print(std::string_view /*line*/) override {}
};

std::string problems(const DiagSink& diags, const SourceMap& sources) {
  std::string text;
  for (const Diag& diag : diags.diags()) {
    text += sources.short_place(diag.span) + ": " + diag.text + "\n";
  }
  return text;
}

bool same_totals(const Totals& planned, const Totals& counted) {
  const auto same = [](const CollectiveTotal& a, const CollectiveTotal& b) {
    return a.kind == b.kind && a.axes == b.axes && a.calls == b.calls &&
           a.elements == b.elements && a.received == b.received && a.bytes == b.bytes;
  };
  return planned.peak_bytes == counted.peak_bytes && planned.flops == counted.flops &&
         std::ranges::is_permutation(planned.collectives, counted.collectives, same);
}

void dims_of(const Program& program, std::set<std::string>& names) {
  for (const Value& value : program.values) {
    for (const Dim& dim : value.type.shape.dims()) {
      names.insert(dim.name);
    }
  }
}

}  // namespace

Program program_of(const std::string& text) {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "case.mtf", .path = "", .text = text});
  std::optional<ast::File> tree = parse(file, sources, diags);
  NoDevice device;
  if (tree) {
    Session session({.ops = op_table()}, sources, device, diags);
    session.run(*std::move(tree));
    const Unit* unit = diags.ok() ? session.build("case") : nullptr;
    if (unit != nullptr && diags.ok()) {
      return unit->program;
    }
  }
  throw std::runtime_error(text + "\n" + problems(diags, sources));
}

Mesh mesh_of(const std::vector<std::int64_t>& sizes) {
  Mesh mesh;
  mesh.name = "m";
  const std::string names = "xyz";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mesh.axes.push_back({.name = names.substr(i, 1), .size = sizes[i]});
  }
  return mesh;
}

std::vector<Layout> layouts_of(const Program& program, const Mesh& mesh) {
  std::set<std::string> names;
  dims_of(program, names);
  const std::vector<std::string> dims(names.begin(), names.end());
  std::vector<Layout> layouts;
  std::vector<std::size_t> pick(mesh.axes.size(), 0);  // per axis a dim, or dims.size() for none
  for (bool more = true; more;) {
    for (const bool reversed : {false, true}) {
      Layout layout{.name = "all", .mesh = mesh};
      bool shared = false;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        Axes axes;
        for (std::size_t a = 0; a < pick.size(); ++a) {
          if (pick[a] == d) {
            axes.insert(reversed ? axes.begin() : axes.end(), static_cast<AxisId>(a));
          }
        }
        shared = shared || axes.size() > 1;
        if (!axes.empty()) {
          layout.rules.push_back({.dim = dims[d], .axes = axes, .span = {}});
        }
      }
      if (!reversed || shared) {
        layouts.push_back(std::move(layout));
      }
    }
    std::size_t a = 0;
    while (a < pick.size() && ++pick[a] > dims.size()) {
      pick[a++] = 0;
    }
    more = a < pick.size();
  }
  return layouts;
}

std::string to_string(const Layout& layout) {
  std::string text = "[";
  for (const Rule& rule : layout.rules) {
    text += (text.size() > 1 ? ", " : "") + mtf::to_string(rule, layout.mesh);
  }
  return text + "] on " + mtf::to_string(layout.mesh);
}

std::optional<Outcome> run_under(const Program& program, const Layout& layout) {
  DiagSink diags;
  const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
  if (!spmd) {
    return std::nullopt;
  }
  Outcome outcome;
  if (const std::string wrong = verify(*spmd); !wrong.empty()) {
    outcome.problem = wrong;
    return outcome;
  }
  const auto communicator = simulated_communicator(layout.mesh.ranks());
  Executor executor(*communicator, {});
  const Executable executable = executor.prepare(*spmd);
  const auto results = executor.run(executable, {}, diags);
  if (!results) {
    outcome.problem = problems(diags, {});
    return outcome;
  }
  for (const Totals& counted : executor.counted()) {
    if (!same_totals(spmd->totals, counted)) {
      outcome.problem = "counted totals differ from the plan";
    }
  }
  for (const RankTensor& tensor : *results) {
    outcome.outputs.push_back(gather(*communicator, layout.mesh, tensor));
  }
  return outcome;
}

Report compare_all(const Program& program, const std::vector<std::vector<std::int64_t>>& meshes) {
  Report report;
  const std::optional<Outcome> one = run_under(program, one_rank());
  if (!one || !one->problem.empty()) {
    report.first_difference = "one rank: " + (one ? one->problem : "refused");
    return report;
  }
  for (const std::vector<std::int64_t>& sizes : meshes) {
    for (const Layout& layout : layouts_of(program, mesh_of(sizes))) {
      const std::optional<Outcome> many = run_under(program, layout);
      if (!many) {
        ++report.refused;
        continue;
      }
      ++report.legal;
      if (report.first_difference.empty() && !many->problem.empty()) {
        report.first_difference = to_string(layout) + ": " + many->problem;
      }
      if (report.first_difference.empty() && many->outputs != one->outputs) {
        report.first_difference = to_string(layout) + ": other bits";
      }
    }
  }
  return report;
}

}  // namespace mtf::tests
