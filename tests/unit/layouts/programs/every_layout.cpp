#include "tests/unit/layouts/programs/every_layout.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "frontend/driver/devices/mover.h"
#include "frontend/report/lint/promise.h"
#include "lowering/lower.h"
#include "runtime/execute/count.h"
#include "runtime/execute/executor.h"
#include "stdlib/ops/table.h"

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

// "" or a step whose messages, those of all that goes in one message with it, over all ranks, are
// not those that the plan's step needs: each that is sent is received, an all-reduce brings all
// ranks together what the formula says, what is served is at most what is asked for, and of the
// others some rank receives as much as the plan says.
std::string lost_messages(const SpmdProgram& program, std::span<const Counted> ranks) {
  if (std::ssize(ranks) != program.mesh.ranks()) {
    return "";
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    Traffic all;
    std::int64_t most = 0;
    for (const Counted& rank : ranks) {
      for (std::size_t s = message_of(program, i).begin; s < message_of(program, i).end; ++s) {
        all = all + rank.steps[s];
      }
      const Traffic& one = rank.steps[i];
      most = std::max(most, step.kind == StepKind::kReduce ? one.sent : one.received);
    }
    const std::int64_t group = program.mesh.size_of(step.axes);
    const bool ring =
        step.kind != StepKind::kAllReduce || all.received == 2 * all.handed / group * (group - 1);
    // Gathers that pass in pieces are not padded.
    const bool padded = program.mesh.uneven && step.kind == StepKind::kAllGather;
    const bool as_planned =
        step.kind == StepKind::kAllReduce || padded ||
        (step.kind == StepKind::kServe ? most <= step.bytes : most == step.bytes);
    if (is_collective(step.kind) && (all.sent != all.received || !ring || !as_planned)) {
      return std::string(mtf::to_string(step.kind)) + " over " +
             mtf::to_string(program.mesh, step.axes) + ": ranks sent " + std::to_string(all.sent) +
             " bytes and received " + std::to_string(all.received) + ", one of them " +
             std::to_string(most) + " for " + std::to_string(step.bytes);
    }
  }
  return "";
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
  layout.recompute = random() % 2 == 0;
  layout.stream = random() % 2 == 0 ? 1 : static_cast<std::int64_t>(2 + random() % 7);
  return layout;
}

Layout partly_held(Layout layout, std::mt19937_64& random) {
  for (Rule& rule : layout.rules) {
    const auto axis = static_cast<AxisId>(random() % layout.mesh.axes.size());
    const std::int64_t size = layout.mesh.axes[axis].size;
    NamedCondition condition{.axis = layout.mesh.axes[axis].name, .same = {}, .at = 0};
    if (!rule.axes.empty() && random() % 3 != 0) {
      condition.same = layout.mesh.axes[rule.axes[random() % rule.axes.size()]].name;
    } else {
      condition.at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
    }
    const OrientedConditions where = oriented(layout.mesh, rule.dim, rule.axes, {&condition, 1});
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
  text += layout.recompute ? "" : "; recompute = none";
  text += layout.stream == 1 ? "" : "; stream = " + std::to_string(layout.stream);
  text += layout.mesh.uneven ? "; uneven" : "";
  return text + "] on " + mtf::to_string(layout.mesh);
}

namespace {

// To where an entry wants it: what `@` laid out otherwise comes to the next one as it is.
void bring(Executor& executor, const Layout& layout, const ValueLayout& to, RankTensor& tensor) {
  if (tensor.layout == to) {
    return;
  }
  DiagSink diags;
  const std::optional<SpmdProgram> mover =
      mover_of(tensor.type, tensor.layout, to, layout, op_table(), diags, /*exact=*/true);
  assert(mover);
  const Executable executable = executor.prepare(*mover);
  RankTensor* input = &tensor;
  std::optional<std::vector<RankTensor>> moved = executor.run(executable, {&input, 1}, {}, diags);
  assert(moved);
  tensor = std::move(moved->front());
}

}  // namespace

std::optional<Outcome> run_under(std::span<const Program> entries, const Layout& layout,
                                 RankThreads threads) {
  const auto communicator = simulated_communicator(layout.mesh.ranks());
  return run_under(entries, layout, *communicator, threads);
}

std::optional<Outcome> run_under(std::span<const Program> entries, const Layout& layout,
                                 Communicator& communicator, RankThreads threads) {
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
  Outcome outcome;
  ExecutorOptions options{.threads = threads.threads, .least_share = threads.least_share};
  options.print = [&outcome](std::string_view line) { outcome.printed.emplace_back(line); };
  Executor executor(communicator, std::move(options));
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
    for (std::size_t i = 0; i < handed_on.size(); ++i) {
      bring(executor, layout, spmd.at(spmd.inputs[i]).layout, handed_on[i]);
      inputs.push_back(&handed_on[i]);
    }
    std::vector<RankTensor*> updated;
    for (const SpmdUpdate& update : spmd.updates) {
      updated.push_back(inputs[update.input]);
    }
    const Executable executable = executor.prepare(spmd);
    DiagSink diags;
    std::optional<std::vector<RankTensor>> results =
        executor.run(executable, inputs, updated, diags);
    if (!results) {
      outcome.problem = problems(diags);
      return outcome;
    }
    for (const Counted& counted : executor.counted()) {
      const std::string found = difference_from_plan(spmd, counted);
      outcome.problem = found.empty() ? outcome.problem : "not as planned: " + found;
    }
    const std::string lost = lost_messages(spmd, executor.counted());
    outcome.problem = lost.empty() ? outcome.problem : lost;
    look_at(handed_on);  // a state has another value now
    look_at(*results);
    handed_on = *std::move(results);
  }
  return outcome;
}

