#include "runtime/checkpoint/slice_place.h"

namespace mtf {

SlicePlace::SlicePlace(const Shape& shape, std::int64_t width, const Slice& slice) {
  if (volume_of(slice) == 0) {
    return;
  }
  const std::size_t rank = shape.rank();
  run_ = width;
  std::int64_t stride = run_;  // of the dim, in the tensor
  bool is_whole = true;        // are all dims behind it
  std::int64_t within = run_;  // its stride in the slice
  for (std::size_t d = rank; d-- > 0;) {
    start_ += slice.offset[d] * stride;
    if (is_whole) {
      run_ = slice.extent[d] * stride;
    } else {
      outer_.insert(outer_.begin(), {.count = slice.extent[d], .stride = stride, .within = within});
    }
    is_whole = is_whole && slice.extent[d] == shape[d].size;
    within *= slice.extent[d];
    stride *= shape[d].size;
  }
}

}  // namespace mtf
