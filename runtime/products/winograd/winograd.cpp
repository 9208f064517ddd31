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
#include "runtime/products/winograd/taps.h"
#include "runtime/products/winograd/transforms.h"

namespace mtf {
namespace {

constexpr std::int64_t kGroupBytes = 1 << 19;   // of a group's transformed elements, about
constexpr std::int64_t kLeastTiles = 24;        // of a group, for which a kernel is read once, and
constexpr std::int64_t kWorthKernel = 64;       // for which it is transformed
constexpr std::int64_t kKernelBytes = 1 << 24;  // transformed, that are kept for other groups
constexpr std::int64_t kApart = 16;             // elements between what would displace one another
constexpr int kMaxDepth = 64;                   // of the tree

// What each tile of a side reads and makes.
struct TileSide {
  std::int64_t reads = 0;  // the first index of x
  std::int64_t makes = 0;  // the first of its results, perhaps one before those that there are
};

TileSide tile_of(const WinogradSide& side, std::int64_t length, std::int64_t i) {
  const std::int64_t makes = length * i - side.first % length;
  return {.reads = side.reads + makes, .makes = makes};
}

std::int64_t tiles_of(const WinogradSide& side, std::int64_t length) {
  return ceil_div(side.first % length + side.count, length);
}

}  // namespace

template <typename S>
struct PreparedWinograd<S>::State {
  using Tile = WinogradTile<S>;

  State(const Winograd& product, Cpu cpu);

  Winograd shape;
  const GemmKernel<float>& kernel;
  const WinogradTransforms<S>& transforms;
  Offsets row_a;
  Offsets row_out;
  WinogradTaps<S> taps;
  Offsets col_out;
  std::array<std::int64_t, 2> tiles = {};  // of the sides
  std::int64_t all_tiles = 0;
  std::int64_t in_group = 0;  // tiles
  std::int64_t leaf = 0;      // indices of a block
  std::int64_t strip = 0;     // tiles that a micro-kernel does
  std::int64_t width = 0;     // columns that it does
  int depth = 1;              // results that wait at any time
  bool keeps_kernel = false;  // transformed once for all groups

