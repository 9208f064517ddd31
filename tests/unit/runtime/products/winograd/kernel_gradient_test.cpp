// Gradients of kernels in Winograd's products against their definition, bit for bit, and against
// the sums themselves.

#include "runtime/products/winograd/kernel_gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "runtime/kernels/tree.h"
#include "runtime/products/gemm_plan.h"
#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"
#include "tests/unit/runtime/products/winograd/winograd_reference.h"

namespace mtf {
namespace {

constexpr std::size_t kImage = 0;
constexpr std::size_t kRow = 1;
constexpr std::size_t kCol = 2;

// x[image, row, col, channel] and y[image, row, col, to] give k[3, 3, channel, to].
struct Case {
  std::array<std::int64_t, 3> y = {1, 1, 1};  // images, rows and columns
  std::array<std::int64_t, 3> blocks = {1, 1, 1};
  std::array<std::int64_t, 2> low = {};   // zeros before rows and columns of x
  std::array<std::int64_t, 2> high = {};  // and behind
  std::int64_t channels = 1;
  std::int64_t to = 1;
};

// Odd and even, more tiles than a piece has, none at all.
const std::vector<Case> kCases = {
    {.y = {2, 7, 5}, .low = {1, 1}, .high = {1, 1}, .channels = 6, .to = 5},
    {.y = {4, 8, 12}, .blocks = {2, 2, 1}, .low = {1, 0}, .high = {0, 2}, .channels = 13, .to = 34},
    {.y = {6, 14, 9}, .blocks = {2, 2, 1}, .low = {2, 1}, .high = {1, 2}, .channels = 25, .to = 3},
    {.y = {16, 16, 8}, .blocks = {4, 1, 2}, .low = {0, 2}, .high = {1, 0}, .channels = 3, .to = 33},
    {.y = {1, 40, 44}, .low = {1, 1}, .high = {1, 1}, .channels = 4, .to = 2},
    {.y = {0, 4, 4}, .low = {1, 1}, .high = {1, 1}, .channels = 4, .to = 4},
    {.y = {3, 1, 1}, .low = {1, 1}, .high = {1, 1}, .channels = 2, .to = 70}};

// Strides of dims in a random order in memory.
std::vector<std::int64_t> strides(const std::vector<std::int64_t>& extents, std::mt19937& random) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  std::vector<std::int64_t> result(extents.size());
  std::int64_t stride = 1;
  for (const std::size_t dim : order) {
    result[dim] = stride;
    stride *= extents[dim];
  }
  return result;
}

struct Drawn {
  WinogradGradient product;
  std::vector<BFloat16> x;
  std::vector<BFloat16> y;
  std::int64_t results = 0;
};

std::vector<BFloat16> drawn_values(std::int64_t count, bool whole, std::mt19937& random) {
  std::vector<BFloat16> stored;
  for (const float x : random_values<float>(count, random)) {
    stored.push_back(static_cast<BFloat16>(whole ? std::round(9 * x) : x));
  }
  return stored;
}

// `nesting`: of the loops. `kept`: of which the result keeps the blocks, if any.
Drawn drawn_of(const Case& one, const std::array<std::size_t, 3>& nesting,
               std::optional<std::size_t> kept, bool whole, std::mt19937& random) {
  Drawn drawn;
  const std::int64_t rows = one.y[kRow] + 2 - one.low[0] - one.high[0];
  const std::int64_t cols = one.y[kCol] + 2 - one.low[1] - one.high[1];
  const std::int64_t results = kept ? one.blocks[*kept] : 1;
  const auto x = strides({one.y[kImage], rows, cols, one.channels}, random);
  const auto y = strides({one.y[kImage], one.y[kRow], one.y[kCol], one.to}, random);
  const auto out = strides({results, 3, 3, one.channels, one.to}, random);
  WinogradGradient& product = drawn.product;
  product.sides = {{{.reads = -one.low[0], .extent = rows, .x = x[kRow], .out = out[1]},
                    {.reads = -one.low[1], .extent = cols, .x = x[kCol], .out = out[2]}}};
  for (const std::size_t loop : nesting) {
    WinogradGradient::Loop made = {.extent = one.y[loop], .blocks = one.blocks[loop], .y = y[loop]};
    made.x = loop == kImage ? x[kImage] : 1;
    if (loop != kImage) {
      made.side = loop - kRow;
    }
    if (kept == loop) {
      const std::int64_t inside = made.extent / made.blocks;
      product.loops.push_back(made);
      product.loops.back().extent = made.blocks;
      product.loops.back().blocks = 1;
      product.loops.back().x *= inside;
      product.loops.back().y *= inside;
      product.loops.back().out = out[0];
      product.loops.back().kept = true;
      made.extent = inside;
      made.blocks = 1;
    }
    product.loops.push_back(made);
  }
  product.rows = {.extent = one.channels, .a = x[3], .out = out[3]};
  product.cols = {.extent = one.to, .b = y[3], .out = out[4]};
  drawn.x = drawn_values(one.y[kImage] * rows * cols * one.channels, whole, random);
  drawn.y = drawn_values(one.y[kImage] * one.y[kRow] * one.y[kCol] * one.to, whole, random);
  drawn.results = results * 9 * one.channels * one.to;
  return drawn;
}

// The sum of one channel and column, for one index of what the result keeps.
class OneSum {
 public:
  OneSum(const WinogradGradient& product, const BFloat16* x, const BFloat16* y, std::int64_t kept)
      : product_(product), x_(x), y_(y), kept_(kept) {}

