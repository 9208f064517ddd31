#include "lowering/unlike/axis_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

namespace mtf {
namespace {

using AxisSet = std::uint32_t;

constexpr AxisSet only(AxisId axis) {
  return AxisSet{1} << axis;
}

class Ordering {
 public:
  explicit Ordering(std::span<const Axes> lists) {
    std::set<AxisSet> sets;
    for (const Axes& list : lists) {
      AxisSet before = 0;
      for (const AxisId axis : list) {
        before_.at(axis) |= before;
        before |= only(axis);
      }
      sets.insert(before);
      left_ |= before;
    }
    sets_.assign(sets.begin(), sets.end());
  }

  Axes run() {
    Axes order;
    while (left_ != 0) {
      const AxisId axis = next();
      order.push_back(axis);
      left_ &= ~only(axis);
      begun_ |= only(axis);
    }
    return order;
  }

 private:
  [[nodiscard]] AxisId next() const {
    AxisSet ready = 0;
    for (AxisId axis = 0; axis < kMaxAxes; ++axis) {
      const bool is_ready = (left_ & only(axis)) != 0 && (left_ & before_.at(axis)) == 0;
      ready |= is_ready ? only(axis) : 0;
    }
    ready = ready != 0 ? ready : left_;
    auto best = static_cast<AxisId>(std::countr_zero(ready));
    for (AxisId axis = best; axis < kMaxAxes; ++axis) {
      if ((ready & only(axis)) != 0 && more_begun(axis) < more_begun(best)) {
        best = axis;
      }
    }
    return best;
  }

  // Of the sets that have the axis, those that it begins less those that it ends.
  [[nodiscard]] int more_begun(AxisId axis) const {
    int more = 0;
    for (const AxisSet set : sets_) {
      if ((set & only(axis)) != 0) {
        more += (set & begun_) == 0 ? 1 : 0;
        more -= (set & left_) == only(axis) ? 1 : 0;
      }
    }
    return more;
  }

  std::vector<AxisSet> sets_;
  std::array<AxisSet, kMaxAxes> before_ = {};  // of each axis, those that a list has before it
  AxisSet left_ = 0;
  AxisSet begun_ = 0;
};

}  // namespace

Axes order_of_axes(std::span<const Axes> lists) {
  return Ordering(lists).run();
}

}  // namespace mtf
