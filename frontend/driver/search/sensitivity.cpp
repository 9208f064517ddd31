// `--sensitivity`: plans do not depend on the hardware, so that what a search planned is priced
// again.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "frontend/driver/search/questions.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr int kMostTwofold = 6;  // 1/64 … 64
constexpr std::size_t kFactors = 2 * kMostTwofold + 1;
constexpr std::size_t kKept = 3;  // of each factor, to be priced exactly

double factor_at(std::size_t number) {
  return std::ldexp(1.0, static_cast<int>(number) - kMostTwofold);
}

void multiply(Curve& curve, double factor) {
  for (auto& [size, value] : curve) {
    value *= factor;
  }
}

// With one figure some times what it is.
Hardware varied(Hardware hardware, std::string_view figure, double factor) {
  const bool is_rate = figure == "bandwidth";
  if (is_rate || figure == "latency") {
    for (Link* link : {&hardware.link, &hardware.near}) {
      (is_rate ? link->bandwidth : link->latency) *= factor;
    }
    // Measured collectives are seconds, whatever made them.
    for (MeasuredCollective& row : hardware.collectives) {
      multiply(row.seconds, is_rate ? 1 / factor : factor);
    }
  } else if (figure == "flops") {
    hardware.flops *= factor;
    multiply(hardware.products, factor);
  } else if (figure == "memory_bandwidth") {
    multiply(hardware.memory, factor);
  }
  return hardware;
}

// About what it takes where the figure is so many times what it was priced with.
double estimate(const Priced& priced, std::string_view figure, double factor) {
  const double compute = priced.seconds - priced.communication;
  return figure == "bandwidth" ? compute + priced.communication / factor
         : figure == "latency" ? compute + priced.communication * factor
                               : compute / factor + priced.communication;
}

// A layout, and the seconds that it takes at each factor.
struct Repriced {
  Merit merit;
  std::int64_t peak_bytes = 0;
  std::array<double, kFactors> seconds = {};
};
using Repricings = std::map<LayoutCandidate, Repriced>;

class Sensitivity {
 public:
  Sensitivity(const Workspace& workspace, SearchedProgram& program)
      : figure_(workspace.options.search.sensitivity),
        is_exact_(!workspace.options.fast),
        program_(program) {}

  [[nodiscard]] std::string_view figure() const { return figure_; }

  // The best that a search with the figure at `searched` planned, for each factor.
  void add(Searching& searching, double searched) {
    std::vector<const Priced*> legal;
    for (const auto& [candidate, priced] : searching.pricer().known()) {
      if (priced.is_legal) {
        legal.push_back(&priced);
      }
    }
    const std::size_t count = std::min(legal.size(), kKept);
    for (std::size_t f = 0; f < kFactors; ++f) {
      const double factor = factor_at(f) / searched;
      const auto rank = [&](const Priced* priced) {
        return std::pair(merit_of(*priced, searching.goal()).excess,
                         estimate(*priced, figure_, factor));
      };
      std::ranges::partial_sort(legal, legal.begin() + static_cast<std::ptrdiff_t>(count), {},
                                rank);
      for (std::size_t i = 0; i < count; ++i) {
        add(legal[i]->candidate, searching);
      }
    }
    add(searching.candidate(), searching);
  }

  [[nodiscard]] const Repricings::value_type* best(std::size_t factor) const {
    const Repricings::value_type* found = nullptr;
    const auto rank = [factor](const Repriced& one) {
      return std::tuple(one.merit.excess, one.seconds[factor], one.merit.rules);
    };
    for (const Repricings::value_type& one : repriced_) {
      found = found == nullptr || rank(one.second) < rank(found->second) ? &one : found;
    }
    return found;
  }

 private:
  void add(const LayoutCandidate& candidate, Searching& searching) {
    const auto [place, is_new] = repriced_.try_emplace(candidate);
    if (!is_new) {
      return;
    }
    const Layout layout = searching.space().layout_of(candidate);
    const Hardware hardware = program_.hardware(layout.mesh);
    Priced whole{.candidate = candidate, .is_legal = true, .obstacle = {}};
    for (const Program& entry : program_.programs(candidate.mesh)) {
      DiagSink diags;
      const auto plan = lower_simplified(entry, layout, op_table(), diags, {.exact = is_exact_});
      if (!plan) {  // of few layers it could be planned
        repriced_.erase(place);
        return;
      }
      whole.peak_bytes = std::max(whole.peak_bytes, plan->totals.peak_bytes);
      for (std::size_t f = 0; f < kFactors; ++f) {
        place->second.seconds[f] += price(*plan, varied(hardware, figure_, factor_at(f))).seconds();
      }
    }
    place->second.peak_bytes = whole.peak_bytes;
    place->second.merit = merit_of(whole, searching.goal());
  }

  std::string figure_;
  bool is_exact_;
  SearchedProgram& program_;
  Repricings repriced_;
};

}  // namespace

void add_sensitivity(Workspace& workspace, SearchedProgram& program, Searching& searching,
                     SearchReport& report) {
  Sensitivity sensitivity(workspace, program);
  sensitivity.add(searching, 1);
  for (const std::size_t end : {std::size_t{0}, kFactors - 1}) {
    const double factor = factor_at(end);
    Searching other(workspace, program, workspace.options.search.budget / 4,
                    [&](Hardware hardware) {
                      return varied(std::move(hardware), sensitivity.figure(), factor);
                    });
    DiagSink known;  // the search for the hardware as it is has told
    if (other.find(known)) {
      sensitivity.add(other, factor);
    }
  }
  report.varied = sensitivity.figure();
  for (std::size_t f = 0; f < kFactors; ++f) {
    const auto* best = sensitivity.best(f);
    report.sensitivity.push_back({.factor = factor_at(f),
                                  .layout = searching.space().layout_of(best->first),
                                  .seconds = best->second.seconds[f],
                                  .peak_bytes = best->second.peak_bytes});
  }
}

}  // namespace mtf
