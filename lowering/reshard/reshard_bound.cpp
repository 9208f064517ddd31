#include "lowering/reshard/reshard_bound.h"

#include <algorithm>

#include "lowering/reshard/reshard_moves.h"

namespace mtf {

ReshardBound::ReshardBound(const Shape& shape, const Mesh& mesh, const ValueLayout& from,
                           const ValueLayout& to, const Axes& idle)
    : shape_(shape),
      mesh_(mesh),
      to_(to),
      after_(local_elements(shape, mesh, to.dims)),
      even_(!mesh.uneven && from.where.empty() && to.where.empty()),
      ranks_(mesh.size_of(idle)) {
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (has(from.partial, axis) || splits_by(from, axis) || splits_by(to, axis)) {
      ranks_ *= mesh.axes[a].size;
    }
  }
}

ReshardBound::Least ReshardBound::at(const ValueLayout& layout) const {
  const bool turns = even_ && any_turns(layout);
  const std::int64_t left = received(layout, turns);
  return {.received = left, .collectives = left > 0 ? collectives(layout, turns) : 0};
}

std::int64_t ReshardBound::received(const ValueLayout& layout, bool turns) const {
  if (const std::int64_t terms = mesh_.size_of(layout.partial); terms > 1) {
    const double each = static_cast<double>(shape_.volume()) / static_cast<double>(ranks_);
    const std::int64_t others = turns ? terms - 1 : terms - 2;
    return after_ + (even_ ? static_cast<std::int64_t>(each * static_cast<double>(others)) : 0);
  }
  if (turns) {
    return after_;
  }
  std::int64_t covered = 1;
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    covered *= std::min(mesh_.longest_part(shape_[d].size, layout.dims[d]),
                        mesh_.longest_part(shape_[d].size, to_.dims[d]));
  }
  return after_ - covered;
}

// A dim that turns into fewer slices takes a permute, which leaves their number, and an exchange. A
// sum is finished before that. With so few elements received as the bound says, more than two terms
// are scattered over all ranks, whose slices are then too many.
int ReshardBound::collectives(const ValueLayout& layout, bool turns) const {
  if (!turns) {
    return 1;
  }
  const std::int64_t terms = mesh_.size_of(layout.partial);
  if (terms == 1) {
    for (std::size_t d = 0; d < layout.dims.size(); ++d) {
      if (mesh_.size_of(layout.dims[d]) > mesh_.size_of(to_.dims[d])) {
        return 2;
      }
    }
    return 1;
  }
  std::int64_t wanted = 1;
  for (const Axes& axes : to_.dims) {
    wanted *= mesh_.size_of(axes);
  }
  const bool scatters = terms > 2 && ranks_ > wanted && shape_.volume() % ranks_ == 0;
  return scatters ? 3 : 2;
}

bool ReshardBound::any_turns(const ValueLayout& layout) const {
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    if (turns(layout.dims[d], to_.dims[d])) {
      return true;
    }
  }
  return false;
}

// Axes of one rank split nothing.
bool ReshardBound::turns(const Axes& a, const Axes& b) const {
  const auto is_split = [this](AxisId axis) { return mesh_.axes[axis].size > 1; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    while (i < a.size() && !is_split(a[i])) {
      ++i;
    }
    while (j < b.size() && !is_split(b[j])) {
      ++j;
    }
    if (i == a.size() || j == b.size()) {
      return false;
    }
    if (a[i++] != b[j++]) {
      return true;
    }
  }
}

std::int64_t least_received(const Shape& shape, const Mesh& mesh, const ValueLayout& from,
                            const ValueLayout& to) {
  return from == to || !to.reach.empty()
             ? 0
             : ReshardBound(shape, mesh, from, to, idle_axes(mesh, from, to)).at(from).received;
}

}  // namespace mtf
