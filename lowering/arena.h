// Offsets in one block of memory: best fit among the free gaps, gaps joined again when freed.

#pragma once

#include <cstdint>
#include <map>

namespace mtf {

class Arena {
 public:
  [[nodiscard]] std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t offset, std::int64_t bytes);
  [[nodiscard]] std::int64_t size() const { return size_; }
  // What a slice of so many bytes takes: slices start on cache lines.
  [[nodiscard]] static std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  std::map<std::int64_t, std::int64_t> gaps_;  // offset -> bytes; never two that touch
  std::int64_t size_ = 0;
};

}  // namespace mtf
