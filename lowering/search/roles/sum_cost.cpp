// What it costs to bring a sum together that ranks have parts of.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "lowering/search/roles/role_cost.h"
#include "lowering/steps/bucket.h"

namespace mtf {

void RoleCost::add_reduced(const RoleOperation& operation, std::int8_t at, AxisId axis,
                           Sum& sum) const {
  const bool is_scattered = counts_ == Counts::kUnavoidable && operation.is_narrowed;
  const bool is_whole = (at == kNowhere || at == kOnTheWay) && !is_scattered;
  (is_whole ? sum.whole : sum.scattered).push_back(axis);
  if (at == kUnknown || is_scattered) {
    sum.unsure.push_back(axis);
  }
}

RoleCost::Sum RoleCost::sum_of(const RoleOperation& operation, const std::string& places,
                               const Loops& loops) const {
  const std::size_t last = operation.tensors.size() - 1;
  const RoleOperand& result = operation.tensors[last];
  Sum sum{.bytes = operations_.tensor(result.tensor).bytes,
          .scattered = {},
          .whole = {},
          .gathered = {},
          .exchanged = {},
          .idle = {},
          .unsure = {}};
  for (std::size_t a = 0; a < loops.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    const std::int8_t at = place(places, last, a);
    if (loops[a] < 0) {
      sum.idle.push_back(axis);
      continue;
    }
    if (operation.reduced[static_cast<std::size_t>(loops[a])] != 0) {
      add_reduced(operation, at, axis, sum);
      continue;
    }
    sum.bytes /= static_cast<double>(mesh_.axes[a].size);
    if (at == kNowhere) {
      sum.gathered.push_back(axis);
    } else if (at >= 0 && result.loops[static_cast<std::size_t>(at)] != loops[a]) {
      sum.exchanged.push_back(axis);
    }
  }
  return sum;
}

// The sum of what the ranks along its loops have of it, brought to where the result is to be. Ranks
// that have the same terms may add up a part of them each, and gather the sums.
double RoleCost::summing(const RoleOperation& operation, const Sum& sum) const {
  const double scattered = ranks(sum.scattered);
  const double whole = ranks(sum.whole);
  const double idle = ranks(sum.idle);
  if ((operation.stays_partial && scattered * whole > 1) || mesh_.uneven) {
    return 0;
  }
  const double bytes = sum.bytes / scattered;
  const double least = bytes * (2 * (1 - 1 / whole) / idle + (1 - 1 / idle)) -
                       rounded_off(operation, bytes, sum.whole, idle);
  const double reduced = whole > 1 ? std::max(0.0, least) : 0;
  const double received = sum.bytes - bytes + reduced;
  // A short all-reduce may go in a message that others pay for.
  const bool is_alone = bytes > static_cast<double>(kLongestPacked);
  const double hops =
      this->hops(sum.scattered) + (is_alone ? 2 * this->hops(sum.whole) : -this->hops(sum.unsure));
  return received == 0 ? 0 : moving(received, hops);
}

// What all-reduces over these axes, or over one after the other, of so many bytes of the result in
// so many parts may receive less than their share: of each, less than an element. What is brought
// together elsewhere may be of any number of elements.
double RoleCost::rounded_off(const RoleOperation& operation, double bytes, const Axes& axes,
                             double parts) const {
  constexpr double kWidest = 8;
  const RoleTensor& result = operations_.tensor(operation.tensors.back().tensor);
  const double elements =
      std::accumulate(result.sizes.begin(), result.sizes.end(), 1.0, std::multiplies<>());
  const double width = operation.stays_partial ? kWidest : result.bytes / elements;
  const bool is_even =
      !operation.stays_partial && std::fmod(2 * bytes / width, ranks(axes) * parts) == 0;
  return is_even ? 0 : width * static_cast<double>(axes.size());
}

// Of a gather over these axes, or of the half of an all-reduce: of one axis after the other they
// are fewest.
double RoleCost::hops(const Axes& axes) const {
  double result = 0;
  for (const AxisId axis : axes) {
    result += static_cast<double>(mesh_.axes[axis].size - 1);
  }
  return result;
}

double RoleCost::likely_summing(const Sum& sum) const {
  const double bytes = sum.bytes / ranks(sum.scattered);
  return likely_moving(StepKind::kReduceScatter, sum.bytes - bytes, sum.scattered) +
         likely_moving(StepKind::kAllReduce, 2 * bytes * (1 - 1 / ranks(sum.whole)), sum.whole) +
         likely_moving(StepKind::kAllToAll, bytes * (1 - 1 / ranks(sum.exchanged)), sum.exchanged) +
         likely_moving(StepKind::kAllGather, bytes * (ranks(sum.gathered) - 1), sum.gathered);
}

}  // namespace mtf
