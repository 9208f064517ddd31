// What Winograd's products are, result by result, of random convolutions.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ir/dtype.h"
#include "runtime/kernels/tree.h"
#include "runtime/products/winograd/winograd.h"

namespace mtf {

// x[image, row, col, channel] and k[3, 3, channel, to] give y[image, row, col, to], or the same
// with rows and columns last.
struct Sizes {
  std::int64_t images = 1;
  std::array<std::int64_t, 2> x = {1, 1};  // rows and columns
  std::array<std::int64_t, 2> low = {};    // zeros before them
  std::array<std::int64_t, 2> y = {1, 1};
  std::int64_t channels = 1;
  std::int64_t blocks = 1;
  std::int64_t to = 1;
  bool planes = false;     // rows and columns are last
  bool backwards = false;  // the kernel is read so, its columns being its first dim

  [[nodiscard]] std::int64_t x_volume() const { return images * x[0] * x[1] * channels; }
  [[nodiscard]] std::int64_t y_volume() const { return images * y[0] * y[1] * to; }
  [[nodiscard]] std::int64_t k_volume() const { return 9 * channels * to; }
};

// Part of the results: from `first` on.
struct Part {
  std::array<std::int64_t, 2> first = {};
  std::array<std::int64_t, 2> count = {};
};

inline Part whole(const Sizes& sizes) {
  return {.first = {0, 0}, .count = sizes.y};
}

// Of a part of y whose memory is the whole's, from its first result on.
inline Winograd product_of(const Sizes& sizes, const Part& part) {
  const auto [rows, cols] = sizes.x;
  const std::int64_t x_step = sizes.planes ? 1 : sizes.channels;
  const std::int64_t y_step = sizes.planes ? 1 : sizes.to;
  const std::int64_t tap = (sizes.backwards ? -1 : 1) * sizes.channels * sizes.to;
  Winograd product;
  product.sides[0] = {.a = cols * x_step, .b = 3 * tap, .out = sizes.y[1] * y_step};
  product.sides[1] = {.a = x_step, .b = tap, .out = y_step};
  for (std::size_t i = 0; i < 2; ++i) {
    product.sides[i].first = part.first[i];
    product.sides[i].count = part.count[i];
    product.sides[i].reads = part.first[i] - sizes.low[i];
    product.sides[i].extent = sizes.x[i];
  }
  product.rows = {{.extent = sizes.images,
                   .a = rows * cols * sizes.channels,
                   .out = sizes.y[0] * sizes.y[1] * sizes.to}};
  product.cols = {{.extent = sizes.to,
                   .b = sizes.backwards ? sizes.channels : 1,
                   .out = sizes.planes ? sizes.y[0] * sizes.y[1] : 1}};
  product.inner = {.extent = sizes.channels,
                   .a = sizes.planes ? rows * cols : 1,
                   .b = sizes.backwards ? 1 : sizes.to,
                   .blocks = sizes.blocks};
  return product;
}

inline std::int64_t first_result(const Winograd& product) {
  return product.sides[0].first * product.sides[0].out +
         product.sides[1].first * product.sides[1].out;
}

template <std::size_t kCount>
using Line = std::array<float, kCount>;

template <std::size_t kSide>
using Square = std::array<Line<kSide>, kSide>;

// Both sides, the first one first: rows of a square are combined, then columns.
template <std::size_t kTo, std::size_t kFrom, typename F>
Square<kTo> on_both_sides(const Square<kFrom>& x, const F& combine) {
  std::array<Line<kFrom>, kTo> rows;
  for (std::size_t j = 0; j < kFrom; ++j) {
    Line<kFrom> col;
    for (std::size_t i = 0; i < kFrom; ++i) {
      col[i] = x[i][j];
    }
    const Line<kTo> made = combine(col);
    for (std::size_t i = 0; i < kTo; ++i) {
      rows[i][j] = made[i];
    }
  }
  Square<kTo> made;
  std::ranges::transform(rows, made.begin(), combine);
  return made;
}

// The arithmetic along one side of a tile.
template <typename S>
struct Definition;

template <>
struct Definition<float> {
  static constexpr std::int64_t kSide = 2;

  static Line<4> elements(const Line<4>& x) {
    return {x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3]};
  }
  static Line<4> taps(const Line<3>& k) {
    return {k[0], ((k[0] + k[2]) + k[1]) * 0.5F, ((k[0] + k[2]) - k[1]) * 0.5F, k[2]};
  }
  static Line<2> results(const Line<4>& m) { return {(m[0] + m[1]) + m[2], (m[1] - m[2]) - m[3]}; }
  static float whole(float result) { return result; }
};

template <>
struct Definition<BFloat16> {
  static constexpr std::int64_t kSide = 4;

  static Line<6> elements(const Line<6>& x) {
    const float even = std::fma(-4.0F, x[2], x[4]);
    const float odd = std::fma(-4.0F, x[1], x[3]);
    return {std::fma(4.0F, x[0], std::fma(-5.0F, x[2], x[4])),
            even + odd,
            even - odd,
            std::fma(2.0F, x[3] - x[1], x[4] - x[2]),
            std::fma(-2.0F, x[3] - x[1], x[4] - x[2]),
            std::fma(4.0F, x[1], std::fma(-5.0F, x[3], x[5]))};
  }
  static Line<6> taps(const Line<3>& k) {
    const float far = std::fma(4.0F, k[2], k[0]);
    return {6 * k[0],
            -4 * ((k[0] + k[2]) + k[1]),
            -4 * ((k[0] + k[2]) - k[1]),
            std::fma(2.0F, k[1], far),
            std::fma(-2.0F, k[1], far),
            24 * k[2]};
  }
  static Line<4> results(const Line<6>& m) {
    return {(m[0] + (m[1] + m[2])) + (m[3] + m[4]), std::fma(2.0F, m[3] - m[4], m[1] - m[2]),
            std::fma(4.0F, m[3] + m[4], m[1] + m[2]),
            std::fma(8.0F, m[3] - m[4], m[1] - m[2]) + m[5]};
  }
  static float whole(float result) { return result * (1.0F / 576); }

