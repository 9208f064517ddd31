// Dims with a `*`, and the order in which they take the axes that a tensor leaves unused.

#include <algorithm>
#include <numeric>
#include <utility>

#include "lowering/search/space/space.h"

namespace mtf {

std::size_t rest_turn(const LayoutCandidate& candidate, std::size_t dim) {
  const auto found = std::ranges::find(candidate.rest_first, dim);
  const auto turn = static_cast<std::size_t>(found - candidate.rest_first.begin());
  return found == candidate.rest_first.end() ? turn + dim : turn;
}

std::vector<std::size_t> rule_order(const LayoutCandidate& candidate) {
  std::vector<std::size_t> order(candidate.rules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t dim) { return rest_turn(candidate, dim); });
  return order;
}

std::vector<std::size_t> rest_order(const LayoutCandidate& candidate) {
  std::vector<std::size_t> order = rule_order(candidate);
  std::erase_if(order, [&](std::size_t dim) { return !has(candidate.rest, dim); });
  return order;
}

LayoutCandidate with_rest_order(LayoutCandidate candidate, std::vector<std::size_t> order) {
  // Those at the end that stand by number anyway need not be named.
  while (order.size() > 1 && order[order.size() - 2] < order.back()) {
    order.pop_back();
  }
  if (!order.empty()) {
    order.pop_back();
  }
  candidate.rest_first = std::move(order);
  return candidate;
}

LayoutCandidate with_rest(LayoutCandidate candidate, DimSet rest) {
  candidate.rest = rest;
  std::vector<std::size_t> order = rest_order(candidate);
  return with_rest_order(std::move(candidate), std::move(order));
}

}  // namespace mtf
