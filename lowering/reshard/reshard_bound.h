// What is sure to be received on the way from one layout to another, whatever steps lead there.
//
// A rank needs all of its slice of the target that its own slice does not cover; where some dim
// changes its axes for others (it turns), some rank has nothing of it. Of a partial sum over n
// ranks every element takes n - 1 receptions to add up, and one by each other rank that is to have
// it; where a dim turns as well, one more: the ranks that add it up are not those that are to have
// it, as sums are scattered behind the axes that a dim has.
//
// Both numbers together are consistent: no step lowers them by more than what it costs.

#pragma once

#include <cstdint>

#include "lowering/reshard/reshard.h"

namespace mtf {

class ReshardBound {
 public:
  struct Least {
    std::int64_t received = 0;
    int collectives = 0;
  };

  // `idle`: axes that neither layout names and that steps may be along all the same.
  ReshardBound(const Shape& shape, const Mesh& mesh, const ValueLayout& from, const ValueLayout& to,
               const Axes& idle);

  // From a layout on the way to the target.
  [[nodiscard]] Least at(const ValueLayout& layout) const;

 private:
  [[nodiscard]] std::int64_t received(const ValueLayout& layout, bool turns) const;
  [[nodiscard]] int collectives(const ValueLayout& layout, bool turns) const;
  [[nodiscard]] bool any_turns(const ValueLayout& layout) const;
  [[nodiscard]] bool turns(const Axes& a, const Axes& b) const;

  const Shape& shape_;
  const Mesh& mesh_;
  const ValueLayout& to_;
  std::int64_t after_;  // elements of the target's slice
  bool even_;           // and all ranks hold theirs
  std::int64_t ranks_;  // along all axes of steps
};

// On all the way, in elements.
[[nodiscard]] std::int64_t least_received(const Shape& shape, const Mesh& mesh,
                                          const ValueLayout& from, const ValueLayout& to);

}  // namespace mtf
