// In which order axes are best gone through one by one, when things depend on lists of them.

#pragma once

#include <span>

#include "ir/layout/mesh.h"

namespace mtf {

// All axes of the lists, each once: in the order of each list, unless lists contradict each other,
// and so that few lists are begun and not ended at a time.
[[nodiscard]] Axes order_of_axes(std::span<const Axes> lists);

}  // namespace mtf