  [[nodiscard]] Square<3> taps() { return sum_over(0, {}); }

  // With sums in f64, of the windows one by one.
  [[nodiscard]] double sum_of(std::int64_t s, std::int64_t t) {
    double sum = 0;
    each_place([&](const Place& place, std::int64_t row, std::int64_t col) {
      sum += static_cast<double>(x_at(place, row + s, col + t, {1 << 30, 1 << 30})) *
             static_cast<double>(y_at(place, row, col));
    });
    return sum;
  }

 private:
  // Where elements begin, and places along the sides.
  struct Place {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::array<std::int64_t, 2> first = {};
  };
  using Sizes = std::array<std::int64_t, 2>;

  [[nodiscard]] float x_at(const Place& place, std::int64_t row, std::int64_t col,
                           const Sizes& end) const {
    const auto& [down, across] = product_.sides;
    const std::int64_t i = down.reads + place.first[0] + row;
    const std::int64_t j = across.reads + place.first[1] + col;
    const bool is_there =
        i >= 0 && i < down.extent && j >= 0 && j < across.extent && row < end[0] && col < end[1];
    return is_there ? static_cast<float>(x_[place.x + i * down.x + j * across.x]) : 0;
  }

  [[nodiscard]] float y_at(const Place& place, std::int64_t row, std::int64_t col) const {
    return static_cast<float>(y_[place.y + row * step(0) + col * step(1)]);
  }

  [[nodiscard]] const WinogradGradient::Loop* summed(std::size_t side) const {
    const auto found = std::ranges::find_if(
        product_.loops, [side](const auto& loop) { return loop.side == side && !loop.kept; });
    return &*found;
  }
  [[nodiscard]] std::int64_t step(std::size_t side) const { return summed(side)->y; }

  static Place moved(Place place, const WinogradGradient::Loop& loop, std::int64_t by) {
    (loop.side ? place.first[*loop.side] : place.x) += by * loop.x;
    place.y += by * loop.y;
    return place;
  }

  [[nodiscard]] Square<3> sum_over(std::size_t l, const Place& place) {
    if (l == product_.loops.size()) {
      return leaf(place);
    }
    const WinogradGradient::Loop& loop = product_.loops[l];
    if (loop.kept) {
      return sum_over(l + 1, moved(place, loop, kept_));
    }
    return tree(loop.blocks, [&](std::int64_t block) {
      return sum_over(l + 1, moved(place, loop, block * (loop.extent / loop.blocks)));
    });
  }

