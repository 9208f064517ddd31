// Tiles are done in groups whose transformed elements stay in a near cache, a group for one panel
// of columns after the other, and for these block by block of the summed dim: the products of as
// many tiles as a micro-kernel has rows, from which the results follow while they are in the
// nearest cache.

#include "runtime/products/winograd/winograd.h"

#include <algorithm>

#include "ir/support/index.h"
#include "runtime/kernels/tree.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/gemm_scratch.h"
#include "runtime/products/micro/gemm_kernel.h"
#include "runtime/products/offsets.h"
#include "runtime/products/winograd/made_results.h"
#include "runtime/products/winograd/taps.h"
#include "runtime/products/winograd/tile_lines.h"
#include "runtime/products/winograd/tiles.h"
#include "runtime/products/winograd/transforms.h"

namespace mtf {
namespace {

constexpr std::int64_t kGroupBytes = 1 << 19;   // of a group's transformed elements, about
constexpr std::int64_t kLeastTiles = 24;        // of a group, for which a kernel is read once, and
constexpr std::int64_t kWorthKernel = 64;       // for which it is transformed
constexpr std::int64_t kKernelBytes = 1 << 24;  // transformed, that are kept for other groups
constexpr std::int64_t kApart = 16;             // elements between what would displace one another
constexpr int kMaxDepth = 64;                   // of the tree
constexpr std::int64_t kTurnedBytes = 1 << 14;  // of a line's elements: a part of the nearest cache

}  // namespace

template <typename S>
struct PreparedWinograd<S>::State {
  using Tile = WinogradTile<S>;

  State(const Winograd& product, Cpu cpu);

  Winograd shape;
  const GemmKernel<float>& kernel;
  const WinogradTransforms<S>& transforms;
  WinogradTiles<S> tiles;
  WinogradTaps<S> taps;
  Offsets col_out;
  std::int64_t all_tiles = 0;
  std::int64_t in_group = 0;  // tiles
  std::int64_t leaf = 0;      // indices of a block
  std::int64_t strip = 0;     // tiles that a micro-kernel does
  std::int64_t width = 0;     // columns that it does
  std::int64_t line = 0;      // tiles whose elements are turned at once
  int depth = 1;              // results that wait at any time
  bool keeps_kernel = false;  // transformed once for all groups

  // Elements of what is transformed.
  [[nodiscard]] std::int64_t panels() const { return taps.panels(); }
  [[nodiscard]] std::int64_t blocks() const { return shape.inner.blocks; }
  [[nodiscard]] std::int64_t element_step() const { return in_group * leaf + kApart; }
  [[nodiscard]] std::int64_t block_step() const { return Tile::kProducts * element_step(); }
  [[nodiscard]] std::int64_t kernel_step() const { return leaf * width + kApart; }
  [[nodiscard]] std::int64_t product_step() const { return strip * width + kApart; }
  [[nodiscard]] std::int64_t kept_size() const {
    return panels() * blocks() * Tile::kProducts * kernel_step();
  }
  [[nodiscard]] std::int64_t strips() const { return ceil_div(in_group, strip); }
  [[nodiscard]] std::int64_t results_size() const { return Tile::kResults * strip * width; }
  [[nodiscard]] std::int64_t line_size() const { return Tile::kReads * cols_in(line) * leaf; }
  // Of x that tiles in a line are made of.
  [[nodiscard]] static std::int64_t cols_in(std::int64_t line) {
    return elements_in_line(Tile::kSide, Tile::kReads, line);
  }
};

template <typename S>
PreparedWinograd<S>::State::State(const Winograd& product, Cpu cpu)
    : shape(product),
      kernel(gemm_kernel(cpu.isa, float())),
      transforms(winograd_transforms(cpu.isa, S())),
      tiles(product),
      taps(product, kernel.lanes * kGemmVectors),
      col_out(offsets_of(product.cols, &GemmDim::out)),
      all_tiles(tiles.size()),
      leaf(product.inner.extent / product.inner.blocks),
      strip(kernel.rows),
      width(kernel.lanes * kGemmVectors) {
  const std::int64_t bytes = Tile::kProducts * static_cast<std::int64_t>(sizeof(float)) *
                             std::max<std::int64_t>(product.inner.extent, 1);
  const bool is_kept = kept_size() * static_cast<std::int64_t>(sizeof(float)) <= kKernelBytes;
  const std::int64_t least = is_kept && all_tiles > kWorthKernel ? kLeastTiles : kWorthKernel;
  const std::int64_t groups =
      ceil_div(all_tiles, std::max(least, kGroupBytes / bytes / strip * strip));
  in_group = std::max<std::int64_t>(ceil_div(all_tiles, std::max<std::int64_t>(groups, 1)), 1);
  // All as high as one another: the few chains of a low one would wait for each other.
  strip = ceil_div(in_group, ceil_div(in_group, strip));
  in_group = ceil_div(in_group, strip) * strip;
  keeps_kernel = groups > 1 && is_kept;
  const std::int64_t a_column =
      Tile::kReads * std::max<std::int64_t>(leaf, 1) * static_cast<std::int64_t>(sizeof(float));
  line = std::clamp<std::int64_t>((kTurnedBytes / a_column - Tile::kReads) / Tile::kSide + 1, 1,
                                  kLongestLine);
  depth = most_waiting(combine_tree_blocks({{blocks()}}));
}

// One run: its memory, and where it is.
template <typename S>
class PreparedWinograd<S>::Run {
 public:
  Run(const State& state, const S* a, const S* b, float* out)
      : state_(state), a_(a), b_(b), out_(out) {
    const std::int64_t blocks = state.blocks();
    const std::int64_t elements = blocks * state.block_step();
    const std::int64_t kernels =
        state.keeps_kernel ? state.kept_size() : Tile::kProducts * state.kernel_step();
    const std::int64_t products = Tile::kProducts * state.product_step();
    const std::int64_t results = state.depth * state.strips() * state.results_size();
    const std::int64_t gathered = std::max(state.line_size(), state.taps.size());
    const std::int64_t total =
        elements + kernels + products + results + gathered + state.shape.inner.extent;
    elements_ =
        reinterpret_cast<float*>(thread_scratch(total * static_cast<std::int64_t>(sizeof(float))));
    kernels_ = elements_ + elements;
    products_ = kernels_ + kernels;
    results_ = products_ + products;
    gathered_ = results_ + results;
    zeros_ = gathered_ + gathered;
    std::fill_n(zeros_, state.shape.inner.extent, 0.0F);
  }