namespace {

// `same` takes two elements of one type; a NaN is as good as another.
template <typename F>
bool equal_by(const Outcome& a, const Outcome& b, const F& same) {
  return std::ranges::equal(a.seen, b.seen, [&](const HostTensor& x, const HostTensor& y) {
    return x.type == y.type && with_stored(x.type.dtype, [&](auto zero) {
             using T = decltype(zero);
             return std::ranges::equal(elements_of<T>(x), elements_of<T>(y), [&](T left, T right) {
               const auto p = static_cast<double>(left);
               const auto q = static_cast<double>(right);
               return (p != p && q != q) || same(left, right);
             });
           });
  });
}

template <typename T>
double difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size() / sizeof(T); ++i) {
    T x{};
    T y{};
    std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
    const auto p = static_cast<double>(x);
    const auto q = static_cast<double>(y);
    if (std::memcmp(&x, &y, sizeof(T)) == 0 || (p != p && q != q)) {
      continue;
    }
    largest = std::max(largest, std::abs(p - q) / (1 + std::abs(q)));
  }
  return largest;
}

}  // namespace

std::string wrong_tensor(const Outcome& one, const Outcome& many) {
  for (std::size_t i = 0; i < one.seen.size(); ++i) {
    const DType dtype = one.seen[i].type.dtype;
    const std::vector<std::byte>& is = many.seen[i].data;
    const std::vector<std::byte>& was = one.seen[i].data;
    if (is.size() != was.size()) {
      return "tensor " + std::to_string(i) + " has another size";
    }
    const double gap =
        is_float(dtype)
            ? with_stored(dtype, [&](auto zero) { return difference<decltype(zero)>(is, was); })
            : 0;
    const double most =
        is_narrow(dtype) ? std::ldexp(16.0, -static_cast<int>(precision_of(dtype))) : 1e-3;
    if (!(gap < most)) {
      return "tensor " + std::to_string(i) + " differs by " + std::to_string(gap);
    }
  }
  return "";
}

bool same_values(const Outcome& a, const Outcome& b) {
  return equal_by(
      a, b, [](auto left, auto right) { return std::memcmp(&left, &right, sizeof left) == 0; });
}

bool same_numbers(const Outcome& a, const Outcome& b) {
  return equal_by(a, b, [](auto left, auto right) {
    return static_cast<double>(left) == static_cast<double>(right);
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
