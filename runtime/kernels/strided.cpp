// Strided copies: dims that lie next to each other in both are one, then runs are copied whole, and
// transpositions go through tiles that stay in cache.

#include "runtime/kernels/strided.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <immintrin.h>
#include <type_traits>

#include "ir/support/interval.h"
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
void copy_part(const StridedDim& a, Interval of_a, const StridedDim& b, Interval of_b,
               const T* from, T* to) {
  for (std::int64_t i = of_a.begin; i < of_a.end(); ++i) {
    for (std::int64_t j = of_b.begin; j < of_b.end(); ++j) {
      to[i * a.to + j * b.to] = from[i * a.from + j * b.from];
    }
  }
}

// Calls f(indices of a, indices of b) for tiles of all of them.
template <typename F>
void for_tiles(Interval a, std::int64_t of_a, Interval b, std::int64_t of_b, const F& f) {
  for (std::int64_t i = a.begin; i < a.end(); i += of_a) {
    for (std::int64_t j = b.begin; j < b.end(); j += of_b) {
      f(from_to(i, std::min(i + of_a, a.end())), from_to(j, std::min(j + of_b, b.end())));
    }
  }
}

// ---- transpositions of elements of four bytes, by squares in registers -------------------------

constexpr std::int64_t kSquare = 4;
constexpr std::int64_t kTurnedRows = 16;  // of the result: of the operand, a line of the caches
constexpr std::int64_t kTurnedCols = 64;

void turn_square(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to,
                 std::int64_t to_step) {
  const auto load = [&](std::int64_t row) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(from + row * from_step));
  };
  const auto store = [&](std::int64_t row, __m128 x) {
    _mm_storeu_ps(reinterpret_cast<float*>(to + row * to_step), x);
  };
  __m128 a = load(0);
  __m128 b = load(1);
  __m128 c = load(2);
  __m128 d = load(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  store(0, a);
  store(1, b);
  store(2, c);
  store(3, d);
}

// Elements lie side by side along `a` in the operand, and along `b` in the result.
void turn_plane(const StridedDim& a, const StridedDim& b, const std::uint32_t* from,
                std::uint32_t* to) {
  const Interval rows = from_to(0, a.extent / kSquare * kSquare);
  const Interval cols = from_to(0, b.extent / kSquare * kSquare);
  for_tiles(rows, kTurnedRows, cols, kTurnedCols, [&](Interval of_a, Interval of_b) {
    for (std::int64_t j = of_b.begin; j < of_b.end(); j += kSquare) {
      for (std::int64_t i = of_a.begin; i < of_a.end(); i += kSquare) {
        turn_square(from + i + j * b.from, b.from, to + i * a.to + j, a.to);
      }
    }
  });
  copy_part(a, rows, b, from_to(cols.end(), b.extent), from, to);
  copy_part(a, from_to(rows.end(), a.extent), b, from_to(0, b.extent), from, to);
}

template <typename T>
void copy_plane(const StridedDim& a, const StridedDim& b, const T* from, T* to) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (a.from == 1 && b.to == 1) {
      return turn_plane(a, b, from, to);
    }
  }
  for_tiles(from_to(0, a.extent), kTile, from_to(0, b.extent), kTile,
            [&](Interval of_a, Interval of_b) { copy_part(a, of_a, b, of_b, from, to); });
}

// Elements side by side in both, which the operand may have backwards.
bool is_line(const StridedDim& dim) {
  return dim.to == 1 && (dim.from == 1 || dim.from == -1);
}

template <typename T>
void copy_line(const StridedDim& dim, const T* from, T* to) {
  if (dim.from == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(dim.extent) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < dim.extent; ++i) {
    to[i] = from[-i];
  }
}

template <typename T>
void copy_box(std::span<const StridedDim> dims, const T* from, T* to) {
  if (dims.empty()) {
    *to = *from;
    return;
  }
  const StridedDim& dim = dims.front();
  if (dims.size() == 1 && is_line(dim)) {
    return copy_line(dim, from, to);
  }
  if (dims.size() == 2 && !is_line(dims[1])) {
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
