#include "lowering/price/cost.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace mtf {

std::int64_t Cost::received_bytes() const {
  std::int64_t bytes = 0;
  for (const CollectiveTotal& total : program.totals.collectives) {
    bytes += total.bytes;
  }
  return bytes;
}

double Cost::replicated() const {
  const double all = ranks() * program.totals.flops;
  return all <= useful_flops ? 0 : 1 - useful_flops / all;
}

double Cost::utilization() const {
  const double possible = ranks() * hardware.flops * prices.seconds();
  return possible == 0 ? 0 : useful_flops / possible;
}

std::vector<std::size_t> Cost::slowest(std::size_t count) const {
  std::vector<std::size_t> order(prices.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = std::min(order.size(), count);
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(shown), {},
      [this](std::size_t step) { return std::pair(-prices.steps[step], step); });
  order.resize(shown);
  return order;
}

Cost cost_of(SpmdProgram program, const Hardware& hardware, double useful_flops) {
  Cost cost{.program = std::move(program),
            .hardware = hardware,
            .prices = {},
            .peak = {},
            .terms = {},
            .collective_seconds = {},
            .useful_flops = useful_flops};
  cost.prices = price(cost.program, hardware);
  cost.peak = peak_of(cost.program);
  cost.terms = terms_of(cost.program, cost.peak);
  const Totals& totals = cost.program.totals;
  cost.collective_seconds.resize(totals.collectives.size());
  for (std::size_t i = 0; i < cost.program.steps.size(); ++i) {
    const Step& step = cost.program.steps[i];
    if (is_collective(step.kind)) {
      cost.collective_seconds[slot_of(totals, step.kind, step.axes)] += cost.prices.steps[i];
    }
  }
  return cost;
}

}  // namespace mtf
