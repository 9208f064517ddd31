// Winograd's products against their definition, bit for bit, and against windows read one by one.

#include "runtime/products/winograd/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"

namespace mtf {
namespace {

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

Part whole(const Sizes& sizes) {
  return {.first = {0, 0}, .count = sizes.y};
}

// Of a part of y whose memory is the whole's, from its first result on.
Winograd product_of(const Sizes& sizes, const Part& part) {
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

std::int64_t first_result(const Winograd& product) {
  return product.sides[0].first * product.sides[0].out +
         product.sides[1].first * product.sides[1].out;
}

using Square = std::array<std::array<float, 4>, 4>;

// Both sides, the first one first: rows of a square are combined, then columns.
template <typename F>
Square on_both_sides(Square x, const F& combine) {
  for (std::size_t j = 0; j < 4; ++j) {
    std::array<float, 4> col = combine({x[0][j], x[1][j], x[2][j], x[3][j]});
    for (std::size_t i = 0; i < 4; ++i) {
      x[i][j] = col[i];
    }
  }
  for (std::array<float, 4>& row : x) {
    row = combine(row);
  }
  return x;
}

using Four = std::array<float, 4>;

Four of_elements(const Four& x) {
  return {x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3]};
}

Four of_taps(const Four& k) {
  return {k[0], ((k[0] + k[2]) + k[1]) * 0.5F, ((k[0] + k[2]) - k[1]) * 0.5F, k[2]};
}

Four of_products(const Four& m) {
  return {(m[0] + m[1]) + m[2], (m[1] - m[2]) - m[3], 0, 0};
}

// One column of one image: where its numbers begin.
struct Reference {
  const Winograd& product;
  const float* a;
  const float* b;

  [[nodiscard]] float element(std::int64_t row, std::int64_t col, std::int64_t k) const {
    const auto& [rows, cols] = product.sides;
    const bool is_there = row >= 0 && row < rows.extent && col >= 0 && col < cols.extent;
    return is_there ? a[row * rows.a + col * cols.a + k * product.inner.a] : 0;
  }

  [[nodiscard]] Square elements(std::array<std::int64_t, 2> tile, std::int64_t k) const {
    Square x;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        x[at(i)][at(j)] = element(tile[0] + i, tile[1] + j, k);
      }
    }
    return on_both_sides(x, of_elements);
  }

  [[nodiscard]] Square taps(std::int64_t k) const {
    Square taps = {};
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        taps[at(i)][at(j)] =
            b[i * product.sides[0].b + j * product.sides[1].b + k * product.inner.b];
      }
    }
    return on_both_sides(taps, of_taps);
  }

  // Of blocks [first, first + count).
  [[nodiscard]] Square results(std::array<std::int64_t, 2> tile, std::int64_t first,
                               std::int64_t count) const {
    if (count > 1) {
      const std::int64_t left = tree_split(count);
      Square sum = results(tile, first, left);
      const Square right = results(tile, first + left, count - left);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          sum[i][j] += right[i][j];
        }
      }
      return sum;
    }
    const std::int64_t leaf = product.inner.extent / product.inner.blocks;
    Square sums = {};
    for (std::int64_t k = first * leaf; k < (first + 1) * leaf; ++k) {
      const Square x = elements(tile, k);
      const Square u = taps(k);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          sums[i][j] = std::fma(x[i][j], u[i][j], sums[i][j]);
        }
      }
    }
    return on_both_sides(sums, of_products);
  }

  // Of the result at (row, col) of the part.
  [[nodiscard]] float at_place(std::int64_t row, std::int64_t col) const {
    const auto& [rows, cols] = product.sides;
    const std::int64_t down = (rows.first + row) % 2;
    const std::int64_t across = (cols.first + col) % 2;
    return results({rows.reads + row - down, cols.reads + col - across}, 0,
                   product.inner.blocks)[at(down)][at(across)];
  }

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

