// The order of the elements of one line, by keys: whole numbers that compare as the elements do.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "ir/kernel.h"

namespace mtf {

template <typename T>
using KeyOf = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

template <typename T>
inline constexpr KeyOf<T> kSignOf = KeyOf<T>{1} << (8 * sizeof(KeyOf<T>) - 1);

// One for each element, but that there is one NaN, the largest; -0 is below 0.
template <typename T>
[[nodiscard]] KeyOf<T> ordered(T x, bool descending) {
  using Key = KeyOf<T>;
  Key key = 0;
  if constexpr (std::is_floating_point_v<T>) {
    const auto bits = std::bit_cast<Key>(x);
    key = std::isnan(x) ? ~Key{0} : (bits & kSignOf<T>) != 0 ? ~bits : bits | kSignOf<T>;
  } else if constexpr (std::is_signed_v<T>) {
    key = static_cast<Key>(x) ^ kSignOf<T>;
  } else {
    key = x;
  }
  return descending ? ~key : key;
}

// The same, but that -0 is as large as 0.
template <typename T>
[[nodiscard]] KeyOf<T> key_of(T x, bool descending) {
  return ordered(x == T{0} ? T{0} : x, descending);
}

template <typename Key>
struct Keyed {
  Key key;
  Key at;
};

// Sorted by key; equal ones stay as they were. `other` is room for as many.
void sort_keys(std::vector<Keyed<std::uint32_t>>& line, std::vector<Keyed<std::uint32_t>>& other);
void sort_keys(std::vector<Keyed<std::uint64_t>>& line, std::vector<Keyed<std::uint64_t>>& other);
void sort_numbers(std::vector<std::uint32_t>& line, std::vector<std::uint32_t>& other);
void sort_numbers(std::vector<std::uint64_t>& line, std::vector<std::uint64_t>& other);
// The first `count` of them so; the rest in any order.
void sort_first(std::vector<Keyed<std::uint32_t>>& line, std::vector<Keyed<std::uint32_t>>& other,
                std::size_t count);
void sort_first(std::vector<Keyed<std::uint64_t>>& line, std::vector<Keyed<std::uint64_t>>& other,
                std::size_t count);

// Where the lines along one dim begin in two views, whose other dims are the same, and the steps
// along them.
struct Lines {
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  std::int64_t from_step = 1;
  std::int64_t to_step = 1;
};
// Calls task(begin, end) for lines of so many elements, on as many threads as are worth it.
void for_lines(const Cpu& cpu, const Lines& lines, std::size_t count,
               const std::function<void(std::size_t begin, std::size_t end)>& task);
[[nodiscard]] Lines lines_of(const TensorView& from, std::string_view from_dim,
                             const TensorView& to, std::string_view to_dim);

}  // namespace mtf
