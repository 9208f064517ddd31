// The product of the runs of all dims: mostly one run each.

#include "runtime/kernels/moved.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace mtf {
namespace {

std::vector<std::int64_t> strides_in(const Slice& slice) {
  std::vector<std::int64_t> strides(slice.extent.size(), 1);
  for (std::size_t d = strides.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * slice.extent[d];
  }
  return strides;
}

// All ways to pick one run of each dim.
void add_boxes(const std::vector<std::vector<IndexRun>>& runs, const MovedSlices& slices,
               const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
               MovedBox box, std::vector<MovedBox>& boxes) {
  const std::size_t d = box.dims.size();
  if (d == runs.size()) {
    boxes.push_back(std::move(box));
    return;
  }
  const std::optional<std::size_t>& target = slices.reads[d].to;
  for (const IndexRun& run : runs[d]) {
    MovedBox longer = box;
    const std::int64_t step = target ? to[*target] : 0;
    longer.dims.push_back(
        {.extent = run.count, .from = run.from_step * from[d], .to = run.to_step * step});
    longer.from += (run.from - slices.from.offset[d]) * from[d];
    longer.to += target ? (run.to - slices.to.offset[*target]) * step : 0;
    add_boxes(runs, slices, from, to, std::move(longer), boxes);
  }
}

// Indices of a dim of the result, counted within the slice, that take the border's value.
void fill_slab(const MovedSlices& slices, std::size_t dim, Interval part, DType dtype, double value,
               void* to) {
  const std::vector<std::int64_t> strides = strides_in(slices.to);
  std::vector<StridedDim> dims;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    dims.push_back(
        {.extent = d == dim ? part.extent : slices.to.extent[d], .from = 0, .to = strides[d]});
  }
  const ElementBytes element = element_of(dtype, value);
  const auto width = static_cast<std::int64_t>(bytes_of(dtype));
  copy_strided(std::move(dims), bytes_of(dtype), element.data(),
               static_cast<std::byte*>(to) + part.begin * strides[dim] * width);
}

}  // namespace

std::int64_t MovedBox::volume() const {
  std::int64_t volume = 1;
  for (const StridedDim& dim : dims) {
    volume *= dim.extent;
  }
  return volume;
}

bool MovedBox::is_run_in_from() const {
  return is_run(dims, &StridedDim::from);
}

bool MovedBox::is_run_in_to() const {
  return is_run(dims, &StridedDim::to);
}

std::vector<MovedBox> boxes_between(const MovedSlices& slices) {
  std::vector<std::vector<IndexRun>> runs;
  for (std::size_t d = 0; d < slices.reads.size(); ++d) {
    const MovedDim& read = slices.reads[d];
    runs.push_back(runs_within(runs_of(read.map, slices.operand[d].size, read.wanted_by(slices.to)),
                               slices.from.along(d)));
  }
  std::vector<MovedBox> boxes;
  add_boxes(runs, slices, strides_in(slices.from), strides_in(slices.to), {}, boxes);
  return boxes;
}

void fill_border(const MovedSlices& slices, DType dtype, void* to) {
  for (std::size_t d = 0; d < slices.reads.size(); ++d) {
    const MovedDim& read = slices.reads[d];
    if (!read.to || read.map.border != Border::kValue) {
      continue;
    }
    const Interval all = read.wanted_by(slices.to);
    const std::vector<IndexRun> runs = runs_of(read.map, slices.operand[d].size, all);
    const auto fill = [&](std::int64_t begin, std::int64_t end) {
      fill_slab(slices, *read.to, {.begin = begin - all.begin, .extent = end - begin}, dtype,
                read.map.value, to);
    };
    if (runs.empty() || runs.front().to_step != 1) {
      fill(all.begin, all.end());
    } else {
      fill(all.begin, runs.front().to);
      fill(runs.front().to + runs.front().count, all.end());
    }
  }
}

Slice slice_of(const TensorView& view) {
  Slice slice;
  for (std::size_t d = 0; d < view.shape.rank(); ++d) {
    slice.offset.push_back(view.offset.empty() ? 0 : view.offset[d]);
    slice.extent.push_back(view.shape[d].size);
  }
  return slice;
}

void move_elements(const MovedSlices& slices, DType dtype, const void* from, void* to) {
  fill_border(slices, dtype, to);
  const auto width = static_cast<std::int64_t>(bytes_of(dtype));
  for (MovedBox& box : boxes_between(slices)) {
    copy_strided(std::move(box.dims), bytes_of(dtype),
                 static_cast<const std::byte*>(from) + box.from * width,
                 static_cast<std::byte*>(to) + box.to * width);
  }
}

void moved_kernel(const KernelCall& call) {
  const TensorView& in = call.in.front();
  const std::vector<MovedDim> reads = reads_of(call.space);
  const Slice from = slice_of(in);
  const Slice to = slice_of(call.out);
  move_elements(
      {.reads = reads, .operand = call.call.operands.front().shape, .from = from, .to = to},
      in.dtype, in.data, call.out.data);
}

}  // namespace mtf
