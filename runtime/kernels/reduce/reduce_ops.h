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
    const T first = (kLargest ? x > y : x < y) ? x : y;
    if constexpr (std::floating_point<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      // The other one where they are equal. Each choice is one instruction; to ask for that is
      // more.
      const T second = (kLargest ? y > x : y < x) ? y : x;
      const auto a = std::bit_cast<Bits>(first);
      const auto b = std::bit_cast<Bits>(second);
      const T number = std::bit_cast<T>(kLargest ? a & b : a | b);
      return std::isunordered(x, y) ? std::numeric_limits<T>::quiet_NaN() : number;
    } else {
      return first;
    }
  }
};

template <typename T>
using Max = Extreme<T, true>;

template <typename T>
using Min = Extreme<T, false>;

}  // namespace mtf
