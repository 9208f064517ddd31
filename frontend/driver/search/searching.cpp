#include "frontend/driver/search/searching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "frontend/driver/hardware_option.h"
#include "frontend/driver/progress.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/why/reason.h"
#include "ir/support/number.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr double kValuesPerSecond = 60'000;  // that a common machine plans
constexpr std::size_t kShownOfFront = 8;

Objective objective_of(const std::string& name) {
  return name == "memory"  ? Objective::kMemory
         : name == "bytes" ? Objective::kBytes
                           : Objective::kTime;
}

void multiply(Curve& curve, double factor) {
  for (auto& [size, value] : curve) {
    value *= factor;
  }
}

// With one figure some times what it is.
Hardware varied(Hardware hardware, const SearchOptions& asked) {
  const double factor = asked.factor;
  const bool is_rate = asked.sensitivity == "bandwidth";
  if (is_rate || asked.sensitivity == "latency") {
    for (Link* link : {&hardware.link, &hardware.near}) {
      (is_rate ? link->bandwidth : link->latency) *= factor;
    }
    // Measured collectives are seconds, whatever made them.
    for (MeasuredCollective& row : hardware.collectives) {
      multiply(row.seconds, is_rate ? 1 / factor : factor);
    }
  } else if (asked.sensitivity == "flops") {
    hardware.flops *= factor;
    multiply(hardware.products, factor);
  } else if (asked.sensitivity == "memory_bandwidth") {
    multiply(hardware.memory, factor);
  }
  return hardware;
}

PricerOptions pricing(const Workspace& workspace, SearchedProgram& program) {
  PricerOptions options{.ops = op_table(),
                        .exact = !workspace.options.fast,
                        .hardware =
                            [&](const Mesh& mesh) {
                              return varied(program.hardware(mesh), workspace.options.search);
                            },
                        .refuses = {}};
  if (program.expects()) {
    options.refuses = [&program](std::size_t entry, const SpmdProgram& plan) {
      return program.refusal(entry, plan);
    };
  }
  return options;
}

// Without the places in a file that stand at its end: "… (net.mtf:18)".
std::string without_place(std::string text) {
  if (text.ends_with(')')) {
    const std::size_t open = text.rfind(" (");
    if (open != std::string::npos && text.find(':', open) != std::string::npos) {
      text.resize(open);
    }
  }
  return text;
}

}  // namespace

Searching::Searching(Workspace& workspace, SearchedProgram& program)
    : workspace_(workspace),
      program_(program),
      space_(program.programs(0), program.limits()),
      pricer_(
          space_, [&program](std::size_t mesh) { return program.programs(mesh); },
          pricing(workspace, program)) {
  const SearchOptions& asked = workspace.options.search;
  goal_.objective = objective_of(asked.objective);
  goal_.memory =
      asked.memory > 0 ? static_cast<double>(asked.memory) : pricer_.hardware(0).capacity;
  goal_.work = static_cast<std::int64_t>(asked.budget * kValuesPerSecond);
  goal_.seed = asked.seed;
}

void Searching::search_once() {
  LayoutSearch search(space_, pricer_, goal_, [this](const Priced* /*best*/, std::int64_t work) {
    progress_at("search", std::min(work, goal_.work), goal_.work);
  });
  result_ = search.run();
  if (result_.best == nullptr) {
    return;
  }
  answer_ = search.simplest(*result_.best);
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds && improve(); ++round) {
    answer_ = search.simplest(pricer_.price(answer_));
  }
}

bool Searching::samples_are_true() {
  if (!pricer_.samples_layers()) {
    return true;
  }
  constexpr double kNear = 0.02;
  std::vector<LayoutCandidate> asked = rivals();
  asked.push_back(answer_);
  return std::ranges::all_of(asked, [this](const LayoutCandidate& candidate) {
    const double whole = pricer_.price_whole(candidate).seconds;
    return std::abs(pricer_.price(candidate).seconds - whole) <= kNear * whole;
  });
}

std::optional<LayoutCandidate> Searching::find(DiagSink& diags) {
  search_once();
  if (result_.best != nullptr && !samples_are_true()) {
    pricer_.stop_sampling();
    goal_.work = pricer_.work() + goal_.work;
    search_once();
  }
  if (result_.best == nullptr) {
    const auto& known = pricer_.known();
    const std::string first = known.empty() ? "there is none" : known.begin()->second.obstacle;
    diags.error(DiagKind::kLayoutConflict, space_.limits().fixed.span,
                "no layout fits this program; of the first: " + first);
    return std::nullopt;
  }
  useful_flops_ = program_.useful_flops();
  return answer_;
}

