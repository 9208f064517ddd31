#include "tests/unit/layouts/every_layout.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "frontend/driver/verify_promise.h"
#include "lowering/lower.h"
#include "runtime/count.h"
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

// A copy, because tensors' bytes are not aligned for T.
template <typename T>
std::vector<T> elements_of(const HostTensor& tensor) {
  std::vector<T> elements(tensor.data.size() / sizeof(T));
  std::memcpy(elements.data(), tensor.data.data(), tensor.data.size());
  return elements;
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
  const std::string names = "xyzw";
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

Layout random_layout(std::span<const Program> entries, const Mesh& mesh, std::mt19937_64& random) {
  std::map<std::string, std::int64_t> sizes;  // of each name, what divides all its sizes
  for (const Program& program : entries) {
    for (const Value& value : program.values) {
      for (const Dim& dim : value.type.shape.dims()) {
        sizes[dim.name] = std::gcd(sizes[dim.name], dim.size);
      }
    }
  }
  std::vector<AxisId> order(mesh.axes.size());
  std::iota(order.begin(), order.end(), AxisId{0});
  std::ranges::shuffle(order, random);
  std::map<std::string, Axes> axes_of;
  for (const AxisId axis : order) {
    std::vector<std::string> fitting;
    for (const auto& [name, size] : sizes) {
      const bool is_free = mesh.uneven && axes_of[name].size() < 2;
      if (is_free ||
          (size > 0 && size % (mesh.size_of(axes_of[name]) * mesh.axes[axis].size) == 0)) {
        fitting.push_back(name);
      }
    }
    const std::size_t pick = random() % (fitting.size() + 1);
    if (pick < fitting.size()) {
      axes_of[fitting[pick]].push_back(axis);
    }
  }
  Layout layout{.name = "random", .mesh = mesh, .rules = {}, .span = {}};
  for (const auto& [name, axes] : axes_of) {
    if (!axes.empty()) {
      layout.rules.push_back({.dim = name, .axes = axes, .span = {}});
    }
  }
  return layout;
}

Layout refined_layout(std::span<const Program> entries, const Mesh& mesh, std::mt19937_64& random) {
  Layout layout = random_layout(entries, mesh, random);
  for (Rule& rule : layout.rules) {
    rule.rest = random() % 2 == 0;
  }
  std::set<std::string> names;
  for (const Program& program : entries) {
    dims_of(program, names);
  }
  for (const std::string& name : names) {
    const bool is_new = std::ranges::find(layout.rules, name, &Rule::dim) == layout.rules.end();
    if (is_new && random() % 4 == 0) {
      layout.rules.push_back({.dim = name, .axes = {}, .span = {}, .rest = true});
    }
  }
  // What is inferred in one entry may be another layout in the next, which is given its tensors.
  layout.infer = random() % 2 == 0 && entries.size() == 1;
  layout.gather_again = random() % 2 == 0;
  layout.stream = random() % 2 == 0 ? 1 : static_cast<std::int64_t>(2 + random() % 7);
  return layout;
}

Layout partly_held(Layout layout, std::mt19937_64& random) {
  for (Rule& rule : layout.rules) {
    const auto axis = static_cast<AxisId>(random() % layout.mesh.axes.size());
    const std::int64_t size = layout.mesh.axes[axis].size;
    NamedCondition condition{.axis = layout.mesh.axes[axis].name, .same = "", .at = 0};
    if (!rule.axes.empty() && random() % 3 != 0) {
      condition.same = layout.mesh.axes[rule.axes[random() % rule.axes.size()]].name;
    } else {
      condition.at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
    }
    const Turned where = turned(layout.mesh, rule.dim, rule.axes, {&condition, 1});
    if (where.problem.empty() && random() % 3 != 0) {
      rule.where = where.where;
    }
  }
  return layout;
}

std::string to_string(const Layout& layout) {
  std::string text = "[";
  for (const Rule& rule : layout.rules) {
    text += (text.size() > 1 ? ", " : "") + mtf::to_string(rule, layout.mesh);
  }
  text += layout.infer ? "; infer" : "";
  text += layout.gather_again ? "; gather = again" : "";
  text += layout.stream == 1 ? "" : "; stream = " + std::to_string(layout.stream);
  text += layout.mesh.uneven ? "; uneven" : "";
  return text + "] on " + mtf::to_string(layout.mesh);
}

std::optional<Outcome> run_under(std::span<const Program> entries, const Layout& layout) {
  const auto communicator = simulated_communicator(layout.mesh.ranks());
  return run_under(entries, layout, *communicator);
}

std::optional<Outcome> run_under(std::span<const Program> entries, const Layout& layout,
                                 Communicator& communicator) {
  std::vector<SpmdProgram> lowered;
  try {
    for (const Program& program : entries) {
      DiagSink diags;
      std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
      if (!spmd) {
        return std::nullopt;
      }
      lowered.push_back(*std::move(spmd));
    }
  } catch (const std::logic_error& wrong) {  // the plan
    return Outcome{.seen = {}, .problem = wrong.what()};
  }
  Executor executor(communicator, {});
  Outcome outcome;
  std::vector<RankTensor> handed_on;
  const auto look_at = [&](std::span<const RankTensor> tensors) {
    for (const RankTensor& tensor : tensors) {
      outcome.seen.push_back(
          {.type = tensor.type, .data = gather(communicator, layout.mesh, tensor)});
    }
  };
  for (const SpmdProgram& spmd : lowered) {
    outcome.promised = outcome.promised && endings_of(spmd).empty();
    std::vector<RankTensor*> inputs;
    for (RankTensor& tensor : handed_on) {
      inputs.push_back(&tensor);
    }
    const Executable executable = executor.prepare(spmd);
    DiagSink diags;
    std::optional<std::vector<RankTensor>> results = executor.run(executable, inputs, diags);
    if (!results) {
      outcome.problem = problems(diags);
      return outcome;
    }
    for (const Totals& counted : executor.counted()) {
      if (!as_planned(spmd, counted)) {
        outcome.problem = "counted totals differ from the plan";
      }
    }
    look_at(handed_on);  // a state has another value now
    look_at(*results);
    handed_on = *std::move(results);
  }
  return outcome;
}

bool same_values(const Outcome& a, const Outcome& b) {
  return std::ranges::equal(a.seen, b.seen, [](const HostTensor& x, const HostTensor& y) {
    return x.type == y.type && with_type(x.type.dtype, [&](auto zero) {
             using T = decltype(zero);
             return std::ranges::equal(elements_of<T>(x), elements_of<T>(y), [](T left, T right) {
               const bool both_nan = left != left && right != right;
               return both_nan || std::memcmp(&left, &right, sizeof left) == 0;
             });
           });
  });
}

bool same_numbers(const Outcome& a, const Outcome& b) {
  return std::ranges::equal(a.seen, b.seen, [](const HostTensor& x, const HostTensor& y) {
    return x.type == y.type && with_type(x.type.dtype, [&](auto zero) {
             using T = decltype(zero);
             return std::ranges::equal(elements_of<T>(x), elements_of<T>(y), [](T left, T right) {
               return left == right || (left != left && right != right);
             });
           });
  });
}

Report compare_all(const Program& program, const std::vector<std::vector<std::int64_t>>& meshes) {
  Report report;
  const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
  if (!one || !one->problem.empty()) {
    report.first_difference = "one rank: " + (one ? one->problem : "refused");
    return report;
  }
  for (const std::vector<std::int64_t>& sizes : meshes) {
    for (const Layout& layout : layouts_of(program, mesh_of(sizes))) {
      const std::optional<Outcome> many = run_under({&program, 1}, layout);
      if (!many) {
        ++report.refused;
        continue;
      }
      ++report.legal;
      if (report.first_difference.empty() && !many->problem.empty()) {
        report.first_difference = to_string(layout) + ": " + many->problem;
      }
      if (report.first_difference.empty() && !same_values(*one, *many)) {
        report.first_difference = to_string(layout) + ": other bits";
      }
    }
  }
  return report;
}

}  // namespace mtf::tests
