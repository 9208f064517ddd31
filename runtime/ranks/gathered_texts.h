// The texts of all ranks, one behind the other, as MPI gathers them.
//
// MPI counts in `int`. What is too long for that is refused before any of it is sent, by all ranks,
// which all know the lengths.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

struct TextPlaces {
  std::vector<int> begins;
  std::vector<int> lengths;
  std::size_t bytes = 0;  // of all together
};

// Throws a `Failure` where MPI cannot count them.
[[nodiscard]] TextPlaces text_places(std::span<const std::int64_t> lengths);
[[nodiscard]] std::vector<std::string> texts_at(const TextPlaces& places, std::string_view all);

}  // namespace mtf