std::vector<LayoutCandidate> Searching::rivals() {
  constexpr std::size_t kMost = 5;
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    static_cast<void>(runner_up(d));
  }
  std::vector<const Priced*> known;
  for (const auto& [candidate, priced] : pricer_.known()) {
    if (priced.is_legal && candidate != answer_) {
      known.push_back(&priced);
    }
  }
  const auto better = [this](const Priced* a, const Priced* b) {
    return merit_of(*a, goal_) < merit_of(*b, goal_);
  };
  const std::size_t count = std::min(known.size(), kMost);
  std::ranges::partial_sort(known, known.begin() + static_cast<std::ptrdiff_t>(count), better);
  std::vector<LayoutCandidate> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(known[i]->candidate);
  }
  return result;
}

bool Searching::improve() {
  Merit best = merit_of(pricer_.price_whole(answer_), goal_);
  bool improved = false;
  for (const LayoutCandidate& candidate : rivals()) {
    const Priced whole = pricer_.price_whole(candidate);
    const Merit merit = merit_of(whole, goal_);
    if (whole.is_legal && merit < best) {
      best = merit;
      answer_ = candidate;
      improved = true;
    }
  }
  return improved;
}

FoundLayout Searching::found(const LayoutCandidate& candidate) {
  FoundLayout result{.layout = space_.layout_of(candidate),
                     .priced = pricer_.price_whole(candidate)};
  const Hardware& hardware = pricer_.hardware(candidate.mesh);
  result.communication = result.priced.communication;
  const double possible =
      static_cast<double>(result.layout.mesh.ranks()) * hardware.flops * result.priced.seconds;
  result.utilization = possible > 0 ? useful_flops_ / possible : 0;
  return result;
}

// The answer, and of the others as many as a table holds, spread over the whole range.
void Searching::add_front(SearchReport& report) {
  std::vector<const Priced*> front = pareto_front(pricer_);
  while (front.size() > kShownOfFront) {
    std::size_t closest = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < front.size(); ++i) {
      const double apart = static_cast<double>(front[i - 1]->peak_bytes) /
                           static_cast<double>(std::max<std::int64_t>(1, front[i + 1]->peak_bytes));
      closest = apart < least ? i : closest;
      least = std::min(least, apart);
    }
    front.erase(front.begin() + static_cast<std::ptrdiff_t>(closest));
  }
  report.front.push_back(found(answer_));
  for (const Priced* priced : front) {
    FoundLayout other = found(priced->candidate);
    const bool is_new = std::ranges::none_of(report.front, [&other](const FoundLayout& known) {
      return known.priced.seconds <= other.priced.seconds &&
             known.priced.peak_bytes <= other.priced.peak_bytes;
    });
    if (other.priced.is_legal && is_new) {
      report.front.push_back(std::move(other));
    }
  }
  const Priced priced_best = report.front.front().priced;
  std::ranges::stable_sort(report.front, {}, [](const FoundLayout& f) { return f.priced.seconds; });
  for (std::size_t i = 0; i < report.front.size(); ++i) {
    const FoundLayout& one = report.front[i];
    report.best = one.priced.candidate == priced_best.candidate ? i : report.best;
  }
}

std::string Searching::place_text(const LayoutCandidate& candidate, std::size_t dim) const {
  const Mesh& mesh = space_.meshes()[candidate.mesh];
  std::string text = to_string(mesh, candidate.rules[dim]);
  if (has(candidate.rest, dim)) {
    text += text.empty() ? "*" : ", *";
  }
  return text.empty() ? "whole" : text;
}

LayoutCandidate Searching::moved(std::size_t dim, const Axes& axes) const {
  LayoutCandidate other = answer_;
  other.rules[dim] = axes;
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    if (d != dim && has(space_.apart(dim), d) && !space_.is_fixed(d)) {
      erase_if(other.rules[d], [&axes](AxisId axis) { return has(axes, axis); });
    }
  }
  return other;
}

