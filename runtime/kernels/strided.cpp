// Strided copies: dims that lie next to each other in both are one, then runs are copied whole, and
// transpositions go through tiles that stay in cache.

#include "runtime/kernels/strided.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/kernels/thread_team.h"

namespace mtf {
namespace {

constexpr std::int64_t kTile = 32;

// Drops dims of extent 1 and joins neighbours whose strides continue each other.
std::vector<StridedDim> simplified(const std::vector<StridedDim>& dims) {
  std::vector<StridedDim> result;
  for (const StridedDim& dim : dims) {
    if (dim.extent == 1) {
      continue;
    }
    if (!result.empty() && result.back().from == dim.from * dim.extent &&
        result.back().to == dim.to * dim.extent) {
      result.back() = {.extent = result.back().extent * dim.extent, .from = dim.from, .to = dim.to};
      continue;
    }
    result.push_back(dim);
  }
  return result;
}

template <typename T>
void copy_plane(const StridedDim& a, const StridedDim& b, const T* from, T* to) {
  for (std::int64_t i0 = 0; i0 < a.extent; i0 += kTile) {
    const std::int64_t i1 = std::min(i0 + kTile, a.extent);
    for (std::int64_t j0 = 0; j0 < b.extent; j0 += kTile) {
      const std::int64_t j1 = std::min(j0 + kTile, b.extent);
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < j1; ++j) {
          to[i * a.to + j * b.to] = from[i * a.from + j * b.from];
        }
      }
    }
  }
}

template <typename T>
void copy_box(std::span<const StridedDim> dims, const T* from, T* to) {
  if (dims.empty()) {
    *to = *from;
    return;
  }
  const StridedDim& dim = dims.front();
  if (dims.size() == 1 && dim.from == 1 && dim.to == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(dim.extent) * sizeof(T));
    return;
  }
  if (dims.size() == 2 && !(dims[1].from == 1 && dims[1].to == 1)) {
    copy_plane(dims[0], dims[1], from, to);
    return;
  }
  for (std::int64_t i = 0; i < dim.extent; ++i) {
    copy_box(dims.subspan(1), from + i * dim.from, to + i * dim.to);
  }
}

template <typename T>
void copy_typed(std::vector<StridedDim> dims, const void* from, void* to) {
  // The result's fastest dims innermost, and beside them the operand's fastest.
  std::ranges::stable_sort(dims, std::greater(), &StridedDim::to);
  const auto fastest = std::ranges::min_element(
      dims, {}, [](const StridedDim& dim) { return dim.from == 0 ? INT64_MAX : dim.from; });
  if (dims.size() > 2 && fastest < dims.end() - 2) {
    std::rotate(fastest, fastest + 1, dims.end() - 1);
  }
  copy_box<T>(dims, static_cast<const T*>(from), static_cast<T*>(to));
}

std::vector<std::int64_t> along(const Shape& of, const std::vector<std::int64_t>& own,
                                const Shape& over) {
  std::vector<std::int64_t> strides;
  strides.reserve(over.rank());
  for (const Dim& dim : over.dims()) {
    const std::optional<std::size_t> index = of.index_of(dim.name);
    strides.push_back(index ? own[*index] : 0);
  }
  return strides;
}

}  // namespace

bool is_run(std::span<const StridedDim> dims, std::int64_t StridedDim::*side) {
  std::int64_t next = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d].extent != 1 && dims[d].*side != next) {
      return false;
    }
    next *= dims[d].extent;
  }
  return true;
}

std::vector<std::int64_t> strides_by_name(const Shape& of, const Shape& over) {
  return along(of, strides_of(of), over);
}

std::vector<std::int64_t> strides_by_name(const TensorView& of, const Shape& over) {
  return along(of.shape, of.strides.empty() ? strides_of(of.shape) : of.strides, over);
}

void copy_strided(std::vector<StridedDim> dims, std::size_t element_bytes, const void* from,
                  void* to) {
  if (std::ranges::any_of(dims, [](const StridedDim& dim) { return dim.extent <= 0; })) {
    return;
  }
  dims = simplified(dims);
  switch (element_bytes) {
    case 1:
      return copy_typed<std::uint8_t>(std::move(dims), from, to);
    case 2:
      return copy_typed<std::uint16_t>(std::move(dims), from, to);
    case 4:
      return copy_typed<std::uint32_t>(std::move(dims), from, to);
    default:
      return copy_typed<std::uint64_t>(std::move(dims), from, to);
  }
}

// Along the result's outermost dim that has enough for all threads, or the longest one.
void copy_strided(std::vector<StridedDim> dims, std::size_t element_bytes, const void* from,
                  void* to, const Cpu& cpu) {
  dims = simplified(dims);
  std::int64_t elements = 1;
  for (const StridedDim& dim : dims) {
    elements *= dim.extent;
  }
  const int threads = threads_for(cpu, elements);
  if (threads == 1 || dims.empty()) {
    return copy_strided(std::move(dims), element_bytes, from, to);
  }
  std::ranges::stable_sort(dims, std::greater(), &StridedDim::to);
  auto cut = std::ranges::find_if(
      dims, [threads](const StridedDim& dim) { return dim.extent >= threads; });
  cut = cut == dims.end() ? std::ranges::max_element(dims, {}, &StridedDim::extent) : cut;
  const auto width = static_cast<std::int64_t>(element_bytes);
  run_in_parts(threads, cut->extent, [&](Interval part) {
    std::vector<StridedDim> mine = dims;
    mine[static_cast<std::size_t>(cut - dims.begin())].extent = part.extent;
    copy_strided(std::move(mine), element_bytes,
                 static_cast<const std::byte*>(from) + part.begin * cut->from * width,
                 static_cast<std::byte*>(to) + part.begin * cut->to * width);
  });
}

ElementBytes element_of(DType dtype, double value) {
  ElementBytes bytes{};
  with_stored(dtype, [&](auto type) {
    const auto element = static_cast<decltype(type)>(value);
    std::memcpy(bytes.data(), &element, sizeof(element));
  });
  return bytes;
}

void fill_zero(const TensorView& out, bool negative) {
  const double zero = negative && is_float(out.dtype) ? -0.0 : 0.0;
  with_stored(out.dtype, [&](auto type) {
    using T = decltype(type);
    std::ranges::fill(elements<T>(out), static_cast<T>(zero));
  });
}

const std::byte* at(const TensorView& view, std::int64_t index) {
  return static_cast<const std::byte*>(view.data) +
         index * static_cast<std::int64_t>(bytes_of(view.dtype));
}

std::byte* at_mutable(const TensorView& view, std::int64_t index) {
  return static_cast<std::byte*>(view.data) +
         index * static_cast<std::int64_t>(bytes_of(view.dtype));
}

}  // namespace mtf
