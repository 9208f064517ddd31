// The body of the transforms, over a register type `V`.
//
// Included only by transforms_*.cpp, each with a `V` of internal linkage: code built for one
// instruction set must never be the copy that the linker keeps for another.

#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "runtime/products/winograd/transforms.h"

namespace mtf {

// What fills no register. `Of`: what gives it internal linkage as well.
template <typename Of>
struct One {
  using Reg = float;
  static constexpr int kLanes = 1;
  static Reg load(const float* x) { return *x; }
  static Reg load(const BFloat16* x) { return static_cast<float>(*x); }
  static Reg all(float x) { return x; }
  static Reg fma(Reg a, Reg b, Reg c) { return std::fma(a, b, c); }
  static void store(float* x, Reg y) { *x = y; }
};

template <typename V, int kCount>
struct Line {
  typename V::Reg at[kCount];  // NOLINT(modernize-avoid-c-arrays): std::array drops attributes
};

// ---- along one side -----------------------------------------------------------------------------

// By how many results a tile has along it.
template <typename V, int kSide>
struct Along;

template <typename V>
struct Along<V, 2> {
  using Reg = typename V::Reg;

  static Line<V, 4> elements(const Line<V, 4>& x) {
    const auto& [a, b, c, d] = x.at;
    return {{a - c, b + c, c - b, b - d}};
  }

  static Line<V, 4> taps(const Line<V, 3>& k) {
    const auto& [a, b, c] = k.at;
    const Reg half = V::all(0.5F);
    const Reg ends = a + c;
    return {{a, (ends + b) * half, (ends - b) * half, c}};
  }

  static Line<V, 2> results(const Line<V, 4>& products) {
    const auto& [a, b, c, d] = products.at;
    return {{(a + b) + c, (b - c) - d}};
  }

  static Reg whole(Reg result) { return result; }
};

// Polynomials at 0, 1, -1, 2, -2 and infinity. What taps would be divided by, 24 along each side,
// is left for the results: so all that is rounded of whole numbers is a quotient without a rest.
template <typename V>
struct Along<V, 4> {
  using Reg = typename V::Reg;

  static Line<V, 6> elements(const Line<V, 6>& x) {
    const auto& [a, b, c, d, e, f] = x.at;
    const Reg two = V::all(2);
    const Reg four = V::all(4);
    const Reg five = V::all(-5);
    const Reg even = V::fma(V::all(-4), c, e);
    const Reg odd = V::fma(V::all(-4), b, d);
    const Reg evens = e - c;
    const Reg odds = d - b;
    return {{V::fma(four, a, V::fma(five, c, e)), even + odd, even - odd, V::fma(two, odds, evens),
             V::fma(V::all(-2), odds, evens), V::fma(four, b, V::fma(five, d, f))}};
  }

  static Line<V, 6> taps(const Line<V, 3>& k) {
    const auto& [a, b, c] = k.at;
    const Reg four = V::all(-4);
    const Reg ends = a + c;
    const Reg far = V::fma(V::all(4), c, a);
    return {{a * V::all(6), (ends + b) * four, (ends - b) * four, V::fma(V::all(2), b, far),
             V::fma(V::all(-2), b, far), c * V::all(24)}};
  }

  static Line<V, 4> results(const Line<V, 6>& products) {
    const auto& [a, b, c, d, e, f] = products.at;
    const Reg near = b + c;
    const Reg apart = b - c;
    const Reg far = d + e;
    const Reg far_apart = d - e;
    return {{(a + near) + far, V::fma(V::all(2), far_apart, apart), V::fma(V::all(4), far, near),
             V::fma(V::all(8), far_apart, apart) + f}};
  }

  static Reg whole(Reg result) { return result * V::all(1.0F / 576); }

  // The transpose of `results`.
  static Line<V, 6> places(const Line<V, 4>& y) {
    const auto& [a, b, c, d] = y.at;
    const Reg even = a + c;
    const Reg odd = b + d;
    const Reg evens = V::fma(V::all(4), c, a);
    const Reg odds = V::fma(V::all(8), d, b * V::all(2));
    return {{a, even + odd, even - odd, evens + odds, evens - odds, d}};
  }

