// Plain loops over the conversions of one element, which the compiler vectorises; of f16, which is
// much arithmetic on bits, eight at a time by the instructions for it.

#include "runtime/vector_math/narrow.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <immintrin.h>
#include <type_traits>

#include "runtime/vector_math/narrow_lanes.h"

namespace mtf {
namespace {

constexpr std::size_t kPiece = 512;
constexpr std::size_t kMostOperands = 4;  // of an element-wise operation

template <typename F>
void with_narrow(DType dtype, const F& f) {
  with_stored(dtype, [&](auto zero) {
    if constexpr (kIsNarrow<decltype(zero)>) {
      f(zero);
    }
  });
}

using Piece = std::array<std::uint32_t, kPiece>;

// How many of the first elements are done, eight at a time.
template <typename T, typename Wide>
std::size_t widen_lanes(const T* x, std::size_t n, Wide* y) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<T, Float16>) {
    for (; i + kNarrowLanes <= n; i += kNarrowLanes) {
      _mm256_storeu_ps(y + i, widened_lanes(x + i));
    }
  }
  return i;
}

template <typename T, typename Wide>
std::size_t narrow_lanes(const Wide* x, std::size_t n, T* y) {
  std::size_t i = 0;
  if constexpr (std::is_same_v<T, Float16>) {
    for (; i + kNarrowLanes <= n; i += kNarrowLanes) {
      const __m128i halves =
          _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), halves);
    }
  }
  return i;
}

}  // namespace

void widen(DType from, const void* in, std::size_t n, void* out) {
  with_narrow(from, [&](auto zero) {
    using T = decltype(zero);
    const auto* x = static_cast<const T*>(in);
    auto* y = static_cast<WideOf<T>*>(out);
    for (std::size_t i = widen_lanes(x, n, y); i < n; ++i) {
      y[i] = static_cast<WideOf<T>>(x[i]);  // NOLINT(bugprone-signed-char-misuse): a number
    }
  });
}

void narrow(DType to, const void* in, std::size_t n, void* out) {
  with_narrow(to, [&](auto zero) {
    using T = decltype(zero);
    const auto* x = static_cast<const WideOf<T>*>(in);
    auto* y = static_cast<T*>(out);
    for (std::size_t i = narrow_lanes(x, n, y); i < n; ++i) {
      y[i] = static_cast<T>(x[i]);
    }
  });
}

const void* widened_elements(const TensorView& view, std::vector<std::byte>& memory) {
  if (!is_narrow(view.dtype)) {
    return view.data;
  }
  const auto count = static_cast<std::size_t>(view.shape.volume());
  memory.resize(count * bytes_of(wide_of(view.dtype)));
  widen(view.dtype, view.data, count, memory.data());
  return memory.data();
}

void run_widened(TileFn tile, const TileCall& call, std::span<const DType> operands,
                 std::span<const void* const> in, void* out, std::size_t n) {
  assert(in.size() <= kMostOperands && operands.size() == in.size());
  alignas(64) std::array<Piece, kMostOperands> wide;  // NOLINT: clearing them would take longer
  alignas(64) Piece result;                           // NOLINT
  std::array<const void*, kMostOperands> now{};
  TileCall inner = call;
  inner.dtype = wide_of(call.dtype);
  inner.to = wide_of(call.to);
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    for (std::size_t i = 0; i < in.size(); ++i) {
      now[i] = static_cast<const std::byte*>(in[i]) + begin * bytes_of(operands[i]);
      if (is_narrow(operands[i])) {
        widen(operands[i], now[i], count, wide[i].data());
        now[i] = wide[i].data();
      }
    }
    void* const to = static_cast<std::byte*>(out) + begin * bytes_of(call.to);
    const bool rounds = is_narrow(call.to);
    tile(inner, std::span(now).first(in.size()), rounds ? result.data() : to, count);
    if (rounds) {
      narrow(call.to, result.data(), count, to);
    }
  }
}

}  // namespace mtf
