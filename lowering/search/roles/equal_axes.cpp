#include "lowering/search/roles/equal_axes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace mtf {

EqualAxes::EqualAxes(const Mesh& mesh) : axes_(mesh.axes.size()) {
  std::map<std::int64_t, Axes> by_size;
  for (std::size_t a = 0; a < axes_; ++a) {
    by_size[mesh.axes[a].size].push_back(static_cast<AxisId>(a));
  }
  for (auto& [size, axes] : by_size) {
    if (axes.size() > 1) {
      groups_.push_back(std::move(axes));
    }
  }
}

std::string EqualAxes::arranged(std::string places) const {
  const auto column = [&](AxisId axis) {
    std::string result;
    for (std::size_t at = axis; at < places.size(); at += axes_) {
      result += places[at];
    }
    return result;
  };
  for (const Axes& same : groups_) {
    std::vector<std::string> columns;
    std::ranges::transform(same, std::back_inserter(columns), column);
    std::ranges::sort(columns);
    for (std::size_t i = 0; i < same.size(); ++i) {
      for (std::size_t t = 0; t < columns[i].size(); ++t) {
        places[t * axes_ + same[i]] = columns[i][t];
      }
    }
  }
  return places;
}

std::int32_t EqualAxes::twin(const std::string& places, std::size_t axis) const {
  std::int32_t before = -1;
  for (const Axes& same : groups_) {
    for (std::size_t i = 1; i < same.size(); ++i) {
      before = same[i] == static_cast<AxisId>(axis) ? same[i - 1] : before;
    }
  }
  const auto differs = [&](std::size_t row) {
    return places[row + axis] != places[row + static_cast<std::size_t>(before)];
  };
  for (std::size_t row = 0; before >= 0 && row < places.size(); row += axes_) {
    before = differs(row) ? -1 : before;
  }
  return before;
}

}  // namespace mtf
