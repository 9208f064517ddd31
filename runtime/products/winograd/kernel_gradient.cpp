// The numbers of a piece's tiles lie in a near cache while their products are made: of as many rows
// and columns as a micro-kernel has, from which the taps follow while they are in the nearest
// cache. Where the taps that wait would take much memory, some columns are done after the others.

#include "runtime/products/winograd/kernel_gradient.h"

#include <algorithm>

#include "ir/support/index.h"
#include "ir/support/interval.h"
#include "runtime/kernels/tree.h"
#include "runtime/products/gemm_plan.h"
#include "runtime/products/gemm_scratch.h"
#include "runtime/products/micro/gemm_kernel.h"
#include "runtime/products/winograd/tile_lines.h"
#include "runtime/products/winograd/transforms.h"

namespace mtf {
namespace {

using Tile = WinogradTile<BFloat16>;
using Loop = WinogradGradient::Loop;

constexpr std::int64_t kPieceTiles = 64;
constexpr std::int64_t kApart = 16;              // elements between what would displace one another
constexpr int kMaxDepth = 64;                    // of the tree
constexpr std::int64_t kWaitingBytes = 1 << 23;  // of taps

// Where something begins: elements, and places of y along the sides.
struct Corner {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t out = 0;
  std::array<std::int64_t, 2> places = {};

  [[nodiscard]] Corner moved(const Loop& loop, std::int64_t indices) const {
    Corner to = *this;
    (loop.side ? to.places[*loop.side] : to.x) += indices * loop.x;
    to.y += indices * loop.y;
    to.out += indices * loop.out;
    return to;
  }
};

// From each corner, `count` of them that are `step` indices apart.
std::vector<Corner> along(const std::vector<Corner>& corners, const Loop& loop, std::int64_t count,
                          std::int64_t step) {
  std::vector<Corner> all;
  for (const Corner& corner : corners) {
    for (std::int64_t i = 0; i < count; ++i) {
      all.push_back(corner.moved(loop, i * step));
    }
  }
  return all;
}

// Those of a leaf along a side.
struct Places {
  std::int64_t count = 1;
  std::int64_t step = 0;  // elements of y

  [[nodiscard]] std::int64_t tiles() const { return ceil_div(count, Tile::kSide); }
};

// The numbers of a piece: for each product, those of each tile, a row of them.
struct Numbers {
  std::int64_t channels = 0;
  std::int64_t row = 0;

  // With what a last tile of `width` columns reads beyond.
  static Numbers of(std::int64_t channels, std::int64_t width) {
    return {.channels = channels, .row = ceil_div(channels, width) * width + kApart};
  }
  [[nodiscard]] std::int64_t step() const { return kPieceTiles * row + kApart; }
  [[nodiscard]] std::int64_t size() const { return Tile::kProducts * step(); }
};

}  // namespace

struct PreparedWinogradGradient::State {
  State(const WinogradGradient& product, Cpu cpu);

  WinogradGradient shape;
  const GemmKernel<float>& kernel;
  const WinogradTransforms<BFloat16>& transforms;
  const WinogradSumTransforms& sums;
  std::vector<Corner> results = {Corner()};  // that are sums of their own
  std::vector<Corner> leaves = {Corner()};   // of each
  std::vector<Corner> images = {Corner()};   // of a leaf
  std::array<Places, 2> places;              // of a leaf
  std::vector<int> merges;                   // behind each piece of the leaves
  int depth = 1;                             // pieces' taps that wait at any time
  std::int64_t width = 0;                    // columns that a micro-kernel does
  std::int64_t strips = 0;                   // of rows
  std::int64_t strip = 0;
  std::int64_t panels = 0;   // of columns
  std::int64_t at_once = 1;  // of them
  Numbers of_x;
  Numbers of_y;  // of those

