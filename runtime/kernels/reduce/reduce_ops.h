// The four ways to combine two elements, the same in every kernel and collective.

#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mtf {

template <typename T>
struct Sum {
  static constexpr bool kIsExtreme = false;
  static constexpr T identity() { return T(0); }
  static T apply(T x, T y) {
    if constexpr (std::floating_point<T>) {
      return x + y;
    } else {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(x) + static_cast<Bits>(y));
    }
  }
};

template <typename T>
struct Prod {
  static constexpr bool kIsExtreme = false;
  static constexpr T identity() { return T(1); }
  static T apply(T x, T y) {
    if constexpr (std::floating_point<T>) {
      return x * y;
    } else {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(std::uint64_t{static_cast<Bits>(x)} * static_cast<Bits>(y));
    }
  }
};

// Of two equal values (zeros) the one with all sign bits of both set or clear, and one NaN for all:
// then the order of elements never shows.
template <typename T, bool kLargest>
struct Extreme {
  static constexpr bool kIsExtreme = true;
  static constexpr bool kIsLargest = kLargest;
  static constexpr T identity() {
    if constexpr (std::floating_point<T>) {
      return kLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    } else {
      return kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  }
  static T apply(T x, T y) {
    const bool first = kLargest ? x > y : x < y;
    const T far = first ? x : y;
    if constexpr (std::floating_point<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      const auto a = std::bit_cast<Bits>(x);
      const auto b = std::bit_cast<Bits>(y);
      const T equal = std::bit_cast<T>(kLargest ? a & b : a | b);
      const T number = x == y ? equal : far;
      const T left = !std::isnan(x) ? number : std::numeric_limits<T>::quiet_NaN();
      return !std::isnan(y) ? left : std::numeric_limits<T>::quiet_NaN();
    } else {
      return far;
    }
  }
};

template <typename T>
using Max = Extreme<T, true>;

template <typename T>
using Min = Extreme<T, false>;

}  // namespace mtf
