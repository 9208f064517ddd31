// The blocks that a layout cuts a tensor into, and who holds each.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/layout/layout.h"

namespace mtf {

// Beyond, ranks are not gone through one by one.
inline constexpr std::int64_t kMostRanksShown = 65'536;

struct Block {
  Slice slice;
  // Who holds it, in order. Of a pending sum, those of one inner list hold the terms of one sum.
  std::vector<std::vector<std::int64_t>> holders;
};

struct Blocks {
  std::vector<std::int64_t> parts;    // along each dim
  std::vector<Block> list;            // row-major, the last dim fastest
  std::vector<std::int64_t> nothing;  // ranks that hold no element
};

// requires: the mesh has at most kMostRanksShown ranks.
[[nodiscard]] Blocks blocks_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh);

struct Picture {
  std::string name;
  TensorType type;
  ValueLayout layout;
  Mesh mesh;
};

struct PictureOptions {
  bool ascii = false;
  std::optional<std::int64_t> rank;  // whose block is marked
  std::size_t columns = 80;
};

[[nodiscard]] std::string picture_text(const Picture& picture, const PictureOptions& options);
[[nodiscard]] std::string picture_json(const Picture& picture);
[[nodiscard]] std::string pictures_json(std::span<const Picture> pictures);

// "0-3", "0,4,..,508"
[[nodiscard]] std::string ranks_text(const std::vector<std::int64_t>& ranks);

}  // namespace mtf
