// Boxes are walked row by row: the innermost of the outer dims is a strided loop over runs.

#include "runtime/exchange/box.h"

#include <algorithm>
#include <cstring>

namespace mtf {
namespace {

// Copies `count` runs; sizes that are single registers get no call per run.
template <std::int64_t kRun>
void copy_fixed(std::int64_t count, std::byte* to, std::int64_t to_step, const std::byte* from,
                std::int64_t from_step) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, kRun);
  }
}

void copy_runs(std::int64_t run, std::int64_t count, std::byte* to, std::int64_t to_step,
               const std::byte* from, std::int64_t from_step) {
  switch (run) {
    case 1:
      return copy_fixed<1>(count, to, to_step, from, from_step);
    case 4:
      return copy_fixed<4>(count, to, to_step, from, from_step);
    case 8:
      return copy_fixed<8>(count, to, to_step, from, from_step);
    case 16:
      return copy_fixed<16>(count, to, to_step, from, from_step);
    case 32:
      return copy_fixed<32>(count, to, to_step, from, from_step);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memmove(to + i * to_step, from + i * from_step, static_cast<std::size_t>(run));
      }
  }
}

}  // namespace

BoxCopy::BoxCopy(std::span<const std::int64_t> whole, std::span<const std::int64_t> extent,
                 std::int64_t width)
    : all_strides_(whole.size()) {
  std::int64_t stride = width;
  for (std::size_t d = whole.size(); d-- > 0;) {
    all_strides_[d] = stride;
    stride *= whole[d];
  }
  // A run grows over inner dims that the box takes whole, and the first that it does not.
  run_ = width;
  std::size_t outer = whole.size();
  while (outer > 0) {
    --outer;
    run_ *= extent[outer];
    if (extent[outer] != whole[outer]) {
      break;
    }
  }
  for (std::size_t d = 0; d < outer; ++d) {
    if (extent[d] != 1) {
      counts_.push_back(extent[d]);
      strides_.push_back(all_strides_[d]);
      runs_ *= extent[d];
    }
  }
}

std::int64_t BoxCopy::start_of(std::span<const std::int64_t> corner) const {
  std::int64_t start = 0;
  for (std::size_t d = 0; d < corner.size(); ++d) {
    start += corner[d] * all_strides_[d];
  }
  return start;
}

// Calls copy(offset in the tensor, offset in the block, runs) for each stretch of runs whose places
// in the tensor are strides_.back() apart.
template <typename Copy>
void BoxCopy::each_row(std::int64_t begin, std::int64_t end, Copy&& copy) const {
  if (run_ == 0) {
    return;
  }
  const std::int64_t last = end / run_;
  const std::int64_t inner = counts_.empty() ? 1 : counts_.back();
  for (std::int64_t run = begin / run_; run < last;) {
    const std::int64_t column = run % inner;
    const std::int64_t count = std::min(inner - column, last - run);
    std::int64_t place = counts_.empty() ? 0 : column * strides_.back();
    std::int64_t row = run / inner;
    for (std::size_t d = counts_.size(); d-- > 1;) {
      place += row % counts_[d - 1] * strides_[d - 1];
      row /= counts_[d - 1];
    }
    copy(place, run * run_ - begin, count);
    run += count;
  }
}

void BoxCopy::pack(const std::byte* tensor, std::int64_t start, std::int64_t begin,
                   std::int64_t end, std::byte* block) const {
  const std::int64_t step = strides_.empty() ? 0 : strides_.back();
  each_row(begin, end, [&](std::int64_t place, std::int64_t offset, std::int64_t count) {
    copy_runs(run_, count, block + offset, run_, tensor + start + place, step);
  });
}

void BoxCopy::unpack(const std::byte* block, std::int64_t start, std::int64_t begin,
                     std::int64_t end, std::byte* tensor) const {
  const std::int64_t step = strides_.empty() ? 0 : strides_.back();
  each_row(begin, end, [&](std::int64_t place, std::int64_t offset, std::int64_t count) {
    copy_runs(run_, count, tensor + start + place, step, block + offset, run_);
  });
}

}  // namespace mtf
