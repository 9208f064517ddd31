// What there is to say of the answer of a search.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/driver/search/searching.h"
#include "frontend/report/why/reason.h"
#include "lowering/search/variables/variable_choices.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr std::size_t kShownOfFront = 8;

// Whether it is a place in a file, "net.mtf:18".
bool is_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < text.size() &&
         text.find(' ') == std::string_view::npos &&
         text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

// Without the places that stand in it: "… (net.mtf:18)".
std::string without_places(std::string text) {
  for (std::size_t open = text.find(" ("); open != std::string::npos;
       open = text.find(" (", open)) {
    const std::size_t close = text.find(')', open);
    const bool is_one = close != std::string::npos &&
                        is_place(std::string_view(text).substr(open + 2, close - open - 2));
    text.erase(open, is_one ? close + 1 - open : 0);
    open += is_one ? 0 : 2;
  }
  return text;
}

}  // namespace

FoundLayout Searching::found(const LayoutCandidate& candidate) {
  if (useful_flops_ == 0) {
    useful_flops_ = program_.useful_flops();
  }
  FoundLayout result{.layout = space_.layout_of(candidate),
                     .written = {},
                     .priced = pricer_.price_whole(candidate)};
  result.written = program_.written_mesh(result.layout.mesh);
  const Hardware& hardware = pricer_.hardware(candidate.mesh);
  const double possible =
      static_cast<double>(result.layout.mesh.ranks()) * hardware.flops * result.priced.seconds;
  result.utilization = possible > 0 ? useful_flops_ / possible : 0;
  return result;
}

// Of those that no other beats in time and memory as many as a table holds, spread over the whole
// range.
std::vector<const Priced*> Searching::some_of_front() const {
  std::vector<const Priced*> front = pareto_front(pricer_);
  const std::size_t shown = pricer_.work() < all_work_ ? kShownOfFront : kShownOfFront / 2;
  while (front.size() > shown) {
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
  return front;
}

namespace {

// What others beat by the plans of the whole, though not by those of samples.
void leave_out_beaten(std::vector<FoundLayout>& front, const LayoutCandidate& answer) {
  const std::vector<FoundLayout> all = front;
  const auto is_beaten = [&](const FoundLayout& one) {
    return std::ranges::any_of(all, [&one](const FoundLayout& other) {
      const auto by = std::pair(other.priced.seconds, other.priced.peak_bytes);
      const auto own = std::pair(one.priced.seconds, one.priced.peak_bytes);
      return by.first <= own.first && by.second <= own.second && by != own;
    });
  };
  std::erase_if(front, [&](const FoundLayout& one) {
    return one.priced.candidate != answer && is_beaten(one);
  });
}

}  // namespace

// The answer, and others beside it; one that turns out to be better by the plan of the whole takes
// its place.
void Searching::add_front(SearchReport& report) {
  report.front.push_back(found(answer_));
  // Not so little better that it is not worth a rule of single variables.
  const auto is_worth_it = [&](const Priced& other) {
    return !(merit_of(other, goal_) < merit_of(whole(), goal_)) ||
           VariableChoices::pays(other, whole(), goal_);
  };
  for (const Priced* priced : some_of_front()) {
    if (pricer_.work() >= all_work_ && report.front.size() > 1) {
      break;
    }
    FoundLayout other = found(priced->candidate);
    const bool is_new = std::ranges::none_of(report.front, [&other](const FoundLayout& known) {
      return known.priced.seconds <= other.priced.seconds &&
             known.priced.peak_bytes <= other.priced.peak_bytes;
    });
    if (other.priced.is_legal && is_new && is_worth_it(other.priced)) {
      answer_ = VariableChoices::pays(other.priced, whole(), goal_) ? priced->candidate : answer_;
      report.front.push_back(std::move(other));
    }
  }
  leave_out_beaten(report.front, answer_);
  std::ranges::stable_sort(report.front, {}, [](const FoundLayout& f) { return f.priced.seconds; });
  for (std::size_t i = 0; i < report.front.size(); ++i) {
    report.best = report.front[i].priced.candidate == answer_ ? i : report.best;
  }
}

// What is next best by few layers, as the plan of the whole has it; null: there is none.
const Priced* Searching::whole_runner_up(std::size_t dim) {
  const Priced* next = runner_up(dim);
  const Priced* whole = next != nullptr ? &pricer_.price_whole(next->candidate) : nullptr;
  return whole != nullptr && whole->is_legal ? whole : nullptr;
}

// … and it takes the place of the answer where it is better.
void Searching::take_runners_up() {
  const auto merit = [this](const Priced& priced) {
    const Merit all = merit_of(priced, goal_);
    return std::pair(all.excess, all.value);
  };
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    const Priced* next = whole_runner_up(d);
    answer_ = next != nullptr && merit(*next) < merit(whole()) ? next->candidate : answer_;
  }
}