  void run() {
    for (std::int64_t begin = 0; begin < state_.all_tiles; begin += state_.in_group) {
      group_ = from_to(begin, std::min(begin + state_.in_group, state_.all_tiles));
      transform_elements();
      for (std::int64_t panel = 0; panel < state_.panels(); ++panel) {
        run_panel(panel);
      }
    }
  }

 private:
  using Tile = WinogradTile<S>;
  using Place = typename WinogradTiles<S>::Place;

  [[nodiscard]] float* elements_of(std::int64_t block) const {
    return elements_ + block * state_.block_step();
  }

  void transform_elements() {
    const GemmDim& inner = state_.shape.inner;
    for (std::int64_t t = group_.begin; t < group_.end();) {
      const std::int64_t line =
          std::min({state_.line, state_.tiles.left_in_line(t), group_.end() - t});
      if (inner.a == 1) {
        transform(t, line, 0, state_.blocks());
      } else {  // what is turned of a block stays in the nearest cache
        for (std::int64_t block = 0; block < state_.blocks(); ++block) {
          transform(t, line, block, 1);
        }
      }
      t += line;
    }
  }

  // The elements of tiles in a line, of `count` blocks from `block` on.
  void transform(std::int64_t first, std::int64_t line, std::int64_t block,
                 std::int64_t count) const {
    const Place place = state_.tiles.place_of(first);
    TileSource<S> source = state_.tiles.source_of(place, a_);
    source.from += block * state_.leaf * state_.shape.inner.a;
    source.apart = state_.shape.inner.a;
    source.channels = count * state_.leaf;
    source.zeros = reinterpret_cast<const S*>(zeros_);
    float* const to = elements_of(block) + (first - group_.begin) * state_.leaf;
    const TileLine<S, Tile::kSide, Tile::kReads> tiles(source,
                                                       {place.sides[0].reads, place.sides[1].reads},
                                                       line, reinterpret_cast<S*>(gathered_));
    for (std::int64_t t = 0; t < line; ++t) {
      state_.transforms.elements({.from = tiles.elements_of(t),
                                  .count = state_.leaf,
                                  .to = to + t * state_.leaf,
                                  .step = state_.element_step(),
                                  .blocks = count,
                                  .block_from = state_.leaf,
                                  .block_to = state_.block_step()});
    }
  }

