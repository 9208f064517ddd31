#include "lowering/reshard/reshard_parts.h"

#include <vector>

namespace mtf {
namespace {

std::vector<std::int64_t> prime_factors(std::int64_t size) {
  std::vector<std::int64_t> factors;
  for (std::int64_t factor = 2; factor * factor <= size; ++factor) {
    for (; size % factor == 0; size /= factor) {
      factors.push_back(factor);
    }
  }
  if (size > 1 || factors.empty()) {
    factors.push_back(size);
  }
  return factors;
}

Axes in_parts(const Axes& axes, const std::vector<Axes>& parts) {
  Axes result;
  for (const AxisId axis : axes) {
    result.insert(result.end(), parts[axis].begin(), parts[axis].end());
  }
  return result;
}

ValueLayout in_parts(ValueLayout layout, const std::vector<Axes>& parts) {
  for (Axes& axes : layout.dims) {
    axes = in_parts(axes, parts);
  }
  layout.partial = in_parts(layout.partial, parts);
  return layout;
}

}  // namespace

std::optional<std::int64_t> received_in_parts(const Shape& shape, const Mesh& mesh,
                                              const ValueLayout& from, const ValueLayout& to) {
  constexpr std::size_t kMostParts = 8;
  Mesh cut = mesh;
  cut.axes.clear();
  std::vector<Axes> parts;  // of each axis
  for (const MeshAxis& axis : mesh.axes) {
    parts.emplace_back();
    for (const std::int64_t factor : prime_factors(axis.size)) {
      parts.back().push_back(static_cast<AxisId>(cut.axes.size()));
      cut.axes.push_back(axis);
      cut.axes.back().size = factor;
    }
  }
  const bool is_plain = !mesh.uneven && from.where.empty() && to.where.empty();
  if (!is_plain || cut.axes.size() == mesh.axes.size() || cut.axes.size() > kMostParts) {
    return std::nullopt;
  }
  Resharder resharder(cut);
  return resharder.received(shape, in_parts(from, parts), in_parts(to, parts));
}

}  // namespace mtf