  template <typename F>
  [[nodiscard]] Square<3> tree(std::int64_t count, const F& at, std::int64_t first = 0) {
    if (count == 1) {
      return at(first);
    }
    const std::int64_t left = tree_split(count);
    Square<3> sum = tree(left, at, first);
    const Square<3> right = tree(count - left, at, first + left);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        sum[i][j] += right[i][j];
      }
    }
    return sum;
  }

  [[nodiscard]] Square<3> leaf(const Place& place) {
    const auto image = std::ranges::find_if(
        product_.loops, [](const auto& loop) { return !loop.side && !loop.kept; });
    const Sizes count = {summed(0)->extent / summed(0)->blocks,
                         summed(1)->extent / summed(1)->blocks};
    std::vector<std::pair<Place, Sizes>> tiles;
    for (std::int64_t n = 0; n < image->extent / image->blocks; ++n) {
      for (std::int64_t row = 0; row < count[0]; row += 4) {
        for (std::int64_t col = 0; col < count[1]; col += 4) {
          tiles.push_back({moved(place, *image, n), {row, col}});
        }
      }
    }
    const auto size = static_cast<std::int64_t>(tiles.size());
    return tree(std::max<std::int64_t>(1, ceil_div(size, 64)), [&](std::int64_t piece) {
      Square<6> sums = {};
      for (std::int64_t t = 64 * piece; t < std::min(size, 64 * piece + 64); ++t) {
        add(tiles[static_cast<std::size_t>(t)].first, tiles[static_cast<std::size_t>(t)].second,
            count, sums);
      }
      Square<3> made = on_both_sides<3>(sums, Definition<BFloat16>::sums);
      for (Line<3>& row : made) {
        std::ranges::transform(row, row.begin(), Definition<BFloat16>::whole);
      }
      return made;
    });
  }

  void add(const Place& place, const Sizes& first, const Sizes& count, Square<6>& sums) const {
    const Sizes end = {count[0] + 2, count[1] + 2};
    Square<6> x = {};
    Square<4> y = {};
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        const std::int64_t row = first[0] + static_cast<std::int64_t>(i);
        const std::int64_t col = first[1] + static_cast<std::int64_t>(j);
        x[i][j] = x_at(place, row, col, end);
        if (i < 4 && j < 4) {
          y[i][j] = row < count[0] && col < count[1] ? y_at(place, row, col) : 0;
        }
      }
    }
    const Square<6> of_x = on_both_sides<6>(x, Definition<BFloat16>::elements);
    const Square<6> of_y = on_both_sides<6>(y, Definition<BFloat16>::places);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        sums[i][j] = std::fma(of_x[i][j], of_y[i][j], sums[i][j]);
      }
    }
  }

  // Each element of y, from that of an image's first one on.
  template <typename F>
  void each_place(const F& f) {
    std::vector<Place> places = {{}};
    for (const WinogradGradient::Loop& loop : product_.loops) {
      if (loop.kept || !loop.side) {
        std::vector<Place> next;
        for (const Place& place : places) {
          for (std::int64_t i = 0; i < (loop.kept ? 1 : loop.extent); ++i) {
            next.push_back(moved(place, loop, loop.kept ? kept_ : i));
          }
        }
        places = next;
      }
    }
    for (const Place& place : places) {
      for (std::int64_t row = 0; row < summed(0)->extent; ++row) {
        for (std::int64_t col = 0; col < summed(1)->extent; ++col) {
          f(place, row, col);
        }
      }
    }
  }

  const WinogradGradient& product_;
  const BFloat16* x_;
  const BFloat16* y_;
  std::int64_t kept_;
};

// Calls f(place in the result, OneSum, s, t).
template <typename F>
void each_result(const Drawn& drawn, const F& f) {
  const WinogradGradient& product = drawn.product;
  const auto kept = std::ranges::find_if(product.loops, [](const auto& loop) { return loop.kept; });
  const bool keeps = kept != product.loops.end();
  for (std::int64_t k = 0; k < (keeps ? kept->extent : 1); ++k) {
    for (std::int64_t i = 0; i < product.rows.extent; ++i) {
      for (std::int64_t o = 0; o < product.cols.extent; ++o) {
        OneSum one(product, drawn.x.data() + i * product.rows.a,
                   drawn.y.data() + o * product.cols.b, k);
        f((keeps ? k * kept->out : 0) + i * product.rows.out + o * product.cols.out, one);
      }
    }
  }
}

