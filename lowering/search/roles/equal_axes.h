// Axes of one size, which are the same to what counts sizes alone: of places and loops that
// exchange two of them, one is looked at.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/layout/mesh.h"

namespace mtf {

class EqualAxes {
 public:
  EqualAxes() = default;  // none is the same as another
  explicit EqualAxes(const Mesh& mesh);

  // The same for all that exchange such axes. `places`: of each tensor, one for each axis.
  [[nodiscard]] std::string arranged(std::string places) const;
  // The axis before it that is the same, and splits everything alike; or -1.
  [[nodiscard]] std::int32_t twin(const std::string& places, std::size_t axis) const;

 private:
  std::size_t axes_ = 0;
  std::vector<Axes> groups_;
};

}  // namespace mtf
