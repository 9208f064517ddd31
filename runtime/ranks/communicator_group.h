// The groups of a communicator, made once per set of axes.

#pragma once

#include <map>

#include "runtime/ranks/communicator.h"

namespace mtf {

// A contiguous cut of `count` elements into as many pieces as there are ranks.
struct Pieces {
  std::int64_t count;
  std::int64_t ranks;

  [[nodiscard]] std::int64_t begin(std::int64_t i) const { return count * i / ranks; }
  [[nodiscard]] std::int64_t size(std::int64_t i) const { return begin(i + 1) - begin(i); }
};

// Knows a group by the sizes of the mesh's axes and the list of axes, alike on all ranks.
class GroupTable {
 public:
  // `fresh(group)` is called for one that did not exist.
  template <typename F>
  const Group& find(const Mesh& mesh, const Axes& axes, std::span<const std::int64_t> local_ranks,
                    F&& fresh) {
    std::vector<std::int64_t> key(axes.begin(), axes.end());
    key.push_back(-1);
    for (const MeshAxis& axis : mesh.axes) {
      key.push_back(axis.size);
    }
    const auto [place, is_new] = groups_.try_emplace(std::move(key));
    Group& group = place->second;
    if (is_new) {
      group.size = mesh.size_of(axes);
      for (const std::int64_t rank : local_ranks) {
        group.members.push_back(mesh.group_of(rank, axes));
        group.index.push_back(mesh.index_along(rank, axes));
      }
      fresh(group);
    }
    return group;
  }

 private:
  std::map<std::vector<std::int64_t>, Group> groups_;  // stable addresses
};

}  // namespace mtf
