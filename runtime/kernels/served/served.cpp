#include "runtime/kernels/served/served.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace mtf {
namespace {

// The stride along a loop in a dense slice, and where another slice begins in it; 0 where the
// tensor lacks the loop.
struct Along {
  std::int64_t stride = 0;
  std::int64_t offset = 0;
};

Along along(const TensorView& view, const DimMap& map, std::size_t loop) {
  const std::optional<std::size_t> dim = dim_of(map, loop);
  return dim ? Along{.stride = strides_of(view.shape)[*dim], .offset = view.offset[*dim]} : Along{};
}

void pack(std::vector<StridedDim>& dims, std::int64_t StridedDim::*side) {
  std::int64_t next = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    dims[d].*side = next;
    next *= dims[d].extent;
  }
}

}  // namespace

ServedIndices served_indices(const IterationSpace& space, std::span<const TensorView> in) {
  ServedIndices indices;
  for (const ServedDim& served : space.served) {
    const TensorView& view = in[served.index];
    with_stored(view.dtype, [&](auto type) {
      if constexpr (std::is_integral_v<decltype(type)>) {
        const auto numbers = elements<const decltype(type)>(view);
        indices.emplace_back(numbers.begin(), numbers.end());
      }
    });
  }
  return indices;
}

Served::Served(const IterationSpace& space, std::span<const TensorView> in, const TensorView& out)
    : index_(space.served.size(), 0) {
  for (const ServedDim& served : space.served) {
    const TensorView& tensor = in.front();
    own_.push_back({.begin = tensor.offset[served.dim], .extent = tensor.shape[served.dim].size});
    strides_.push_back(strides_of(tensor.shape)[served.dim]);
  }
  for (std::size_t d = 0; d < out.shape.rank(); ++d) {
    add_dim(space, in, out, d);
  }
}

void Served::add_dim(const IterationSpace& space, std::span<const TensorView> in,
                     const TensorView& out, std::size_t dim) {
  const std::size_t loop = space.result[dim].front();
  const std::int64_t extent = out.shape[dim].size;
  const std::int64_t to = strides_of(out.shape)[dim];
  const Along tensor = along(in.front(), space.operands.front(), loop);
  if (tensor.stride != 0) {
    from_ += (out.offset[dim] - tensor.offset) * tensor.stride;
  }
  PlaceDim place{.extent = extent, .from = tensor.stride, .to = to, .index = {}};
  bool is_row = true;
  for (std::size_t s = 0; s < space.served.size(); ++s) {
    const std::size_t operand = space.served[s].index;
    const Along index = along(in[operand], space.operands[operand], loop);
    place.index.push_back(index.stride);
    if (dim_of(space.operands[operand], loop)) {
      is_row = false;
      index_[s] += (out.offset[dim] - index.offset) * index.stride;
    }
  }
  if (is_row) {
    row_.push_back({.extent = extent, .from = tensor.stride, .to = to});
    row_volume_ *= extent;
  } else {
    dims_.push_back(std::move(place));
    places_ *= extent;
  }
}

Served::Cursor::Cursor(const Served& served, std::int64_t place)
    : digits(served.dims_.size(), 0), from(served.from_), index(served.index_) {
  for (std::size_t d = digits.size(); d-- > 0 && place > 0;) {
    digits[d] = place % served.dims_[d].extent;
    place /= served.dims_[d].extent;
    advance(served.dims_[d], digits[d]);
  }
}

void Served::Cursor::pass(const Served& served, std::int64_t count) {
  for (std::size_t d = digits.size(); d-- > 0;) {
    const PlaceDim& dim = served.dims_[d];
    digits[d] += count;
    if (digits[d] < dim.extent) {
      return;
    }
    advance(dim, -dim.extent);
    digits[d] = 0;
    if (d > 0) {
      advance(served.dims_[d - 1], 1);
      count = 1;
    }
  }
}

void Served::Cursor::advance(const PlaceDim& dim, std::int64_t by) {
  from += by * dim.from;
  to += by * dim.to;
  for (std::size_t s = 0; s < index.size(); ++s) {
    index[s] += by * dim.index[s];
  }
}

RowCopy::RowCopy(std::vector<StridedDim> dims, std::int64_t width)
    : dims_(std::move(dims)),
      width_(static_cast<std::size_t>(width)),
      bytes_(width_),
      is_run_(is_run(dims_, &StridedDim::from) && is_run(dims_, &StridedDim::to)) {
  for (const StridedDim& dim : dims_) {
    bytes_ *= static_cast<std::size_t>(dim.extent);
  }
}

void RowCopy::operator()(const std::byte* from, std::byte* to) const {
  if (is_run_) {
    std::memcpy(to, from, bytes_);
  } else {
    copy_strided(dims_, width_, from, to);
  }
}

void RowCopy::zero(std::byte* to) const {
  if (is_run(dims_, &StridedDim::to)) {
    std::memset(to, 0, bytes_);
    return;
  }
  std::vector<StridedDim> dims = dims_;
  for (StridedDim& dim : dims) {
    dim.from = 0;
  }
  constexpr std::array<std::byte, 16> kZero{};
  copy_strided(std::move(dims), width_, kZero.data(), to);
}

RowCopy RowCopy::packing(std::vector<StridedDim> dims, std::int64_t width) {
  pack(dims, &StridedDim::to);
  return {std::move(dims), width};
}

RowCopy RowCopy::unpacking(std::vector<StridedDim> dims, std::int64_t width) {
  pack(dims, &StridedDim::from);
  return {std::move(dims), width};
}

}  // namespace mtf
