#include "lowering/layout/holders.h"

#include <algorithm>
#include <cassert>

namespace mtf {

const Condition* condition_on(const ValueLayout& layout, AxisId axis) {
  const auto found = std::ranges::find(layout.where, axis, &Condition::axis);
  return found == layout.where.end() ? nullptr : &*found;
}

bool is_compared(const ValueLayout& layout, AxisId axis) {
  return std::ranges::find(layout.where, axis, &Condition::same) != layout.where.end();
}

ValueLayout turned_to(ValueLayout layout, AxisId axis) {
  const Condition* turned = condition_on(layout, axis);
  assert(turned != nullptr && turned->same);
  const AxisId before = *turned->same;
  for (Axes& axes : layout.dims) {
    std::ranges::replace(axes, before, axis);
  }
  for (Condition& condition : layout.where) {
    if (condition.axis == axis) {
      condition = {.axis = before, .same = axis};
    } else if (condition.same == before) {
      condition.same = axis;
    }
  }
  std::ranges::sort(layout.where);
  return layout;
}

ValueLayout normal(ValueLayout layout) {
  const auto misspelt = [&layout] {
    return std::ranges::find_if(layout.where,
                                [](const Condition& c) { return c.same && c.axis < *c.same; });
  };
  for (auto found = misspelt(); found != layout.where.end(); found = misspelt()) {
    layout = turned_to(layout, found->axis);
  }
  return layout;
}

ValueLayout spread_over(ValueLayout layout, AxisId axis) {
  if (condition_on(layout, axis) == nullptr) {
    const auto other = std::ranges::find(layout.where, axis, &Condition::same);
    assert(other != layout.where.end());
    layout = turned_to(layout, other->axis);
  }
  std::erase_if(layout.where, [axis](const Condition& c) { return c.axis == axis; });
  return layout;
}

}  // namespace mtf
