#include "lowering/reshard/joined_axes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mtf {
namespace {

constexpr int kUnseen = -3;
constexpr int kNone = -2;  // behind the last axis of a list
constexpr int kAlone = -1;

// What comes behind each axis, or before it, in all lists that have it: always the same axis, or
// nothing to rely on.
class Neighbours {
 public:
  explicit Neighbours(std::size_t axes) : behind_(axes, kUnseen), before_(axes, kUnseen) {}

  void add(const Axes& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      note(behind_[list[i]], i + 1 < list.size() ? list[i + 1] : kNone);
      note(before_[list[i]], i > 0 ? list[i - 1] : kNone);
    }
  }
  void add(const ValueLayout& layout) {
    for (const Axes& axes : layout.dims) {
      add(axes);
    }
    add(layout.partial);
    for (const Condition& condition : layout.where) {
      add(Axes{condition.axis});
      if (condition.same) {
        add(Axes{*condition.same});
      }
    }
  }

  // The axis that is always behind it, and it before that; or none.
  [[nodiscard]] int behind(std::size_t axis) const {
    const int next = behind_[axis];
    return next >= 0 && before_[static_cast<std::size_t>(next)] == static_cast<int>(axis) ? next
                                                                                          : kAlone;
  }

 private:
  static void note(int& known, int neighbour) {
    known = known == kUnseen || known == neighbour ? neighbour : kAlone;
  }

  std::vector<int> behind_;
  std::vector<int> before_;
};

template <typename Rename>
ValueLayout renamed(ValueLayout layout, const Rename& rename) {
  for (Axes& axes : layout.dims) {
    axes = rename(axes);
  }
  layout.partial = rename(layout.partial);
  for (Condition& condition : layout.where) {
    condition.axis = rename(Axes{condition.axis}).front();
    if (condition.same) {
      condition.same = rename(Axes{*condition.same}).front();
    }
  }
  return layout;
}

}  // namespace

JoinedAxes::JoinedAxes(const Mesh& mesh, std::span<const ValueLayout* const> layouts)
    : mesh_{.name = mesh.name,
            .axes = {},
            .profile = mesh.profile,
            .span = mesh.span,
            .uneven = mesh.uneven},
      joined_(mesh.axes.size()) {
  Neighbours neighbours(mesh.axes.size());
  for (const ValueLayout* layout : layouts) {
    neighbours.add(*layout);
  }
  std::vector<char> is_behind(mesh.axes.size(), 0);
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (const int next = neighbours.behind(axis); next >= 0) {
      is_behind[static_cast<std::size_t>(next)] = 1;
    }
  }
  for (std::size_t first = 0; first < mesh.axes.size(); ++first) {
    if (is_behind[first] != 0) {
      continue;
    }
    Axes parts;
    std::int64_t size = 1;
    for (int axis = static_cast<int>(first); axis >= 0;) {
      const auto at = static_cast<std::size_t>(axis);
      joined_[at] = static_cast<AxisId>(parts_.size());
      parts.push_back(static_cast<AxisId>(axis));
      size *= mesh.axes[at].size;
      axis = neighbours.behind(at);
    }
    parts_.push_back(parts);
    mesh_.axes.push_back({.name = mesh.axes[first].name, .size = size});
  }
}

Axes JoinedAxes::joined(const Axes& axes) const {
  Axes result;
  for (const AxisId axis : axes) {
    if (axis == parts_[joined_[axis]].back()) {
      result.push_back(joined_[axis]);
    }
  }
  return result;
}

Axes JoinedAxes::parted(const Axes& axes) const {
  Axes result;
  for (const AxisId axis : axes) {
    for (const AxisId part : parts_[axis]) {
      result.push_back(part);
    }
  }
  return result;
}

ValueLayout JoinedAxes::joined(ValueLayout layout) const {
  return renamed(std::move(layout), [this](const Axes& axes) { return joined(axes); });
}

ValueLayout JoinedAxes::parted(ValueLayout layout) const {
  return renamed(std::move(layout), [this](const Axes& axes) { return parted(axes); });
}

}  // namespace mtf