// The cheapest that has the dim over other axes; null: there is none.
const Priced* Searching::runner_up(std::size_t dim) {
  const Priced* next = nullptr;
  const Axes& here = answer_.rules[dim];
  for (const Axes& axes : space_.choices(answer_.mesh, dim)) {
    const bool is_same = axes.size() == here.size() &&
                         std::ranges::all_of(axes, [&](AxisId axis) { return has(here, axis); });
    const LayoutCandidate other = moved(dim, axes);
    if (is_same || !space_.is_consistent(other)) {
      continue;
    }
    const Priced& priced = pricer_.price(other);
    const bool is_better = next == nullptr || merit_of(priced, goal_) < merit_of(*next, goal_);
    next = priced.is_legal && is_better ? &priced : next;
  }
  return next;
}

void Searching::add_dims(SearchReport& report) {
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    DimChoice choice{.dim = space_.dims()[d],
                     .here = place_text(answer_, d),
                     .is_fixed = space_.is_fixed(d),
                     .there = {}};
    if (const Priced* next = runner_up(d)) {
      choice.there = place_text(next->candidate, d);
      choice.value = value_of(*next, goal_.objective);
      choice.bytes = static_cast<double>(next->peak_bytes);
    }
    report.dims.push_back(std::move(choice));
  }
}

void Searching::add_moved(SearchReport& report) {
  const Layout layout = space_.layout_of(answer_);
  const Hardware& hardware = pricer_.hardware(answer_.mesh);
  std::map<std::pair<std::string, std::string>, MovedFor> groups;
  for (const Program& program : program_.programs(answer_.mesh)) {
    DiagSink diags;
    const auto plan =
        lower_simplified(program, layout, op_table(), diags, {.exact = !workspace_.options.fast});
    if (!plan) {
      continue;
    }
    const Prices prices = price(*plan, hardware);
    const Reasons reasons(*plan);
    for (std::size_t s = 0; s < plan->steps.size(); ++s) {
      const Step& step = plan->steps[s];
      if (!is_collective(step.kind)) {
        continue;
      }
      const std::string what =
          std::string(to_string(step.kind)) + " over " + to_string(plan->mesh, step.axes);
      const std::string why = without_place(reasons.of(s, workspace_.sources));
      MovedFor& group = groups[{what, why}];
      group.what = what;
      group.why = why;
      group.calls += 1;
      group.bytes += step.bytes;
      group.seconds += prices.steps[s];
    }
  }
  for (auto& [key, group] : groups) {
    report.moved.push_back(std::move(group));
  }
  std::ranges::stable_sort(report.moved, std::greater<>(), &MovedFor::seconds);
}

SearchReport Searching::report() {
  SearchReport report{.entries = program_.entries(),
                      .hardware = pricer_.hardware(answer_.mesh).name,
                      .goal = goal_,
                      .is_declared_mesh = workspace_.options.search.ranks == 0,
                      .meshes = space_.meshes().size(),
                      .front = {}};
  for (const auto& [candidate, priced] : pricer_.known()) {
    report.legal += priced.is_legal ? 1 : 0;
    if (priced.is_legal) {
      report.points.push_back({.seconds = priced.seconds,
                               .peak_bytes = priced.peak_bytes,
                               .fits = merit_of(priced, goal_).fits()});
    }
  }
  report.priced = pricer_.known().size();
  add_front(report);
  add_dims(report);
  add_moved(report);
  const FoundLayout& best = report.front[report.best];
  report.fits = merit_of(best.priced, goal_).fits();
  // What was planned by samples is proven for them; the bound holds for the whole.
  const double value = value_of(best.priced, goal_.objective);
  const double sampled = value_of(*result_.best, goal_.objective);
  constexpr double kSame = 1e-6;
  report.is_sampled = pricer_.samples_layers();
  const bool agrees = std::abs(value - sampled) <= kSame * value;
  report.is_proven = result_.is_proven && agrees;
  report.proven = agrees ? result_.proven : std::nullopt;
  result_.is_proven = report.is_proven;
  report.gap = report.is_proven || value <= result_.bound ? 0
               : result_.bound <= 0                       ? std::numeric_limits<double>::infinity()
                                                          : value / result_.bound - 1;
  return report;
}

std::string Searching::summary() {
  const Priced whole = pricer_.price_whole(answer_);
  const double value = value_of(whole, goal_.objective);
  const double gap = result_.gap(goal_);
  return value_text(value, goal_.objective) + " predicted, " +
         (gap == 0 ? "proven"
                   : "at most " + significant(100 * gap / (1 + gap), 2) + " % less is possible") +
         (merit_of(whole, goal_).fits() ? "" : ", and it does not fit the memory of a rank");
}

}  // namespace mtf
