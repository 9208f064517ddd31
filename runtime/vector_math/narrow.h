// Narrow elements (ir/dtype.h) as what computes with them, and back: bf16 and f16 as floats, which
// is exact one way and rounds to nearest even the other; i8 and i16 as i32, which wraps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/kernel.h"
#include "ir/op.h"

namespace mtf {

// Of stored elements, and what one is widened to.
template <typename T>
inline constexpr bool kIsNarrow = sizeof(T) <= 2 && !std::is_same_v<T, std::uint8_t>;
template <typename T>
using WideOf = std::conditional_t<std::is_integral_v<T>, std::int32_t, float>;

// requires: `from` or `to` is narrow; the other buffer holds elements of its wide dtype.
void widen(DType from, const void* in, std::size_t n, void* out);
void narrow(DType to, const void* in, std::size_t n, void* out);

// The elements of a dense view as they are, or widened in `memory`.
[[nodiscard]] const void* widened_elements(const TensorView& view, std::vector<std::byte>& memory);

// What `tile` does for the wide dtypes, rounded once: piece by piece, in the first-level cache.
// `operands`: the dtypes of `in`.
void run_widened(TileFn tile, const TileCall& call, std::span<const DType> operands,
                 std::span<const void* const> in, void* out, std::size_t n);

}  // namespace mtf