  // The transpose of `taps`.
  static Line<V, 3> sums(const Line<V, 6>& products) {
    const auto& [a, b, c, d, e, f] = products.at;
    const Reg four = V::all(-4);
    const Reg near = b + c;
    const Reg far = d + e;
    return {{V::fma(V::all(6), a, V::fma(four, near, far)),
             V::fma(four, b - c, V::all(2) * (d - e)),
             V::fma(V::all(24), f, V::fma(V::all(4), far, four * near))}};
  }
};

// ---- along both ---------------------------------------------------------------------------------

// What `load` has at (i, j), combined along each side, for `store`.
template <typename V, int kFrom, int kTo, typename Load, typename Combine, typename Store>
[[gnu::always_inline]] inline void along_both(const Load& load, const Combine& combine,
                                              const Store& store) {
  Line<V, kTo> cols[kFrom] = {};  // NOLINT(modernize-avoid-c-arrays): g++ 12 warns of std::array
#pragma GCC unroll 6
  for (int j = 0; j < kFrom; ++j) {
    Line<V, kFrom> col = {};
#pragma GCC unroll 6
    for (int i = 0; i < kFrom; ++i) {
      col.at[i] = load(i, j);
    }
    cols[j] = combine(col);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kTo; ++i) {
    Line<V, kFrom> row = {};
#pragma GCC unroll 6
    for (int j = 0; j < kFrom; ++j) {
      row.at[j] = cols[j].at[i];
    }
    const Line<V, kTo> made = combine(row);
#pragma GCC unroll 6
    for (int j = 0; j < kTo; ++j) {
      store(i, j, made.at[j]);
    }
  }
}

// Without a loop, for which the compiler would put registers into memory.
template <int... kIndex, typename F>
[[gnu::always_inline]] inline void for_each_of(std::integer_sequence<int, kIndex...> /*all*/,
                                               const F& f) {
  (f(kIndex), ...);
}

// Those `at` elements from the pointers, of which a row has kFrom; a row of products has kTo.
template <typename V, int kFrom, int kTo, typename Factors, typename Combine>
void transform_factors_at(const Factors& work, std::int64_t at, const Combine& combine, float* to) {
  const auto* const from = work.from.data();
  along_both<V, kFrom, kTo>([from, at](int i, int j) { return V::load(from[kFrom * i + j] + at); },
                            combine,
                            [&to, step = work.step](int, int, typename V::Reg x) {
                              V::store(to, x);
                              to += step;
                            });
}

// What `combine` makes of products, of which a row has kFrom, along each side; `whole` of it.
template <typename V, int kFrom, int kTo, typename Combine, typename Whole>
[[gnu::always_inline]] inline void transform_results_at(const WinogradResults& work,
                                                        std::int64_t at, const Combine& combine,
                                                        const Whole& whole) {
  const std::int64_t row = kFrom * work.step;
  const float* const from = work.products + at;
  constexpr auto kAll = std::make_integer_sequence<int, kTo * kTo>();
  Line<V, kTo* kTo> sums = {};
  along_both<V, kFrom, kTo>(
      [&](int i, int j) { return V::load(from + j * work.step + i * row); }, combine,
      [&](int i, int j, typename V::Reg x) { sums.at[kTo * i + j] = whole(x); });
  const std::int64_t count = work.count;
  for (int merge = work.merges; merge-- > 0;) {
    const float* place = work.places[merge] + at;
    for_each_of(kAll, [&](int i) {
      sums.at[i] = V::load(place) + sums.at[i];
      place += count;
    });
  }
  float* to = work.places[0] + at;
  for_each_of(kAll, [&](int i) {
    V::store(to, sums.at[i]);
    to += count;
  });
}

// Elements by registers of type V, and one by one what fills none.
template <typename V, typename F>
[[gnu::always_inline]] inline void by_registers(std::int64_t count, const F& f) {
  std::int64_t at = 0;
  for (; at + V::kLanes <= count; at += V::kLanes) {
    f.template operator()<V>(at);
  }
  for (; at < count; ++at) {
    f.template operator()<One<V>>(at);
  }
}

template <typename V, typename Factors, typename F>
[[gnu::always_inline]] inline void by_blocks(const Factors& work, const F& f) {
  for (std::int64_t block = 0; block < work.blocks; ++block) {
    const std::int64_t first = block * work.block_from;
    float* const to = work.to + block * work.block_to;
    by_registers<V>(work.count, [&]<typename Reg>(std::int64_t at) {
      f.template operator()<Reg>(first + at, to + at);
    });
  }
}

template <typename V, typename S>
void transform_elements(const WinogradElements<S>& work) {
  using Tile = WinogradTile<S>;
  by_blocks<V>(work, [&]<typename Reg>(std::int64_t at, float* to) {
    transform_factors_at<Reg, Tile::kReads, Tile::kReads>(work, at,
                                                          Along<Reg, Tile::kSide>::elements, to);
  });
}

// Of a tile of S, from taps that are stored as From.
template <typename V, typename S, typename From>
void transform_kernel(const WinogradKernel<From>& work) {
  using Tile = WinogradTile<S>;
  by_blocks<V>(work, [&]<typename Reg>(std::int64_t at, float* to) {
    transform_factors_at<Reg, kWinogradWindow, Tile::kReads>(work, at,
                                                             Along<Reg, Tile::kSide>::taps, to);
  });
}

template <typename V, typename S>
void transform_results(const WinogradResults& work) {
  using Tile = WinogradTile<S>;
  by_registers<V>(work.count, [&]<typename Reg>(std::int64_t at) {
    using Side = Along<Reg, Tile::kSide>;
    transform_results_at<Reg, Tile::kReads, Tile::kSide>(work, at, Side::results, Side::whole);
  });
}

template <typename V, typename S>
constexpr WinogradTransforms<S> make_winograd_transforms() {
  return {.elements = transform_elements<V, S>,
          .kernel = transform_kernel<V, S, S>,
          .gathered = transform_kernel<V, S, float>,
          .results = transform_results<V, S>};
}

// ---- of a kernel's gradient ---------------------------------------------------------------------

template <typename V, typename S>
void transform_places(const WinogradPlaces<S>& work) {
  using Tile = WinogradTile<S>;
  by_blocks<V>(work, [&]<typename Reg>(std::int64_t at, float* to) {
    transform_factors_at<Reg, Tile::kSide, Tile::kReads>(work, at, Along<Reg, Tile::kSide>::places,
                                                         to);
  });
}

template <typename V, typename S>
void transform_taps(const WinogradResults& work) {
  using Tile = WinogradTile<S>;
  by_registers<V>(work.count, [&]<typename Reg>(std::int64_t at) {
    using Side = Along<Reg, Tile::kSide>;
    transform_results_at<Reg, Tile::kReads, kWinogradWindow>(work, at, Side::sums, Side::whole);
  });
}

template <typename V>
constexpr WinogradSumTransforms make_winograd_sum_transforms() {
  return {.places = transform_places<V, BFloat16>, .taps = transform_taps<V, BFloat16>};
}

}  // namespace mtf
