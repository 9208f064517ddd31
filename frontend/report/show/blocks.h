// The blocks that a layout cuts a tensor into, and who holds each.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout/layout.h"

namespace mtf {

// Beyond, ranks are not gone through one by one.
inline constexpr std::int64_t kMostRanksShown = 65'536;

struct Block {
  Slice slice;
  // Who holds it, in order. Of a partial sum, those of one inner list hold the terms of one sum.
  std::vector<std::vector<std::int64_t>> holders;
};

struct Blocks {
  std::vector<std::int64_t> parts;    // along each dim
  std::vector<Block> list;            // row-major, the last dim fastest
  std::vector<std::int64_t> nothing;  // ranks that hold no element
};

// requires: the mesh has at most kMostRanksShown ranks.
[[nodiscard]] Blocks blocks_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh);

// The ranks that hold what one rank holds, and those whose parts are terms of the same sum; both
// with that rank itself. For any number of ranks.
struct Replicas {
  std::vector<std::int64_t> same;
  std::vector<std::int64_t> terms;
};
[[nodiscard]] Replicas replicas_of(const ValueLayout& layout, const Mesh& mesh, std::int64_t rank);

struct Picture {
  std::string name;
  TensorType type;
  ValueLayout layout;
  Mesh mesh;
};

struct PictureOptions {
  bool ascii = false;
  bool color = false;                // of mesh axes
  std::optional<std::int64_t> rank;  // whose block is marked
  std::size_t columns = 80;
};

[[nodiscard]] std::string picture_text(const Picture& picture, const PictureOptions& options);

// "0-3", "0,4,..,508"
[[nodiscard]] std::string ranks_text(const std::vector<std::int64_t>& ranks);

}  // namespace mtf