  // Elements of what is transformed.
  [[nodiscard]] std::int64_t panels() const { return taps.panels(); }
  [[nodiscard]] std::int64_t blocks() const { return shape.inner.blocks; }
  [[nodiscard]] std::int64_t element_step() const { return in_group * leaf + kApart; }
  [[nodiscard]] std::int64_t kernel_step() const { return leaf * width + kApart; }
  [[nodiscard]] std::int64_t product_step() const { return strip * width + kApart; }
  [[nodiscard]] std::int64_t kept_size() const {
    return panels() * blocks() * Tile::kProducts * kernel_step();
  }
  [[nodiscard]] std::int64_t strips() const { return ceil_div(in_group, strip); }
  [[nodiscard]] std::int64_t results_size() const { return Tile::kResults * strip * width; }
};

template <typename S>
PreparedWinograd<S>::State::State(const Winograd& product, Cpu cpu)
    : shape(product),
      kernel(gemm_kernel(cpu.isa, float())),
      transforms(winograd_transforms(cpu.isa, S())),
      row_a(offsets_of(product.rows, &GemmDim::a)),
      row_out(offsets_of(product.rows, &GemmDim::out)),
      taps(product, kernel.lanes * kGemmVectors),
      col_out(offsets_of(product.cols, &GemmDim::out)),
      tiles({tiles_of(product.sides[0], Tile::kSide), tiles_of(product.sides[1], Tile::kSide)}),
      all_tiles(row_a.size * tiles[0] * tiles[1]),
      leaf(product.inner.extent / product.inner.blocks),
      strip(kernel.rows),
      width(kernel.lanes * kGemmVectors) {
  const std::int64_t bytes = Tile::kProducts * static_cast<std::int64_t>(sizeof(float)) *
                             std::max<std::int64_t>(product.inner.extent, 1);
  const bool is_kept = kept_size() * static_cast<std::int64_t>(sizeof(float)) <= kKernelBytes;
  const std::int64_t least = is_kept && all_tiles > kWorthKernel ? kLeastTiles : kWorthKernel;
  const std::int64_t groups =
      ceil_div(all_tiles, std::max(least, kGroupBytes / bytes / strip * strip));
  in_group = ceil_div(ceil_div(all_tiles, std::max<std::int64_t>(groups, 1)), strip) * strip;
  keeps_kernel = groups > 1 && is_kept;
  int waiting = 0;
  for (std::int64_t i = 0; i < blocks(); ++i) {
    depth = std::max(depth, ++waiting);
    waiting -= merges_after(i, blocks());
  }
}

// One run: its memory, and where it is.
template <typename S>
class PreparedWinograd<S>::Run {
 public:
  Run(const State& state, const S* a, const S* b, float* out)
      : state_(state), a_(a), b_(b), out_(out) {
    const std::int64_t blocks = state.blocks();
    const std::int64_t elements = blocks * Tile::kProducts * state.element_step();
    const std::int64_t kernels =
        state.keeps_kernel ? state.kept_size() : Tile::kProducts * state.kernel_step();
    const std::int64_t products = Tile::kProducts * state.product_step();
    const std::int64_t results = state.depth * state.strips() * state.results_size();
    const std::int64_t gathered = std::max(Tile::kProducts * state.leaf, state.taps.size());
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
  using Elements = std::array<const S*, Tile::kProducts>;

  // A tile by its place in both sides and its row.
  struct Place {
    std::int64_t row = 0;
    std::array<TileSide, 2> sides;
  };

  [[nodiscard]] Place place_of(std::int64_t tile) const {
    const std::int64_t in_row = tile / state_.tiles[1];
    return {.row = in_row / state_.tiles[0],
            .sides = {tile_of(state_.shape.sides[0], Tile::kSide, in_row % state_.tiles[0]),
                      tile_of(state_.shape.sides[1], Tile::kSide, tile % state_.tiles[1])}};
  }

  [[nodiscard]] float* elements_of(std::int64_t block) const {
    return elements_ + block * Tile::kProducts * state_.element_step();
  }

  void transform_elements() {
    for (std::int64_t t = group_.begin; t < group_.end(); ++t) {
      const Place place = place_of(t);
      Elements from = {};
      for (int i = 0; i < Tile::kProducts; ++i) {
        from[at(i)] = element_at(place, i / Tile::kReads, i % Tile::kReads);
      }
      for (std::int64_t block = 0; block < state_.blocks(); ++block) {
        const bool gathers = state_.shape.inner.a != 1;
        state_.transforms.elements(
            {.from = gathers ? gather(from, block) : advanced(from, block * state_.leaf),
             .count = state_.leaf,
             .to = elements_of(block) + (t - group_.begin) * state_.leaf,
             .step = state_.element_step()});
      }
    }
  }

  // null: there is none.
  [[nodiscard]] const S* element_at(const Place& place, int i, int j) const {
    const auto& [rows, cols] = state_.shape.sides;
    const std::int64_t row = place.sides[0].reads + i;
    const std::int64_t col = place.sides[1].reads + j;
    if (row < 0 || row >= rows.extent || col < 0 || col >= cols.extent) {
      return nullptr;
    }
    return a_ + state_.row_a.at(place.row) + row * rows.a + col * cols.a;
  }

  [[nodiscard]] Elements advanced(Elements from, std::int64_t by) const {
    for (const S*& x : from) {
      x = x == nullptr ? zeros() : x + by;
    }
    return from;
  }

  [[nodiscard]] const S* zeros() const { return reinterpret_cast<const S*>(zeros_); }

  // Copied, where a tile's elements do not lie side by side.
  [[nodiscard]] Elements gather(Elements from, std::int64_t block) const {
    const std::int64_t stride = state_.shape.inner.a;
    S* to = reinterpret_cast<S*>(gathered_);
    for (const S*& x : from) {
      if (x == nullptr) {
        x = zeros();
        continue;
      }
      const S* first = x + block * state_.leaf * stride;
      for (std::int64_t k = 0; k < state_.leaf; ++k) {
        to[k] = first[k * stride];
      }
      x = to;
      to += state_.leaf;
    }
    return from;
  }

  // Of a block of the summed dim. Made for the first group, or just before each use.
  const float* kernels_of(std::int64_t panel, std::int64_t block) {
    const std::int64_t kept = state_.keeps_kernel ? panel * state_.blocks() + block : 0;
    float* const kernels = kernels_ + kept * Tile::kProducts * state_.kernel_step();
    if (group_.begin == 0 || !state_.keeps_kernel) {
      state_.taps.gather(b_, panel, block, gathered_);
      state_.transforms.kernel({.taps = gathered_,
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
    for (std::int64_t t = 0; t < group_.extent; ++t) {
      const Place place = place_of(group_.begin + t);
      const std::int64_t strip = t / state_.strip;
      const std::int64_t tiles = std::min(state_.strip, group_.extent - strip * state_.strip);
      for (int i = 0; i < Tile::kResults; ++i) {
        if (float* const to = result_at(place, i / Tile::kSide, i % Tile::kSide)) {
          write_cols(results_of(0, strip) + (i * tiles + t % state_.strip) * state_.width,
                     panel * state_.width, to);
        }
      }
    }
  }

  void write_cols(const float* from, std::int64_t first, float* to) const {
    const std::int64_t count = std::min(state_.width, state_.col_out.size - first);
    if (state_.col_out.run(first) >= count) {
      std::copy_n(from, count, to + state_.col_out.at(first));
      return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
      to[state_.col_out.at(first + j)] = from[j];
    }
  }

  // null: it is not this rank's.
  [[nodiscard]] float* result_at(const Place& place, int i, int j) const {
    const auto& [rows, cols] = state_.shape.sides;
    const std::int64_t row = place.sides[0].makes + i;
    const std::int64_t col = place.sides[1].makes + j;
    if (row < 0 || row >= rows.count || col < 0 || col >= cols.count) {
      return nullptr;
    }
    return out_ + state_.row_out.at(place.row) + row * rows.out + col * cols.out;
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
