#include "lowering/unlike/rank_sum.h"

#include <algorithm>
#include <utility>

#include "lowering/unlike/rank_search.h"

namespace mtf {

RankSum::Factor RankSum::block(std::int64_t size, const Axes& axes) {
  const auto found = std::ranges::find_if(factors_, [&](const Known& known) {
    return known.of == nullptr && known.size == size && known.axes == axes;
  });
  const auto index = static_cast<std::size_t>(found - factors_.begin());
  if (found == factors_.end()) {
    factors_.push_back({.size = size, .axes = axes, .of = nullptr});
  }
  return {index};
}

RankSum::Factor RankSum::count(const Axes& axes, Count of) {
  factors_.push_back({.size = 0, .axes = axes, .of = std::move(of)});
  return {factors_.size() - 1};
}

void RankSum::add(std::int64_t scale, std::vector<Factor> product) {
  std::ranges::sort(product);
  const auto [known, is_new] = places_.try_emplace(product, products_.size());
  if (is_new) {
    products_.push_back({.scale = 0, .factors = std::move(product)});
  }
  products_[known->second].scale += scale;
}

std::int64_t RankSum::at(const Coordinates& place) const {
  std::int64_t sum = 0;
  for (const Product& product : products_) {
    std::int64_t amount = product.scale;
    for (const Factor factor : product.factors) {
      amount *= factors_[factor.index].value(mesh_, place);
    }
    sum += amount;
  }
  return sum;
}

std::optional<RankSum::Most> RankSum::most(std::size_t places) const {
  return RankSearch(*this).run(places);
}

}  // namespace mtf
