// Copies between a box of a row-major tensor and a contiguous block, in runs that are contiguous in
// both.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mtf {

class BoxCopy {
 public:
  BoxCopy() = default;
  // A box of `extent` inside a tensor of `whole`, elements of `width` bytes.
  BoxCopy(std::span<const std::int64_t> whole, std::span<const std::int64_t> extent,
          std::int64_t width);

  [[nodiscard]] std::int64_t run_bytes() const { return run_; }
  [[nodiscard]] std::int64_t block_bytes() const { return runs_ * run_; }
  [[nodiscard]] bool is_contiguous() const { return runs_ == 1; }
  // Where in the tensor a box with its first corner at `corner` begins, in bytes.
  [[nodiscard]] std::int64_t start_of(std::span<const std::int64_t> corner) const;

  // Bytes begin..end of the block, from or to the box that begins at `start`. requires: both are
  // multiples of run_bytes(). `block` points at byte `begin`.
  void pack(const std::byte* tensor, std::int64_t start, std::int64_t begin, std::int64_t end,
            std::byte* block) const;
  void unpack(const std::byte* block, std::int64_t start, std::int64_t begin, std::int64_t end,
              std::byte* tensor) const;

 private:
  template <typename Copy>
  void each_row(std::int64_t begin, std::int64_t end, Copy&& copy) const;

  std::int64_t run_ = 0;
  std::int64_t runs_ = 1;
  std::vector<std::int64_t> counts_;   // outer dims of the box, a run's own dims left out
  std::vector<std::int64_t> strides_;  // in the tensor, in bytes
  std::vector<std::int64_t> all_strides_;
};

}  // namespace mtf
