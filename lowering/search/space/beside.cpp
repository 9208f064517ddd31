// What a program computes beside its entries, as at its top level: it is not priced, and no layout
// that is illegal for it is in the space.

#include <algorithm>
#include <cstddef>

#include "lowering/search/space/space.h"

namespace mtf {

// Of dims that are searched, or have a rule: another dim is of no use to an entry.
void SearchSpace::add_sizes_beside(Sizes& sizes) const {
  for (const RuledTensor& tensor : limits_.beside) {
    for (const Dim& dim : tensor.shape.dims()) {
      if (sizes.contains(dim.name) || has_rule(dim.name)) {
        std::vector<std::int64_t>& known = sizes[dim.name];
        if (std::ranges::find(known, dim.size) == known.end()) {
          known.push_back(dim.size);
        }
      }
    }
  }
}

// Then no answer helps it.
bool SearchSpace::is_split_twice_by_fixed(const Shape& shape) const {
  Axes taken;
  for (const Rule& rule : limits_.fixed.rules) {
    for (const AxisId axis : rule.axes) {
      if (shape.find(rule.dim) != nullptr && mtf::has(taken, axis)) {
        return true;
      }
      if (shape.find(rule.dim) != nullptr) {
        taken.push_back(axis);
      }
    }
  }
  return false;
}

void SearchSpace::keep_apart_beside() {
  for (const RuledTensor& tensor : limits_.beside) {
    if (tensor.is_variable || !is_split_twice_by_fixed(tensor.shape)) {
      keep_apart(tensor);
    }
  }
}

}  // namespace mtf
