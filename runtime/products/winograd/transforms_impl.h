// The body of the transforms, over a register type `V`.
//
// Included only by transforms_*.cpp, each with a `V` of internal linkage: code built for one
// instruction set must never be the copy that the linker keeps for another.

#pragma once

#include "runtime/products/winograd/transforms.h"

namespace mtf {

// What fills no register. `Of`: what gives it internal linkage as well.
template <typename Of>
struct One {
  using Reg = float;
  static constexpr int kLanes = 1;
  static Reg load(const float* x) { return *x; }
  static Reg all(float x) { return x; }
  static void store(float* x, Reg y) { *x = y; }
};

template <typename V>
struct Pair {
  typename V::Reg first;
  typename V::Reg second;
};

template <typename V>
struct Four {
  typename V::Reg a;
  typename V::Reg b;
  typename V::Reg c;
  typename V::Reg d;
};

template <typename V>
Four<V> of_elements(typename V::Reg a, typename V::Reg b, typename V::Reg c, typename V::Reg d) {
  return {a - c, b + c, c - b, b - d};
}

template <typename V>
Four<V> of_taps(typename V::Reg a, typename V::Reg b, typename V::Reg c) {
  const typename V::Reg half = V::all(0.5F);
  const typename V::Reg ends = a + c;
  return {a, (ends + b) * half, (ends - b) * half, c};
}

template <typename V>
Pair<V> of_products(typename V::Reg a, typename V::Reg b, typename V::Reg c, typename V::Reg d) {
  return {(a + b) + c, (b - c) - d};
}

// To the numbers of one row.
template <typename V>
void store_row(const Four<V>& row, float* to, std::int64_t step) {
  V::store(to, row.a);
  V::store(to + step, row.b);
  V::store(to + 2 * step, row.c);
  V::store(to + 3 * step, row.d);
}

template <typename V>
void transform_elements_at(const WinogradElements& work, std::int64_t at) {
  const float* const* from = work.from.data();
  const auto column = [from, at](int j) {
    return of_elements<V>(V::load(from[j] + at), V::load(from[4 + j] + at),
                          V::load(from[8 + j] + at), V::load(from[12 + j] + at));
  };
  const Four<V> a = column(0);
  const Four<V> b = column(1);
  const Four<V> c = column(2);
  const Four<V> d = column(3);
  float* const to = work.to + at;
  store_row<V>(of_elements<V>(a.a, b.a, c.a, d.a), to, work.step);
  store_row<V>(of_elements<V>(a.b, b.b, c.b, d.b), to + 4 * work.step, work.step);
  store_row<V>(of_elements<V>(a.c, b.c, c.c, d.c), to + 8 * work.step, work.step);
  store_row<V>(of_elements<V>(a.d, b.d, c.d, d.d), to + 12 * work.step, work.step);
}

template <typename V>
void transform_kernel_at(const WinogradKernel& work, std::int64_t at) {
  const auto column = [&work, at](int j) {
    const float* const from = work.taps + at + j * work.count;
    return of_taps<V>(V::load(from), V::load(from + 3 * work.count),
                      V::load(from + 6 * work.count));
  };
  const Four<V> a = column(0);
  const Four<V> b = column(1);
  const Four<V> c = column(2);
  float* const to = work.to + at;
  store_row<V>(of_taps<V>(a.a, b.a, c.a), to, work.step);
  store_row<V>(of_taps<V>(a.b, b.b, c.b), to + 4 * work.step, work.step);
  store_row<V>(of_taps<V>(a.c, b.c, c.c), to + 8 * work.step, work.step);
  store_row<V>(of_taps<V>(a.d, b.d, c.d), to + 12 * work.step, work.step);
}

template <typename V>
void transform_results_at(const WinogradResults& work, std::int64_t at) {
  const auto column = [&work, at](int j) {
    const float* const from = work.products + at + j * work.step;
    return of_products<V>(V::load(from), V::load(from + 4 * work.step),
                          V::load(from + 8 * work.step), V::load(from + 12 * work.step));
  };
  const Pair<V> a = column(0);
  const Pair<V> b = column(1);
  const Pair<V> c = column(2);
  const Pair<V> d = column(3);
  const Pair<V> above = of_products<V>(a.first, b.first, c.first, d.first);
  const Pair<V> below = of_products<V>(a.second, b.second, c.second, d.second);
  Four<V> sum = {above.first, above.second, below.first, below.second};
  for (int merge = work.merges; merge-- > 0;) {
    const float* const place = work.places[merge] + at;
    sum = {V::load(place) + sum.a, V::load(place + work.count) + sum.b,
           V::load(place + 2 * work.count) + sum.c, V::load(place + 3 * work.count) + sum.d};
  }
  store_row<V>(sum, work.places[0] + at, work.count);
}

// By registers, and one by one what fills none.
template <int kLanes, auto kWide, auto kNarrow, typename Work>
void by_registers(const Work& work) {
  std::int64_t at = 0;
  for (; at + kLanes <= work.count; at += kLanes) {
    kWide(work, at);
  }
  for (; at < work.count; ++at) {
    kNarrow(work, at);
  }
}

template <typename V>
constexpr WinogradTransforms make_winograd_transforms() {
  return {
      .elements = by_registers<V::kLanes, transform_elements_at<V>, transform_elements_at<One<V>>>,
      .kernel = by_registers<V::kLanes, transform_kernel_at<V>, transform_kernel_at<One<V>>>,
      .results = by_registers<V::kLanes, transform_results_at<V>, transform_results_at<One<V>>>};
}

}  // namespace mtf
