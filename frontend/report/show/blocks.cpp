#include "frontend/report/show/blocks.h"

#include <algorithm>
#include <map>

namespace mtf {
namespace {

// The axes over which a rank's place says nothing of which term of a sum it holds.
Axes without(const Mesh& mesh, const Axes& partial) {
  Axes rest;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    const auto axis = static_cast<AxisId>(i);
    if (std::ranges::find(partial, axis) == partial.end()) {
      rest.push_back(axis);
    }
  }
  return rest;
}

}  // namespace

Blocks blocks_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  Blocks result;
  std::size_t count = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    result.parts.push_back(mesh.size_of(layout.dims[d]));
    count *= static_cast<std::size_t>(result.parts.back());
  }
  result.list.resize(count);
  std::vector<std::map<std::int64_t, std::vector<std::int64_t>>> sums(count);
  const Axes others = without(mesh, layout.partial);
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      place = place * result.parts[d] + mesh.index_along(rank, layout.dims[d]);
    }
    const Slice slice = slice_of(shape, layout, mesh, rank);
    Block& block = result.list[static_cast<std::size_t>(place)];
    if (volume_of(slice) == 0) {
      result.nothing.push_back(rank);
      if (block.slice.extent.empty()) {
        block.slice = slice;
      }
      continue;
    }
    block.slice = slice;
    sums[static_cast<std::size_t>(place)][mesh.index_along(rank, others)].push_back(rank);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& [other, ranks] : sums[i]) {
      result.list[i].holders.push_back(std::move(ranks));
    }
  }
  return result;
}

Replicas replicas_of(const ValueLayout& layout, const Mesh& mesh, std::int64_t rank) {
  Axes unused;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    const auto axis = static_cast<AxisId>(i);
    const bool splits =
        std::ranges::any_of(layout.dims, [axis](const Axes& axes) { return has(axes, axis); });
    if (!splits && !has(layout.partial, axis)) {
      unused.push_back(axis);
    }
  }
  Replicas result{.same = mesh.group_of(rank, unused),
                  .terms = mesh.group_of(rank, layout.partial)};
  const auto holds_none = [&](std::int64_t other) { return !holds(layout, mesh, other); };
  std::erase_if(result.same, holds_none);
  std::erase_if(result.terms, holds_none);
  return result;
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kRun = 3;     // that is shorter as "0-2"
  constexpr std::size_t kSparse = 4;  // and as "0,2,..,6"
  constexpr std::size_t kMostPieces = 4;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    const std::int64_t step = end < ranks.size() ? ranks[end] - ranks[i] : 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == step) {
      ++end;
    }
    if (end - i < (step == 1 ? kRun : kSparse)) {
      pieces.push_back(std::to_string(ranks[i]));
      ++i;
      continue;
    }
    const std::string last = std::to_string(ranks[end - 1]);
    pieces.push_back(step == 1 ? std::to_string(ranks[i]) + "-" + last
                               : std::to_string(ranks[i]) + "," + std::to_string(ranks[i + 1]) +
                                     ",..," + last);
    i = end;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(pieces.size(), kMostPieces); ++i) {
    text += (text.empty() ? "" : ",") + pieces[i];
  }
  return pieces.size() > kMostPieces ? text + ",.. (" + std::to_string(ranks.size()) + " ranks)"
                                     : text;
}

}  // namespace mtf
