#include "tests/unit/layouts/every_layout.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "lowering/lower.h"
#include "runtime/executor.h"
#include "stdlib/ops/ops.h"

namespace mtf::tests {
namespace {

std::string problems(const DiagSink& diags) {
  std::string text;
  for (const Diag& diag : diags.diags()) {
    text += diag.text + "\n";
  }
  return text;
}

bool same_totals(const Totals& planned, const Totals& counted) {
  const auto same = [](const CollectiveTotal& a, const CollectiveTotal& b) {
    return a.kind == b.kind && a.axes == b.axes && a.calls == b.calls && a.elements == b.elements &&
           a.received == b.received && a.bytes == b.bytes;
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
    outcome.problem = problems(diags);
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

bool same_values(const Program& program, const Outcome& a, const Outcome& b) {
  for (std::size_t o = 0; o < program.outputs.size(); ++o) {
    const bool same = with_type(program.at(program.outputs[o]).type.dtype, [&](auto zero) {
      using T = decltype(zero);
      const std::size_t count = a.outputs[o].size() / sizeof(T);
      for (std::size_t i = 0; i < count; ++i) {
        T x{};
        T y{};
        std::memcpy(&x, a.outputs[o].data() + i * sizeof(T), sizeof(T));
        std::memcpy(&y, b.outputs[o].data() + i * sizeof(T), sizeof(T));
        const bool both_nan = x != x && y != y;
        if (!both_nan && std::memcmp(&x, &y, sizeof(T)) != 0) {
          return false;
        }
      }
      return a.outputs[o].size() == b.outputs[o].size();
    });
    if (!same) {
      return false;
    }
  }
  return a.outputs.size() == b.outputs.size();
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
      if (report.first_difference.empty() && !same_values(program, *one, *many)) {
        report.first_difference = to_string(layout) + ": other bits";
      }
    }
  }
  return report;
}

}  // namespace mtf::tests
