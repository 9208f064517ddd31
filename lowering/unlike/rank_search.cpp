#include "lowering/unlike/rank_search.h"

#include <algorithm>
#include <numeric>

#include "lowering/unlike/axis_order.h"

namespace mtf {

std::size_t RankSearch::HashOfState::operator()(const State& state) const {
  std::uint64_t hash = state.size();
  for (const std::int64_t part : state) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

RankSearch::RankSearch(const RankSum& sum)
    : sum_(sum), mesh_(sum.mesh_), uses_(sum.factors_.size()) {
  std::vector<Axes> lists;
  for (const RankSum::Known& factor : sum.factors_) {
    lists.push_back(factor.axes);
  }
  order_ = order_of_axes(lists);
  axes_.resize(order_.size());
  for (std::size_t f = 0; f < sum.factors_.size(); ++f) {
    if (sum.factors_[f].of == nullptr) {
      add_block(f);
    } else {
      add_count(f);
    }
  }
  products_at_ = begin_.size();
  for (std::size_t p = 0; p < sum.products_.size(); ++p) {
    add_product(p);
  }
  places_at_ = begin_.size();
  begin_.resize(places_at_ + mesh_.axes.size());
  for (std::size_t step = 0; step < axes_.size(); ++step) {
    axes_[step].axis = order_[step];
    close_places(step);
    find_kinds(axes_[step]);
  }
}

std::size_t RankSearch::step_of(AxisId axis) const {
  return static_cast<std::size_t>(std::ranges::find(order_, axis) - order_.begin());
}

std::size_t RankSearch::last_step(const Axes& axes) const {
  std::size_t last = 0;
  for (const AxisId axis : axes) {
    last = std::max(last, step_of(axis));
  }
  return last;
}

void RankSearch::add_block(std::size_t factor) {
  const RankSum::Known& block = sum_.factors_[factor];
  BlockCuts cuts = cuts_of(mesh_, block.size, block.axes, order_, begin_.size());
  begin_.insert(begin_.end(), cuts.kept.begin(), cuts.kept.end());
  for (BlockCut& cut : cuts.cuts) {
    AxisWork& work = axes_[cut.step];
    work.cuts.push_back({.factor = factor, .how = std::move(cut)});
  }
}

void RankSearch::add_count(std::size_t factor) {
  const Axes& axes = sum_.factors_[factor].axes;
  if (axes.empty()) {
    return;
  }
  const std::size_t last = last_step(axes);
  axes_[last].counts.push_back(factor);
  for (const AxisId axis : axes) {
    AxisWork& work = axes_[step_of(axis)];
    work.told_apart = work.told_apart || axes.size() > 1;
    closed_.at(axis) = std::max(closed_.at(axis), last);
  }
}

void RankSearch::add_product(std::size_t product) {
  std::size_t last = 0;
  bool is_constant = true;
  std::int64_t amount = sum_.products_[product].scale;
  for (const RankSum::Factor factor : sum_.products_[product].factors) {
    const Axes& axes = sum_.factors_[factor.index].axes;
    amount *= axes.empty() ? value(factor.index, {}) : 1;
    is_constant = is_constant && axes.empty();
    last = std::max(last, last_step(axes));
    uses_[factor.index].push_back(product);
  }
  begin_.push_back(is_constant ? 0 : amount);
  if (is_constant) {
    constant_ += amount;
  } else {
    axes_[last].products.push_back(product);
  }
}

void RankSearch::close_places(std::size_t step) {
  AxisWork& work = axes_[step];
  work.kept = closed_.at(work.axis) > step;
  for (std::size_t before = 0; before < step; ++before) {
    if (closed_.at(order_[before]) == step) {
      work.closed.push_back(order_[before]);
    }
  }
}

void RankSearch::find_kinds(AxisWork& work) {
  if (work.told_apart || work.counts.empty()) {
    return;
  }
  std::unordered_map<State, Kind, HashOfState> kinds;
  Coordinates at = {};
  for (std::int64_t& place = at.at(work.axis); place < mesh_.axes[work.axis].size; ++place) {
    State counts;
    for (const std::size_t factor : work.counts) {
      counts.push_back(value(factor, at));
    }
    kinds[std::move(counts)].push_back(place);
  }
  for (auto& [counts, kind] : kinds) {
    work.kinds.push_back(std::move(kind));
  }
}

std::optional<RankSum::Most> RankSearch::run(std::size_t places) {
  Leaders leaders;
  leaders.emplace(begin_, Leader{.amount = constant_, .at = {}});
  for (const AxisWork& work : axes_) {
    Leaders next;
    for (const auto& [state, leader] : leaders) {
      for (const std::int64_t place : unlike_places(work, state)) {
        go_on(work, state, leader, place, next);
      }
      if (next.size() > places) {
        return std::nullopt;
      }
    }
    leaders = std::move(next);
  }
  const Leader& most = leaders.begin()->second;
  return RankSum::Most{.amount = most.amount, .rank = mesh_.rank_at(most.at)};
}

// One of each kind of places along the axis: whole parts of a block are alike, and so are those
// behind its end.
std::vector<std::int64_t> RankSearch::unlike_places(const AxisWork& work,
                                                    const State& state) const {
  const std::int64_t size = mesh_.axes[work.axis].size;
  std::vector<std::int64_t> begins = {0};
  if (work.told_apart) {
    begins.resize(static_cast<std::size_t>(size));
    std::iota(begins.begin(), begins.end(), std::int64_t{0});
    return begins;
  }
  for (const Cut& cut : work.cuts) {
    for (std::size_t i = 0; i < cut.how.count && cut.how.width > 0; ++i) {
      const std::int64_t whole = state[cut.how.first + i] / cut.how.width;
      begins.insert(begins.end(), {whole, whole + 1});
    }
  }
  std::ranges::sort(begins);
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  begins.erase(std::ranges::lower_bound(begins, size), begins.end());
  if (work.kinds.empty()) {
    return begins;
  }
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::int64_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    for (const Kind& kind : work.kinds) {
      const auto first = std::ranges::lower_bound(kind, begins[i]);
      if (first != kind.end() && *first < end) {
        places.push_back(*first);
      }
    }
  }
  return places;
}

void RankSearch::go_on(const AxisWork& work, const State& state, const Leader& leader,
                       std::int64_t place, Leaders& next) {
  next_state_ = state;
  Leader one = leader;
  one.at.at(work.axis) = place;
  for (const Cut& cut : work.cuts) {
    shorten(cut, state, place);
  }
  for (const std::size_t factor : work.counts) {
    multiply(factor, value(factor, one.at));
  }
  for (const std::size_t product : work.products) {
    one.amount += std::exchange(next_state_[products_at_ + product], 0);
  }
  next_state_[places_at_ + work.axis] = work.kept ? place : 0;
  for (const AxisId axis : work.closed) {
    next_state_[places_at_ + axis] = 0;
  }
  const auto [known, is_new] = next.try_emplace(next_state_, one);
  if (!is_new && one.is_before(known->second)) {
    known->second = one;
  }
}

void RankSearch::shorten(const Cut& cut, const State& state, std::int64_t place) {
  const BlockCut& how = cut.how;
  for (std::size_t i = how.first; i < how.first + how.count; ++i) {
    next_state_[i] = how.cut(state[i], place, state);
  }
  std::fill_n(next_state_.begin() + static_cast<std::ptrdiff_t>(how.behind), how.left.size(), 0);
  if (how.last) {
    multiply(cut.factor, std::exchange(next_state_[how.first], 0));
  }
}

void RankSearch::multiply(std::size_t factor, std::int64_t by) {
  for (const std::size_t product : uses_[factor]) {
    next_state_[products_at_ + product] *= by;
  }
}

}  // namespace mtf
