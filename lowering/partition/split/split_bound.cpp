// An axis that splits a dim of a tensor, and another or none in the layout that is needed, leaves a
// rank with no more than its share of the slice that it needs: on the average over the ranks along
// the axis, and so for some rank.

#include "lowering/partition/split/split_bound.h"

#include <algorithm>
#include <limits>

namespace mtf {

TensorBound::TensorBound(const TensorType& type, const DimMap& map,
                         std::span<const ValueLayout* const> forms, const IterationSpace& space,
                         const Mesh& mesh, bool is_windowed)
    : space_(space),
      mesh_(mesh),
      reads_(space.loops.size(), 0),
      elements_(static_cast<double>(type.shape.volume())),
      width_(static_cast<double>(bytes_of(type.dtype))),
      is_exact_(!mesh.uneven) {
  for (const std::vector<std::size_t>& factors : map) {
    for (const std::size_t loop : factors) {
      reads_[loop] = 1;
    }
  }
  for (const ValueLayout* layout : forms) {
    is_exact_ = is_exact_ && !is_windowed && layout->where.empty() && layout->partial.empty();
    Form& form = forms_.emplace_back();
    form.loops.resize(mesh.axes.size());
    form.has.resize(mesh.axes.size(), 0);
    form.after = elements_;
    for (const Axes& axes : layout->dims) {
      for (const AxisId axis : axes) {
        form.has[axis] = 1;
        form.after /= static_cast<double>(mesh.axes[axis].size);
      }
    }
    const std::vector<Axes> loops = project(map, *layout, space, mesh);
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : loops[l]) {
        form.loops[axis] = l;
      }
    }
  }
}

double TensorBound::operand(std::span<const AxisId> axes, std::span<const LoopOf> loops) const {
  if (!is_exact_) {
    return 0;
  }
  double needed = elements_;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool undecided = i >= loops.size();
    if (undecided || (loops[i] && reads_[*loops[i]] != 0)) {
      needed /= static_cast<double>(mesh_.axes[axes[i]].size);
    }
  }
  double least = std::numeric_limits<double>::max();
  for (const Form& form : forms_) {
    double lost = 1;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (form.has[axes[i]] != 0 && (!form.loops[axes[i]] || form.loops[axes[i]] != loops[i])) {
        lost *= static_cast<double>(mesh_.axes[axes[i]].size);
      }
    }
    least = std::min(least, needed * (1 - 1 / lost));
  }
  return least * width_;
}

double TensorBound::result(std::span<const AxisId> axes, std::span<const LoopOf> loops) const {
  if (!is_exact_) {
    return 0;
  }
  const Form& wanted = forms_.front();
  double lost = 1;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (!loops[i] || mesh_.axes[axes[i]].size == 1) {
      continue;
    }
    const DimRole role = space_.loops[*loops[i]].role;
    if (role == DimRole::kReduced || role == DimRole::kServed) {
      return wanted.after * width_;  // all of it is received, as terms of the sum or as asked for
    }
    if (reads_[*loops[i]] != 0 && wanted.loops[axes[i]] != loops[i]) {
      lost *= static_cast<double>(mesh_.axes[axes[i]].size);
    }
  }
  return wanted.after * (1 - 1 / lost) * width_;
}

}  // namespace mtf