  [[nodiscard]] std::int64_t tiles() const {
    return std::ssize(images) * places[0].tiles() * places[1].tiles();
  }
  [[nodiscard]] std::int64_t pieces() const {  // of a leaf; an empty one has one, too
    return std::max<std::int64_t>(1, ceil_div(tiles(), kPieceTiles));
  }
  [[nodiscard]] std::int64_t product_step() const { return strip * width + kApart; }
  [[nodiscard]] std::int64_t taps_size() const { return kWinogradTaps * strip * width; }
  [[nodiscard]] std::int64_t all_taps_size() const { return strips * at_once * taps_size(); }
  // Where channels lie apart, those that tiles in a line are made of are turned.
  [[nodiscard]] std::int64_t turned_size() const {
    const std::int64_t line = elements_in_line(Tile::kSide, Tile::kReads, kLongestLine);
    return Tile::kReads * line * std::max(of_x.channels, of_y.channels);
  }
};

PreparedWinogradGradient::State::State(const WinogradGradient& product, Cpu cpu)
    : shape(product),
      kernel(gemm_kernel(cpu.isa, float())),
      transforms(winograd_transforms(cpu.isa, BFloat16())),
      sums(winograd_sum_transforms(cpu.isa)),
      width(kernel.lanes * kGemmVectors),
      strips(ceil_div(product.rows.extent, kernel.rows)),
      strip(ceil_div(product.rows.extent, std::max<std::int64_t>(strips, 1))),
      panels(ceil_div(product.cols.extent, width)),
      of_x(Numbers::of(product.rows.extent, 1)) {
  std::vector<std::int64_t> blocks;
  for (const Loop& loop : product.loops) {
    if (loop.kept) {
      results = along(results, loop, loop.extent, 1);
      continue;
    }
    const std::int64_t leaf = loop.extent / loop.blocks;
    leaves = along(leaves, loop, loop.blocks, leaf);
    blocks.push_back(loop.blocks);
    if (loop.side) {
      places[*loop.side] = {.count = leaf, .step = loop.y};
    } else {
      images = along(images, loop, leaf, 1);
    }
  }
  blocks.push_back(pieces());
  merges = combine_tree_blocks(blocks);
  depth = most_waiting(merges);
  const std::int64_t of_panel =
      depth * strips * taps_size() * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t most = kWaitingBytes / std::max<std::int64_t>(of_panel, 1);
  at_once = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(panels, 1));
  of_y = Numbers::of(std::min(at_once * width, product.cols.extent), width);
}

// One run: its memory, and where it is.
class PreparedWinogradGradient::Run {
 public:
  Run(const State& state, const BFloat16* x, const BFloat16* y, float* out)
      : state_(state), x_(x), y_(y), out_(out) {
    const std::int64_t products = Tile::kProducts * state.product_step();
    const std::int64_t taps = state.depth * state.all_taps_size();
    const std::int64_t turned = state.turned_size();
    const std::int64_t channels = std::max(state.of_x.channels, state.of_y.channels);
    const std::int64_t total =
        state.of_x.size() + state.of_y.size() + products + taps + turned + channels;
    of_x_ =
        reinterpret_cast<float*>(thread_scratch(total * static_cast<std::int64_t>(sizeof(float))));
    of_y_ = of_x_ + state.of_x.size();
    products_ = of_y_ + state.of_y.size();
    taps_ = products_ + products;
    turned_ = reinterpret_cast<BFloat16*>(taps_ + taps);
    float* const zeros = taps_ + taps + turned;
    zeros_ = reinterpret_cast<const BFloat16*>(zeros);
    std::fill_n(zeros, channels, 0.0F);
  }

  void run() {
    const GemmDim& cols = state_.shape.cols;
    for (std::int64_t panel = 0; panel < state_.panels; panel += state_.at_once) {
      const std::int64_t first = panel * state_.width;
      cols_ = {.begin = first, .extent = std::min(state_.of_y.channels, cols.extent - first)};
      panels_ = ceil_div(cols_.extent, state_.width);
      if (cols_.extent % state_.width != 0) {
        std::fill_n(of_y_, state_.of_y.size(), 0.0F);  // columns that there are none of stay so
      }
      run_columns();
    }
  }