std::vector<float> run_on(Isa isa, const Drawn& drawn) {
  std::vector<float> out(static_cast<std::size_t>(drawn.results), -1);
  PreparedWinogradGradient(drawn.product, {.isa = isa})
      .run(drawn.x.data(), drawn.y.data(), out.data());
  return out;
}

// Of all cases, with loops nested in each order, and with none or one of them kept.
template <typename F>
void each_case(bool whole, std::mt19937& random, const F& f) {
  for (const Case& one : kCases) {
    std::array<std::size_t, 3> nesting = {kImage, kRow, kCol};
    do {
      f(drawn_of(one, nesting, {}, whole, random));
      f(drawn_of(one, nesting, nesting[0], whole, random));
    } while (std::ranges::next_permutation(nesting).found);
  }
}

}  // namespace

TEST_CASE("a kernel's gradient in Winograd's products has the bits of its definition",
          "[winograd]") {
  std::mt19937 random(11);
  each_case(false, random, [&](const Drawn& drawn) {
    std::vector<float> expected(static_cast<std::size_t>(drawn.results));
    each_result(drawn, [&](std::int64_t at, OneSum& one) {
      const Square<3> taps = one.taps();
      for (std::size_t tap = 0; tap < 9; ++tap) {
        const auto s = static_cast<std::int64_t>(tap / 3);
        const auto t = static_cast<std::int64_t>(tap % 3);
        const std::int64_t place =
            at + s * drawn.product.sides[0].out + t * drawn.product.sides[1].out;
        expected[static_cast<std::size_t>(place)] = taps[tap / 3][tap % 3];
      }
    });
    for (const Isa isa : usable_isas()) {
      INFO(to_string(isa));
      REQUIRE(same_bits<float>(run_on(isa, drawn), expected));
    }
  });
}

TEST_CASE("a kernel's gradient is near the sums of the windows, and that of whole numbers exact",
          "[winograd]") {
  std::mt19937 random(12);
  const bool whole = GENERATE(false, true);
  each_case(whole, random, [&](const Drawn& drawn) {
    const std::vector<float> found = run_on(usable_isas().back(), drawn);
    double worst = 0;
    each_result(drawn, [&](std::int64_t at, OneSum& one) {
      for (std::int64_t s = 0; s < 3; ++s) {
        for (std::int64_t t = 0; t < 3; ++t) {
          const std::int64_t place =
              at + s * drawn.product.sides[0].out + t * drawn.product.sides[1].out;
          const double is = found[static_cast<std::size_t>(place)];
          worst = std::max(worst, std::abs(one.sum_of(s, t) - is));
        }
      }
    });
    CHECK(worst <= (whole ? 0 : 2e-4));
  });
}

// Of so many channels that not all columns are done at once.
TEST_CASE("columns of a kernel's gradient have the bits that they have alone", "[winograd]") {
  std::mt19937 random(13);
  const Case one = {.y = {16, 4, 4},
                    .blocks = {16, 1, 1},
                    .low = {1, 1},
                    .high = {1, 1},
                    .channels = 320,
                    .to = 150};
  Drawn drawn = drawn_of(one, {kImage, kRow, kCol}, {}, false, random);
  for (const Isa isa : usable_isas()) {
    const std::vector<float> all = run_on(isa, drawn);
    WinogradGradient few = drawn.product;
    std::vector<float> found(all.size());
    for (std::int64_t col = 0; col < one.to; col += 32) {
      few.cols.extent = std::min<std::int64_t>(32, one.to - col);
      PreparedWinogradGradient(few, {.isa = isa})
          .run(drawn.x.data(), drawn.y.data() + col * few.cols.b,
               found.data() + col * few.cols.out);
    }
    CHECK(same_bits<float>(found, all));
  }
}

}  // namespace mtf
