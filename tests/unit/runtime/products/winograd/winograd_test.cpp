// Winograd's products against their definition, bit for bit, and against windows read one by one.

#include "runtime/products/winograd/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "runtime/products/gemm_plan.h"
#include "runtime/products/winograd/transforms.h"
#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"
#include "tests/unit/runtime/products/winograd/winograd_reference.h"

namespace mtf {
namespace {

template <typename S>
std::vector<S> drawn_values(std::int64_t count, std::mt19937& random) {
  const std::vector<float> values = random_values<float>(count, random);
  std::vector<S> stored(values.size());
  std::ranges::transform(values, stored.begin(), [](float x) { return static_cast<S>(x); });
  return stored;
}

template <typename S>
struct Drawn {
  std::vector<S> x;
  std::vector<S> k;

  Drawn(const Sizes& sizes, std::mt19937& random)
      : x(drawn_values<S>(sizes.x_volume(), random)),
        k(drawn_values<S>(sizes.k_volume(), random)),
        first_tap(sizes.backwards ? 8 * sizes.channels * sizes.to : 0) {}

  [[nodiscard]] const S* taps() const { return k.data() + first_tap; }

  std::int64_t first_tap;
};

template <typename S>
std::vector<float> run_on(Isa isa, const Sizes& sizes, const Drawn<S>& drawn) {
  std::vector<float> y(static_cast<std::size_t>(sizes.y_volume()));
  PreparedWinograd<S>(product_of(sizes, whole(sizes)), {.isa = isa})
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
    {.images = 9, .x = {9, 3}, .low = {1, 1}, .y = {9, 3}, .channels = 260, .blocks = 4, .to = 40},
    {.images = 2,
     .x = {3, 77},
     .low = {1, 2},
     .y = {3, 78},
     .channels = 38,
     .blocks = 2,
     .to = 37}};

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

TEMPLATE_TEST_CASE("Winograd's products have the bits of their definition", "[winograd]", float,
                   BFloat16) {
  using S = TestType;
  std::mt19937 random(5);
  for (const Sizes& sizes : in_all_orders()) {
    const Drawn<S> drawn(sizes, random);
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

TEMPLATE_TEST_CASE(
    "Winograd's products are near the sums of the windows, and those of whole numbers exact",
    "[winograd]", float, BFloat16) {
  using S = TestType;
  std::mt19937 random(6);
  for (const Sizes& sizes : in_all_orders()) {
    Drawn<S> drawn(sizes, random);
    for (const bool whole_numbers : {false, true}) {
      if (whole_numbers) {
        for (std::vector<S>* values : {&drawn.x, &drawn.k}) {
          std::ranges::transform(*values, values->begin(), [](S x) {
            return static_cast<S>(std::round(9 * static_cast<float>(x)));
          });
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
              const Reference<S> one = {.product = product,
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
      CHECK(worst <= (whole_numbers ? 0 : WinogradTile<S>::kSide == 2 ? 3e-5 : 2e-4));
    }
  }
}

TEMPLATE_TEST_CASE(
    "a part of Winograd's products has the bits of the whole whatever lies around it", "[winograd]",
    float, BFloat16) {
  using S = TestType;
  std::mt19937 random(7);
  const bool planes = GENERATE(false, true);
  const Sizes sizes = {.images = 2,
                       .x = {9, 11},
                       .low = {1, 1},
                       .y = {9, 11},
                       .channels = 20,
                       .blocks = 4,
                       .to = 35,
                       .planes = planes};
  const Drawn<S> drawn(sizes, random);
  const std::vector<float> expected = run_on(usable_isas().back(), sizes, drawn);
  const auto pick = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  // Row and column of an element of x or y.
  const auto place_of = [planes](std::size_t element, const std::array<std::int64_t, 2>& of,
                                 std::int64_t channels) {
    const std::int64_t place = static_cast<std::int64_t>(element) / (planes ? 1 : channels);
    return std::array<std::int64_t, 2>{place / of[1] % of[0], place % of[1]};
  };
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr std::int64_t kTile = WinogradTile<S>::kSide;
  for (int round = 0; round < 40; ++round) {
    Part part;
    for (std::size_t i = 0; i < 2; ++i) {
      part.first[i] = pick(0, sizes.y[i] - 1);
      part.count[i] = pick(1, sizes.y[i] - part.first[i]);
    }
    // What no window of the part lies over is not a number; of larger tiles, what no window of the
    // part's tiles does.
    std::vector<S> x = drawn.x;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const std::array<std::int64_t, 2> at = place_of(k, sizes.x, sizes.channels);
      bool is_read = true;
      for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t end = part.first[i] + part.count[i];
        const std::int64_t first = kTile == 2 ? part.first[i] : part.first[i] / kTile * kTile;
        const std::int64_t behind = kTile == 2 ? end : ceil_div(end, kTile) * kTile;
        is_read = is_read && at[i] >= first - 1 && at[i] <= behind;
      }
      x[k] = is_read ? x[k] : static_cast<S>(kNone);
    }
    std::vector<float> wanted(expected.size(), kNone);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const std::array<std::int64_t, 2> at = place_of(k, sizes.y, sizes.to);
      const std::int64_t row = at[0] - part.first[0];
      const std::int64_t col = at[1] - part.first[1];
      if (row >= 0 && row < part.count[0] && col >= 0 && col < part.count[1]) {
        wanted[k] = expected[k];
      }
    }
    const Winograd product = product_of(sizes, part);
    for (const Isa isa : usable_isas()) {
      std::vector<float> found(expected.size(), kNone);
      PreparedWinograd<S>(product, {.isa = isa})
          .run(x.data(), drawn.taps(), found.data() + first_result(product));
      INFO(to_string(isa) << ", " << part.count[0] << " x " << part.count[1] << " from ("
                          << part.first[0] << ", " << part.first[1] << ")");
      REQUIRE(same_bits<float>(found, wanted));
    }
  }
}

TEMPLATE_TEST_CASE("halves of the summed dim add up to the bits of Winograd's products of it all",
                   "[winograd]", float, BFloat16) {
  using S = TestType;
  std::mt19937 random(8);
  const Sizes sizes = {
      .images = 2, .x = {6, 6}, .low = {1, 1}, .y = {6, 6}, .channels = 64, .blocks = 4, .to = 8};
  const Drawn<S> drawn(sizes, random);
  const std::vector<float> expected = run_on(usable_isas().back(), sizes, drawn);
  Winograd half = product_of(sizes, whole(sizes));
  half.inner.extent /= 2;
  half.inner.blocks /= 2;
  std::vector<float> sum(expected.size());
  std::vector<float> other(expected.size());
  const PreparedWinograd<S> product(half, {.isa = usable_isas().back()});
  product.run(drawn.x.data(), drawn.taps(), sum.data());
  product.run(drawn.x.data() + half.inner.extent * half.inner.a,
              drawn.taps() + half.inner.extent * half.inner.b, other.data());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += other[i];
  }
  CHECK(same_bits<float>(sum, expected));
}

}  // namespace mtf