 private:
  void run_columns() {
    for (const Corner& result : state_.results) {
      int waiting = 0;
      auto merges = state_.merges.begin();
      for (const Corner& leaf : state_.leaves) {
        const Corner corner = {
            .x = result.x + leaf.x,
            .y = result.y + leaf.y,
            .places = {result.places[0] + leaf.places[0], result.places[1] + leaf.places[1]}};
        for (std::int64_t p = 0; p < state_.pieces(); ++p) {
          const Interval piece =
              from_to(p * kPieceTiles, std::min((p + 1) * kPieceTiles, state_.tiles()));
          transform(corner, piece);
          multiply(piece.extent, waiting, *merges);
          waiting += 1 - *merges++;
        }
      }
      write(result.out);
    }
  }

  void transform(const Corner& corner, Interval piece) const {
    const auto& [down, across] = state_.places;
    const std::int64_t in_image = down.tiles() * across.tiles();
    for (std::int64_t t = piece.begin; t < piece.end();) {
      const std::int64_t col = t % across.tiles();
      const std::int64_t line = std::min({kLongestLine, across.tiles() - col, piece.end() - t});
      const Corner& image = state_.images[at(t / in_image)];
      const std::array<std::int64_t, 2> first = {Tile::kSide * (t % in_image / across.tiles()),
                                                 Tile::kSide * col};
      transform_x(corner, x_ + corner.x + image.x, first, line, t - piece.begin);
      transform_y(y_ + corner.y + image.y + cols_.begin * state_.shape.cols.b, first, line,
                  t - piece.begin);
      t += line;
    }
  }