void Searching::add_dims(SearchReport& report) {
  report.is_indivisible = space_.is_indivisible();
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    DimChoice choice{.dim = space_.dims()[d],
                     .here = place_text(answer_, d),
                     .is_fixed = space_.is_fixed(d),
                     .there = {}};
    if (const Priced* next = whole_runner_up(d)) {
      choice.there = place_text(next->candidate, d);
      choice.value = value_of(*next, goal_.objective);
      choice.bytes = static_cast<double>(next->peak_bytes);
    }
    choice.is_left_out = choice.there.empty() && pricer_.work() >= all_work_;
    choice.refused = choice.there.empty() ? refusal_elsewhere(d) : "";
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
      const std::string why = without_places(reasons.of(s, workspace_.sources));
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

// Of the file: where nobody said which, the first was taken.
std::vector<std::string> Searching::other_meshes() const {
  const Options& asked = workspace_.options;
  std::vector<std::string> others;
  if (asked.layout.empty() && asked.rules.empty() && asked.search.mesh.empty() &&
      !program_.makes_mesh()) {
    others = names_of(program_.meshes());
    std::erase(others, program_.declared_mesh().name);
  }
  return others;
}

SearchReport Searching::report() {
  SearchReport report{.entries = program_.entries(),
                      .hardware = pricer_.hardware(answer_.mesh).name,
                      .goal = goal_,
                      .is_declared_mesh = !program_.makes_mesh(),
                      .meshes = space_.meshes().size(),
                      .other_meshes = other_meshes(),
                      .front = {}};
  std::vector<const Priced*> legal;
  for (const auto& [candidate, priced] : pricer_.known()) {
    if (priced.is_legal) {
      legal.push_back(&priced);
    }
  }
  report.legal = legal.size();
  report.priced = pricer_.known().size();
  all_work_ = pricer_.work() + goal_.work / 3;  // for what is said beside the answer
  // What turns out to be better is the answer, beside which others stand.
  for (std::optional<LayoutCandidate> before; before != answer_;) {
    before = answer_;
    report.front.clear();
    add_front(report);
    take_runners_up();
  }
  add_dims(report);
  add_moved(report);
  for (const Priced* one : legal) {
    const Priced& priced = pricer_.closest(*one);
    report.points.push_back({.seconds = priced.seconds,
                             .peak_bytes = priced.peak_bytes,
                             .fits = merit_of(priced, goal_).fits()});
  }
  const FoundLayout& best = report.front[report.best];
  report.fits = merit_of(best.priced, goal_).fits();
  report.proof = proof(best.priced);
  return report;
}

// Whether there is one layout only, as on one rank.
bool Searching::is_only_one() const {
  bool is_one = space_.beginnings().size() == 1;
  for (std::size_t d = 0; d < space_.dims().size() && is_one; ++d) {
    is_one = space_.choices(answer_.mesh, d).size() == 1;
  }
  return is_one;
}

// Whether more could follow than was looked at: of one layout only, nothing does.
bool Searching::leaves_infer() const {
  return space_.leaves_infer() && !is_only_one();
}

// What was planned by samples is proven where they say of the answer what its whole plan does, and
// of no other that it takes too much memory while that of its whole plan may be less. The bound
// holds for the whole.
SearchProof Searching::proof(const Priced& whole) {
  constexpr double kSame = 1e-6;
  const double value = value_of(whole, goal_.objective);
  const double off = value - value_of(*result_.best, goal_.objective);
  const bool fits = merit_of(whole, goal_).fits();
  const bool is_same =
      (goal_.objective == Objective::kMemory ? off : std::abs(off)) <= kSame * value;
  const bool agrees =
      is_only_one() || (merit_of(*result_.best, goal_).fits() == fits && (!fits || is_same));
  const bool is_searched = answer_.groups.empty();  // by branch and bound
  const std::optional<Reaches> reaches =
      result_.proven && agrees && is_searched && open(*result_.proven).empty() ? result_.proven
                                                                               : std::nullopt;
  const bool is_whole = result_.is_proven && reaches;
  const auto is_let = [this](const GroupAxes& own) { return space_.groups()[own.group].lets; };
  const bool is_beyond = std::ranges::any_of(answer_.groups, is_let);  // what the bound speaks of
  // A search that closes at once has no bound of its own.
  const double bound = std::max(is_searched ? result_.bound : 0, roles_.least_of_all(goal_.memory));
  const bool is_known = bound > 0 && (value > bound || !is_beyond);
  const double beyond = is_known ? value / bound - 1 : std::numeric_limits<double>::infinity();
  return {.gap = is_whole || (value <= bound && !is_beyond) ? 0 : beyond,
          .is_whole = is_whole,
          .reaches = reaches,
          .leaves_groups = is_searched && !space_.groups().empty(),
          .leaves_lets = std::ranges::any_of(space_.groups(), &SearchSpace::Group::lets),
          .leaves_infer = leaves_infer(),
          .fits = fits,
          .least_bytes = roles_.least_memory(),
          .needed_bytes = static_cast<double>(whole.peak_bytes),
          .memory = goal_.memory};
}

std::string Searching::summary() {
  const Priced& whole = pricer_.price_whole(answer_);
  const SearchProof proof = this->proof(whole);
  return value_text(value_of(whole, goal_.objective), goal_.objective) + " predicted, " +
         (proof.fits          ? gap_text(proof)
          : proof.is_proven() ? "and it does not fit the memory of a rank: no layout does, proven"
                              : "and it does not fit the memory of a rank");
}

}  // namespace mtf