void reference_winograd(const Winograd& product, const float* a, const float* b, float* out) {
  for (std::int64_t n = 0; n < product.rows[0].extent; ++n) {
    for (std::int64_t o = 0; o < product.cols[0].extent; ++o) {
      const Reference one = {
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

struct Drawn {
  std::vector<float> x;
  std::vector<float> k;

  Drawn(const Sizes& sizes, std::mt19937& random)
      : x(random_values<float>(sizes.x_volume(), random)),
        k(random_values<float>(sizes.k_volume(), random)),
        first_tap(sizes.backwards ? 8 * sizes.channels * sizes.to : 0) {}

  [[nodiscard]] const float* taps() const { return k.data() + first_tap; }

  std::int64_t first_tap;
};

std::vector<float> run_on(Isa isa, const Sizes& sizes, const Drawn& drawn) {
  std::vector<float> y(static_cast<std::size_t>(sizes.y_volume()));
  PreparedWinograd(product_of(sizes, whole(sizes)), {.isa = isa})
      .run(drawn.x.data(), drawn.taps(), y.data());
  return y;
}

// Odd and even, narrow and wide, with zeros around or none, in one group of tiles or several.
const std::vector<Sizes> kCases = {
    {.images = 2, .x = {7, 5}, .low = {1, 1}, .y = {7, 5}, .channels = 6, .blocks = 2, .to = 5},
    {.images = 1, .x = {6, 9}, .low = {0, 0}, .y = {4, 7}, .channels = 33, .to = 34},
    {.images = 3, .x = {4, 4}, .low = {2, 1}, .y = {6, 3}, .channels = 40, .blocks = 8, .to = 33},
    {.images = 1, .x = {1, 1}, .low = {1, 1}, .y = {1, 1}, .channels = 3, .blocks = 3, .to = 70},
    {.images = 1, .x = {3, 2}, .low = {1, 1}, .y = {3, 2}, .channels = 0, .to = 4},
    {.images = 5, .x = {8, 8}, .low = {1, 1}, .y = {8, 8}, .channels = 128, .blocks = 4, .to = 3},
    {.images = 9, .x = {9, 3}, .low = {1, 1}, .y = {9, 3}, .channels = 260, .blocks = 4, .to = 40}};

std::vector<Sizes> in_all_orders() {
  std::vector<Sizes> all;
  for (Sizes sizes : kCases) {
    for (const bool planes : {false, true}) {
      for (const bool backwards : {false, true}) {
        sizes.planes = planes;
        sizes.backwards = backwards;
        all.push_back(sizes);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("Winograd's products have the bits of their definition", "[winograd]") {
  std::mt19937 random(5);
  for (const Sizes& sizes : in_all_orders()) {
    const Drawn drawn(sizes, random);
    std::vector<float> expected(static_cast<std::size_t>(sizes.y_volume()));
    reference_winograd(product_of(sizes, whole(sizes)), drawn.x.data(), drawn.taps(),
                       expected.data());
    for (const Isa isa : usable_isas()) {
      INFO(to_string(isa) << ", " << sizes.x[0] << " x " << sizes.x[1] << " x " << sizes.channels
                          << (sizes.planes ? ", planes" : "")
                          << (sizes.backwards ? ", backwards" : ""));
      REQUIRE(same_bits<float>(run_on(isa, sizes, drawn), expected));
    }
  }
}

TEST_CASE("Winograd's products are near the sums of the windows, and those of whole numbers exact",
          "[winograd]") {
  std::mt19937 random(6);
  for (const Sizes& sizes : in_all_orders()) {
    Drawn drawn(sizes, random);
    for (const bool whole_numbers : {false, true}) {
      if (whole_numbers) {
        for (std::vector<float>* values : {&drawn.x, &drawn.k}) {
          std::ranges::transform(*values, values->begin(),
                                 [](float x) { return std::round(9 * x); });
        }
      }
      const std::vector<float> found = run_on(usable_isas().back(), sizes, drawn);
      const Winograd product = product_of(sizes, whole(sizes));
      const auto& [rows, cols] = product.sides;
      double worst = 0;
      for (std::int64_t n = 0; n < sizes.images; ++n) {
        for (std::int64_t i = 0; i < rows.count; ++i) {
          for (std::int64_t j = 0; j < cols.count; ++j) {
            for (std::int64_t o = 0; o < sizes.to; ++o) {
              const Reference one = {.product = product,
                                     .a = drawn.x.data() + n * product.rows[0].a,
                                     .b = drawn.taps() + o * product.cols[0].b};
              double sum = 0;
              for (std::int64_t k = 0; k < sizes.channels; ++k) {
                for (std::int64_t s = 0; s < 9; ++s) {
                  sum += static_cast<double>(
                             one.element(rows.reads + i + s / 3, cols.reads + j + s % 3, k)) *
                         static_cast<double>(
                             one.b[s / 3 * rows.b + s % 3 * cols.b + k * product.inner.b]);
                }
              }
              const std::int64_t at =
                  n * product.rows[0].out + i * rows.out + j * cols.out + o * product.cols[0].out;
              worst = std::max(worst, std::abs(sum - found[static_cast<std::size_t>(at)]));
            }
          }
        }
      }
      CHECK(worst <= (whole_numbers ? 0 : 3e-5));
    }
  }
}

TEST_CASE("a part of Winograd's products has the bits of the whole whatever lies around it",
          "[winograd]") {
  std::mt19937 random(7);
  const Sizes sizes = {.images = 2,
                       .x = {9, 11},
                       .low = {1, 1},
                       .y = {9, 11},
                       .channels = 20,
                       .blocks = 4,
                       .to = 35};
  const Drawn drawn(sizes, random);
  const std::vector<float> expected = run_on(usable_isas().back(), sizes, drawn);
  const auto pick = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (int round = 0; round < 40; ++round) {
    Part part;
    for (std::size_t i = 0; i < 2; ++i) {
      part.first[i] = pick(0, sizes.y[i] - 1);
      part.count[i] = pick(1, sizes.y[i] - part.first[i]);
    }
    // What no window of the part lies over is not a number.
    std::vector<float> x = drawn.x;
    for (std::int64_t place = 0; place < sizes.images * sizes.x[0] * sizes.x[1]; ++place) {
      const std::array<std::int64_t, 2> at = {place / sizes.x[1] % sizes.x[0], place % sizes.x[1]};
      bool is_read = true;
      for (std::size_t i = 0; i < 2; ++i) {
        is_read = is_read && at[i] >= part.first[i] - 1 && at[i] <= part.first[i] + part.count[i];
      }
      if (!is_read) {
        std::fill_n(x.begin() + place * sizes.channels, sizes.channels, kNone);
      }
    }
    std::vector<float> wanted(expected.size(), kNone);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.size()); ++i) {
      const std::int64_t place = i / sizes.to;
      const std::int64_t row = place / sizes.y[1] % sizes.y[0] - part.first[0];
      const std::int64_t col = place % sizes.y[1] - part.first[1];
      if (row >= 0 && row < part.count[0] && col >= 0 && col < part.count[1]) {
        wanted[static_cast<std::size_t>(i)] = expected[static_cast<std::size_t>(i)];
      }
    }
    const Winograd product = product_of(sizes, part);
    for (const Isa isa : usable_isas()) {
      std::vector<float> found(expected.size(), kNone);
      PreparedWinograd(product, {.isa = isa})
          .run(x.data(), drawn.taps(), found.data() + first_result(product));
      INFO(to_string(isa) << ", " << part.count[0] << " x " << part.count[1] << " from ("
                          << part.first[0] << ", " << part.first[1] << ")");
      REQUIRE(same_bits<float>(found, wanted));
    }
  }
}

TEST_CASE("halves of the summed dim add up to the bits of Winograd's products of it all",
          "[winograd]") {
  std::mt19937 random(8);
  const Sizes sizes = {
      .images = 2, .x = {6, 6}, .low = {1, 1}, .y = {6, 6}, .channels = 64, .blocks = 4, .to = 8};
  const Drawn drawn(sizes, random);
  const std::vector<float> expected = run_on(usable_isas().back(), sizes, drawn);
  Winograd half = product_of(sizes, whole(sizes));
  half.inner.extent /= 2;
  half.inner.blocks /= 2;
  std::vector<float> sum(expected.size());
  std::vector<float> other(expected.size());
  const PreparedWinograd product(half, {.isa = usable_isas().back()});
  product.run(drawn.x.data(), drawn.taps(), sum.data());
  product.run(drawn.x.data() + half.inner.extent * half.inner.a,
              drawn.taps() + half.inner.extent * half.inner.b, other.data());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += other[i];
  }
  CHECK(same_bits<float>(sum, expected));
}

}  // namespace mtf