  // Of tiles in a line, the first of which has that place in the leaf, and in the piece. What the
  // leaf's own windows do not lie over is 0.
  void transform_x(const Corner& corner, const BFloat16* x,
                   const std::array<std::int64_t, 2>& first, std::int64_t line,
                   std::int64_t tile) const {
    TileSource<BFloat16> source = {
        .from = x, .apart = state_.shape.rows.a, .channels = state_.of_x.channels, .zeros = zeros_};
    std::array<std::int64_t, 2> reads = {};
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const WinogradGradient::Side& side = state_.shape.sides[i];
      const std::int64_t begin = side.reads + corner.places[i];
      const std::int64_t end = begin + state_.places[i].count + kWinogradWindow - 1;
      source.extent[i] = std::min(side.extent, end);
      source.steps[i] = side.x;
      reads[i] = begin + first[i];
    }
    const TileLine<BFloat16, Tile::kSide, Tile::kReads> tiles(source, reads, line, turned_);
    for (std::int64_t t = 0; t < line; ++t) {
      state_.transforms.elements({.from = tiles.elements_of(t),
                                  .count = state_.of_x.channels,
                                  .to = of_x_ + (tile + t) * state_.of_x.row,
                                  .step = state_.of_x.step()});
    }
  }

  void transform_y(const BFloat16* y, const std::array<std::int64_t, 2>& first, std::int64_t line,
                   std::int64_t tile) const {
    const auto& [down, across] = state_.places;
    const TileLine<BFloat16, Tile::kSide, Tile::kSide> tiles({.from = y,
                                                              .extent = {down.count, across.count},
                                                              .steps = {down.step, across.step},
                                                              .apart = state_.shape.cols.b,
                                                              .channels = cols_.extent,
                                                              .zeros = zeros_},
                                                             first, line, turned_);
    for (std::int64_t t = 0; t < line; ++t) {
      state_.sums.places({.from = tiles.elements_of(t),
                          .count = cols_.extent,
                          .to = of_y_ + (tile + t) * state_.of_y.row,
                          .step = state_.of_y.step()});
    }
  }

  [[nodiscard]] Interval rows_of(std::int64_t strip) const {
    return from_to(strip * state_.strip,
                   std::min((strip + 1) * state_.strip, state_.shape.rows.extent));
  }

  [[nodiscard]] float* taps_of(int depth, std::int64_t strip, std::int64_t panel) const {
    return taps_ + depth * state_.all_taps_size() +
           (strip * state_.at_once + panel) * state_.taps_size();
  }

  // The taps of so many tiles, added to those that wait for them.
  void multiply(std::int64_t tiles, int waiting, int merges) const {
    for (std::int64_t strip = 0; strip < state_.strips; ++strip) {
      const Interval rows = rows_of(strip);
      for (std::int64_t panel = 0; panel < panels_; ++panel) {
        multiply(tiles, rows, panel * state_.width);
        std::array<float*, kMaxDepth> places = {};
        for (int i = 0; i <= merges; ++i) {
          places[at(i)] = taps_of(waiting - merges + i, strip, panel);
        }
        state_.sums.taps({.products = products_,
                          .step = state_.product_step(),
                          .count = rows.extent * state_.width,
                          .places = places.data(),
                          .merges = merges});
      }
    }
  }

  void multiply(std::int64_t tiles, Interval rows, std::int64_t col) const {
    const ChainPart part = {.length = tiles};
    TileRun<float> run = {.parts = &part,
                          .count = 1,
                          .a = of_x_ + rows.begin,
                          .a_row = 1,
                          .a_inner = state_.of_x.row,
                          .b = of_y_ + col,
                          .b_inner = state_.of_y.row,
                          .result = products_,
                          .result_stride = state_.width};
    const auto multiply = state_.kernel.tiles[0].adjacent[kGemmVectors - 1][at(rows.extent - 1)];
    for (int i = 0; i < Tile::kProducts; ++i) {
      multiply(run);
      run.a += state_.of_x.step();
      run.b += state_.of_y.step();
      run.result += state_.product_step();
    }
  }

  void write(std::int64_t first) const {
    for (std::int64_t strip = 0; strip < state_.strips; ++strip) {
      const Interval rows = rows_of(strip);
      for (std::int64_t panel = 0; panel < panels_; ++panel) {
        const std::int64_t col = cols_.begin + panel * state_.width;
        const std::int64_t count = std::min(state_.width, cols_.end() - col);
        const float* from = taps_of(0, strip, panel);
        for (std::int64_t tap = 0; tap < kWinogradTaps; ++tap) {
          for (std::int64_t row = rows.begin; row < rows.end(); ++row, from += state_.width) {
            write_cols(from, count, first_of(first, tap, row) + col * state_.shape.cols.out);
          }
        }
      }
    }
  }

  [[nodiscard]] float* first_of(std::int64_t first, std::int64_t tap, std::int64_t row) const {
    return out_ + first + tap / kWinogradWindow * state_.shape.sides[0].out +
           tap % kWinogradWindow * state_.shape.sides[1].out + row * state_.shape.rows.out;
  }

  void write_cols(const float* from, std::int64_t count, float* to) const {
    const std::int64_t step = state_.shape.cols.out;
    if (step == 1) {
      std::copy_n(from, count, to);
      return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
      to[j * step] = from[j];
    }
  }

  const State& state_;
  const BFloat16* x_;
  const BFloat16* y_;
  float* out_;
  float* of_x_ = nullptr;  // numbers of tiles
  float* of_y_ = nullptr;
  float* products_ = nullptr;
  float* taps_ = nullptr;
  BFloat16* turned_ = nullptr;
  const BFloat16* zeros_ = nullptr;
  Interval cols_;  // that are done at once
  std::int64_t panels_ = 0;
};

PreparedWinogradGradient::PreparedWinogradGradient(const WinogradGradient& product, Cpu cpu)
    : state_(std::make_unique<const State>(product, cpu)) {}

PreparedWinogradGradient::~PreparedWinogradGradient() = default;

// clang-tidy 14 does not see what Run writes.
// NOLINTNEXTLINE(readability-non-const-parameter)
void PreparedWinogradGradient::run(const BFloat16* x, const BFloat16* y, float* out) const {
  Run(*state_, x, y, out).run();
}

}  // namespace mtf
