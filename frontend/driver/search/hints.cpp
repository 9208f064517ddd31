// What one search found, as a candidate of another: dims by name, axes by place.

#include "frontend/driver/search/searching.h"

namespace mtf {
namespace {

DimSet dims_in(const SearchSpace& here, const SearchSpace& there, DimSet dims) {
  DimSet result = 0;
  for (std::size_t d = 0; d < there.dims().size(); ++d) {
    const std::optional<std::size_t> dim = here.find(there.dims()[d]);
    result |= dim && has(dims, d) ? only(*dim) : 0;
  }
  return result;
}

void take_rules(const SearchSpace& here, const SearchSpace& there, const LayoutCandidate& from,
                LayoutCandidate& hint) {
  const Mesh& mesh = here.meshes()[hint.mesh];
  const auto splits_nothing = [&](AxisId axis) { return mesh.axes[axis].size == 1; };
  for (std::size_t d = 0; d < from.rules.size(); ++d) {
    const std::optional<std::size_t> dim = here.find(there.dims()[d]);
    if (dim && !here.is_fixed(*dim)) {
      hint.rules[*dim] = from.rules[d];
      erase_if(hint.rules[*dim], splits_nothing);
    }
  }
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (from.variables[a] != kAsRules && mesh.axes[a].size > 1) {
      hint.variables[a] = dims_in(here, there, from.variables[a]);
    }
  }
}

}  // namespace

void Searching::take_hints(const Searching& other) {
  const LayoutCandidate& from = other.answer_;
  if (other.space_.axes() != space_.axes()) {
    return;
  }
  for (std::size_t m = 0; m < space_.meshes().size(); ++m) {
    LayoutCandidate hint = space_.unsplit(m);
    take_rules(space_, other.space_, from, hint);
    hint.rest = dims_in(space_, other.space_, from.rest);
    hint.again = from.again;
    hint.stream = from.stream;
    if (space_.is_consistent(hint)) {
      hints_.push_back(std::move(hint));
    }
  }
}

}  // namespace mtf
