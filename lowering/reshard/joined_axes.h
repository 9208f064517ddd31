// Axes of a mesh that stand together, taken as one. Of ten axes that a user has named, most layouts
// know two or three: a batch over the first four, heads over the next three. Then nobody need look
// at the ways to part them.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lowering/reshard/reshard.h"

namespace mtf {

// Of so many axes, every way is looked at.
inline constexpr std::size_t kMostSeparateAxes = 5;

class JoinedAxes {
 public:
  // Joins what stands one behind the other, in this order, wherever a layout has one of them.
  JoinedAxes(const Mesh& mesh, std::span<const ValueLayout* const> layouts);

  // Its axes are the joined ones, numbered by the first of each in the mesh.
  [[nodiscard]] const Mesh& mesh() const { return mesh_; }
  // requires: of each joined axis all that it is made of, in order.
  [[nodiscard]] Axes joined(const Axes& axes) const;
  [[nodiscard]] ValueLayout joined(ValueLayout layout) const;
  // The axes of the mesh again.
  [[nodiscard]] Axes parted(const Axes& axes) const;
  [[nodiscard]] ValueLayout parted(ValueLayout layout) const;

 private:
  Mesh mesh_;
  std::vector<Axes> parts_;     // of each joined axis
  std::vector<AxisId> joined_;  // of each axis of the mesh, the joined one that it is a part of
};

}  // namespace mtf