  // Of a kernel's gradient.
  static Line<6> places(const Line<4>& y) {
    const float evens = std::fma(4.0F, y[2], y[0]);
    const float odds = std::fma(8.0F, y[3], 2 * y[1]);
    return {y[0],
            (y[0] + y[2]) + (y[1] + y[3]),
            (y[0] + y[2]) - (y[1] + y[3]),
            evens + odds,
            evens - odds,
            y[3]};
  }
  static Line<3> sums(const Line<6>& m) {
    const float near = m[1] + m[2];
    const float far = m[3] + m[4];
    return {std::fma(6.0F, m[0], std::fma(-4.0F, near, far)),
            std::fma(-4.0F, m[1] - m[2], 2 * (m[3] - m[4])),
            std::fma(24.0F, m[5], std::fma(4.0F, far, -4 * near))};
  }
};

// One column of one image: where its numbers begin.
template <typename S>
struct Reference {
  using Tile = Definition<S>;
  static constexpr std::int64_t kSide = Tile::kSide;
  static constexpr std::int64_t kReads = kSide + 2;

  const Winograd& product;
  const S* a;
  const S* b;

  [[nodiscard]] float element(std::int64_t row, std::int64_t col, std::int64_t k) const {
    const auto& [rows, cols] = product.sides;
    const bool is_there = row >= 0 && row < rows.extent && col >= 0 && col < cols.extent;
    return is_there ? static_cast<float>(a[row * rows.a + col * cols.a + k * product.inner.a]) : 0;
  }

  [[nodiscard]] Square<kReads> elements(std::array<std::int64_t, 2> tile, std::int64_t k) const {
    Square<kReads> x;
    for (std::int64_t i = 0; i < kReads; ++i) {
      for (std::int64_t j = 0; j < kReads; ++j) {
        x[at(i)][at(j)] = element(tile[0] + i, tile[1] + j, k);
      }
    }
    return on_both_sides<kReads>(x, Tile::elements);
  }

  [[nodiscard]] Square<kReads> taps(std::int64_t k) const {
    Square<3> taps = {};
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        taps[at(i)][at(j)] = static_cast<float>(
            b[i * product.sides[0].b + j * product.sides[1].b + k * product.inner.b]);
      }
    }
    return on_both_sides<kReads>(taps, Tile::taps);
  }

  // Of blocks [first, first + count).
  [[nodiscard]] Square<kSide> results(std::array<std::int64_t, 2> tile, std::int64_t first,
                                      std::int64_t count) const {
    if (count > 1) {
      const std::int64_t left = tree_split(count);
      Square<kSide> sum = results(tile, first, left);
      const Square<kSide> right = results(tile, first + left, count - left);
      for (std::size_t i = 0; i < kSide; ++i) {
        for (std::size_t j = 0; j < kSide; ++j) {
          sum[i][j] += right[i][j];
        }
      }
      return sum;
    }
    const std::int64_t leaf = product.inner.extent / product.inner.blocks;
    Square<kReads> sums = {};
    for (std::int64_t k = first * leaf; k < (first + 1) * leaf; ++k) {
      const Square<kReads> x = elements(tile, k);
      const Square<kReads> u = taps(k);
      for (std::size_t i = 0; i < kReads; ++i) {
        for (std::size_t j = 0; j < kReads; ++j) {
          sums[i][j] = std::fma(x[i][j], u[i][j], sums[i][j]);
        }
      }
    }
    Square<kSide> made = on_both_sides<kSide>(sums, Tile::results);
    for (Line<kSide>& row : made) {
      std::ranges::transform(row, row.begin(), Tile::whole);
    }
    return made;
  }

  // Of the result at (row, col) of the part.
  [[nodiscard]] float at_place(std::int64_t row, std::int64_t col) const {
    const auto& [rows, cols] = product.sides;
    const std::int64_t down = (rows.first + row) % kSide;
    const std::int64_t across = (cols.first + col) % kSide;
    return results({rows.reads + row - down, cols.reads + col - across}, 0,
                   product.inner.blocks)[at(down)][at(across)];
  }

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

template <typename S>
void reference_winograd(const Winograd& product, const S* a, const S* b, float* out) {
  for (std::int64_t n = 0; n < product.rows[0].extent; ++n) {
    for (std::int64_t o = 0; o < product.cols[0].extent; ++o) {
      const Reference<S> one = {
          .product = product, .a = a + n * product.rows[0].a, .b = b + o * product.cols[0].b};
      for (std::int64_t i = 0; i < product.sides[0].count; ++i) {
        for (std::int64_t j = 0; j < product.sides[1].count; ++j) {
          out[n * product.rows[0].out + o * product.cols[0].out + i * product.sides[0].out +
              j * product.sides[1].out] = one.at_place(i, j);
        }
      }
    }
  }
}

}  // namespace mtf