  // Of a block of the summed dim. Made for the first group, or just before each use.
  const float* kernels_of(std::int64_t panel, std::int64_t block) {
    const std::int64_t kept = state_.keeps_kernel ? panel * state_.blocks() + block : 0;
    float* const kernels = kernels_ + kept * Tile::kProducts * state_.kernel_step();
    const WinogradTaps<S>& taps = state_.taps;
    if (group_.begin > 0 && state_.keeps_kernel) {
      return kernels;
    }
    if (taps.fill_panel(panel)) {
      state_.transforms.kernel({.from = taps.of(b_, panel, block),
                                .count = state_.width,
                                .to = kernels,
                                .step = state_.kernel_step(),
                                .blocks = state_.leaf,
                                .block_from = state_.shape.inner.b,
                                .block_to = state_.width});
    } else {
      state_.transforms.gathered({.from = taps.gather(b_, panel, block, gathered_),
                                  .count = state_.leaf * state_.width,
                                  .to = kernels,
                                  .step = state_.kernel_step()});
    }
    return kernels;
  }

  // What will be gathered behind a block, while all strips of tiles are done.
  [[nodiscard]] typename WinogradTaps<S>::Ahead behind(std::int64_t panel,
                                                       std::int64_t block) const {
    const std::int64_t next = panel * state_.blocks() + block + 1;
    const bool is_kept = group_.begin > 0 && state_.keeps_kernel;
    if (is_kept || next == state_.panels() * state_.blocks()) {
      return {};
    }
    return {state_.taps, b_, next / state_.blocks(), next % state_.blocks(),
            ceil_div(group_.extent, state_.strip)};
  }

  void run_panel(std::int64_t panel) {
    int waiting = 0;
    for (std::int64_t block = 0; block < state_.blocks(); ++block) {
      const float* const kernels = kernels_of(panel, block);
      const int merges = merges_after(block, state_.blocks());
      typename WinogradTaps<S>::Ahead ahead = behind(panel, block);
      for (std::int64_t first = 0; first < group_.extent; first += state_.strip) {
        const Interval strip = from_to(first, std::min(first + state_.strip, group_.extent));
        ahead.fetch();
        multiply(strip, block, kernels);
        add_up(strip, waiting, merges);
      }
      waiting += 1 - merges;
    }
    write(panel);
  }

  // The products of some tiles.
  void multiply(Interval strip, std::int64_t block, const float* kernels) {
    const ChainPart part = {.length = state_.leaf};
    TileRun<float> run = {.parts = &part,
                          .count = 1,
                          .a = elements_of(block) + strip.begin * state_.leaf,
                          .a_row = state_.leaf,
                          .a_inner = 1,
                          .b = kernels,
                          .b_inner = state_.width,
                          .result = products_,
                          .result_stride = state_.width};
    const auto multiply = state_.kernel.tiles[0].apart[kGemmVectors - 1][at(strip.extent - 1)];
    for (int i = 0; i < Tile::kProducts; ++i) {
      multiply(run);
      run.a += state_.element_step();
      run.b += state_.kernel_step();
      run.result += state_.product_step();
    }
  }

  [[nodiscard]] float* results_of(int depth, std::int64_t strip) const {
    return results_ + (depth * state_.strips() + strip) * state_.results_size();
  }

  void add_up(Interval strip, int waiting, int merges) {
    std::array<float*, kMaxDepth> places = {};
    for (int i = 0; i <= merges; ++i) {
      places[at(i)] = results_of(waiting - merges + i, strip.begin / state_.strip);
    }
    state_.transforms.results({.products = products_,
                               .step = state_.product_step(),
                               .count = strip.extent * state_.width,
                               .places = places.data(),
                               .merges = merges});
  }

  void write(std::int64_t panel) const {
    const std::int64_t col = panel * state_.width;
    MadeResults<S>{.tiles = state_.tiles,
                   .cols = state_.col_out,
                   .group = group_,
                   .strip = state_.strip,
                   .width = state_.width,
                   .are_in_lines = state_.shape.sides[1].out == 1,
                   .from = results_of(0, 0)}
        .write(from_to(col, std::min(col + state_.width, state_.col_out.size)), out_);
  }

  const State& state_;
  const S* a_;
  const S* b_;
  float* out_;
  float* elements_ = nullptr;
  float* kernels_ = nullptr;
  float* products_ = nullptr;
  float* results_ = nullptr;
  float* gathered_ = nullptr;
  float* zeros_ = nullptr;
  Interval group_;
};

template <typename S>
PreparedWinograd<S>::PreparedWinograd(const Winograd& product, Cpu cpu)
    : state_(std::make_unique<const State>(product, cpu)) {}

template <typename S>
PreparedWinograd<S>::~PreparedWinograd() = default;

// clang-tidy 14 does not see what Run writes.
template <typename S>
// NOLINTNEXTLINE(readability-non-const-parameter)
void PreparedWinograd<S>::run(const S* a, const S* b, float* out) const {
  if (state_->all_tiles > 0 && state_->panels() > 0) {
    Run(*state_, a, b, out).run();
  }
}

template class PreparedWinograd<float>;
template class PreparedWinograd<BFloat16>;

}  // namespace mtf
