// Which convolutions Winograd's products do, and of one rank's slices, how.

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "ir/support/index.h"
#include "runtime/products/gemm_plan.h"
#include "runtime/products/winograd/transforms.h"
#include "stdlib/ops/convolution/conv_plan.h"
#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {
namespace {

// Below these, transforms take what they save. Other dims of x do not count, so that an image has
// the bits among others that it has alone.
constexpr std::int64_t kLeastSummed = 64;   // indices
constexpr std::int64_t kLeastCols = 32;     // results of a window
constexpr std::int64_t kLeastResults = 16;  // of an image's tiles
constexpr std::int64_t kLeastUsed = 2;      // of three results that tiles make

// A canonical block has at least so many indices for each result along a tile's side, whose results
// take more the more there are; or, so that some ranks can split the sum, a quarter of all indices.
constexpr std::int64_t kLeastBlock = 8;
constexpr std::int64_t kQuarters = 4;
constexpr std::int64_t kShortest = 16;

// Of a kernel's gradient: tiles of a canonical block, whose products are made taps.
constexpr std::int64_t kEnoughTiles = 16;
constexpr std::int64_t kLeastTiles = 8;
constexpr std::int64_t kMostBlocks = 16;  // of a side, as of any sum

constexpr std::int64_t kWideTile = WinogradTile<float>::kSide;
constexpr std::int64_t kNarrowTile = WinogradTile<BFloat16>::kSide;
constexpr const char* kNarrowWay = "conv.winograd.bf16";

bool one_loop_each(const DimMap& map) {
  return std::ranges::all_of(map, [](const auto& loops) { return loops.size() == 1; });
}

// What the loops that are no window's are: of x and the result, of the kernel and the result, of
// both operands and not the result.
struct LoopKinds {
  std::vector<std::size_t> rows;
  std::vector<std::size_t> cols;
  std::vector<std::size_t> summed;
  bool others = false;
};

LoopKinds kinds_of(const IterationSpace& space) {
  LoopKinds kinds;
  for (std::size_t l = 0; l < space.loops.size(); ++l) {
    const bool a = runs_over(space.operands[0], l);
    const bool b = runs_over(space.operands[1], l);
    const bool out = runs_over(space.result, l);
    const bool is_window = std::ranges::any_of(space.windows, [&](const WindowDim& window) {
      return space.operands[0][window.dim].front() == l;
    });
    if (is_window || space.loops[l].role == DimRole::kWhole) {
      continue;
    }
    if (a && b && !out) {
      kinds.summed.push_back(l);
    } else if (a && !b && out) {
      kinds.rows.push_back(l);
    } else if (!a && b && out) {
      kinds.cols.push_back(l);
    } else {
      kinds.others = true;
    }
  }
  return kinds;
}

bool are_small_windows(const WindowAxes& axes) {
  return axes.size() == 2 && std::ranges::all_of(axes, [](const WindowAxis& axis) {
           return axis.stride == 1 && axis.dilation == 1 && axis.taps.size == kWinogradWindow;
         });
}

// The tiles of so many results along each side.
class TileCount {
 public:
  TileCount(const std::array<std::int64_t, 2>& results, std::int64_t side) {
    for (const std::int64_t along : results) {
      tiles_ = saturating_product(tiles_, ceil_div(along, side));
      results_ *= static_cast<double>(along);
      made_ *= static_cast<double>(ceil_div(along, side) * side);
    }
  }

  [[nodiscard]] std::int64_t tiles() const { return tiles_; }
  [[nodiscard]] double made() const { return made_; }
  // Whether most of what tiles make is wanted.
  [[nodiscard]] bool are_filled() const { return 3 * results_ >= kLeastUsed * made_; }

 private:
  std::int64_t tiles_ = 1;
  double results_ = 1;
  double made_ = 1;
};

bool fills_tiles(const WindowAxes& axes, bool up, std::int64_t tile) {
  const auto size = [&axes, up](std::size_t i) { return (up ? axes[i].big : axes[i].small).size; };
  const TileCount count({size(0), size(1)}, tile);
  return count.made() >= kLeastResults && count.are_filled();
}

// How many results a tile has along a side; 0: there are no such products of the dtypes and
// windows, or they would leave most of a tile's results unused.
std::int64_t tile_of(const OpCall& call, const IterationSpace& space, bool up) {
  const auto all_are = [&call](DType dtype) {
    return std::ranges::all_of(
        call.operands, [dtype](const TensorType& operand) { return operand.dtype == dtype; });
  };
  const std::int64_t tile = call.result.dtype != DType::kF32 ? 0
                            : all_are(DType::kF32)           ? kWideTile
                            : all_are(DType::kBF16)          ? kNarrowTile
                                                             : 0;
  const WindowAxes axes = axes_of(call.args, up);
  const bool can = tile > 0 && are_small_windows(axes) && fills_tiles(axes, up, tile) &&
                   std::ranges::all_of(space.operands, one_loop_each);
  return can ? tile : 0;
}

// Whether the loops have so many indices together.
bool reach(const IterationSpace& space, const std::vector<std::size_t>& loops, std::int64_t least) {
  std::int64_t volume = 1;
  for (const std::size_t l : loops) {
    volume = std::min(least, volume * std::min(least, space.loops[l].size));
  }
  return volume >= least;
}

// Cuts the sums of a kernel's gradient over both sides into blocks, as many as leave enough tiles
// in each with those of the other sums, and two along each side if that leaves some. Whether they
// do.
bool cut_into_tiles(IterationSpace& space) {
  std::array<LoopDim*, 2> sides = {};
  std::array<std::int64_t, 2> blocks = {};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i] = &space.loops[space.operands[0][space.windows[i].dim].front()];
    blocks[i] = std::gcd(kMostBlocks, sides[i]->size);
    sides[i]->least_block = sides[i]->size;
  }
  const std::vector<std::int64_t> others = canonical_blocks(space);
  std::int64_t images = 1;
  for (const std::size_t l : kinds_of(space).summed) {
    images = saturating_product(images, space.loops[l].size / others[l]);
  }
  while (true) {
    std::array<std::int64_t, 2> places = {};
    for (std::size_t i = 0; i < sides.size(); ++i) {
      places[i] = sides[i]->least_block = sides[i]->size / blocks[i];
    }
    const TileCount count(places, kNarrowTile);
    const std::int64_t tiles = saturating_product(images, count.tiles());
    std::int64_t& most = blocks[0] > blocks[1] ? blocks[0] : blocks[1];
    if ((tiles >= kEnoughTiles && count.are_filled()) || most <= 2) {
      return tiles >= kLeastTiles && count.are_filled();
    }
    most /= 2;
  }
}

std::size_t loop_named(const IterationSpace& space, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(space.loops, name, &LoopDim::name) -
                                  space.loops.begin());
}

// Where an operand or the result has a loop.
std::size_t dim_with(const DimMap& map, std::size_t loop) {
  return dim_of(map, loop).value();
}

class Planner {
 public:
  Planner(const KernelCall& call, bool up)
      : call_(call),
        space_(call.space),
        up_(up),
        a_(strides_of(call.in[0].shape)),
        b_(strides_of(call.in[1].shape)),
        out_(strides_of(call.out.shape)) {}

  WinogradPlan run() {
    const LoopKinds kinds = kinds_of(space_);
    for (const std::size_t l : kinds.rows) {
      plan_.product.rows.push_back({.extent = extent(l), .a = of_a(l), .out = of_out(l)});
    }
    for (const std::size_t l : kinds.cols) {
      plan_.product.cols.push_back({.extent = extent(l), .b = of_b(l), .out = of_out(l)});
    }
    const std::size_t summed = kinds.summed.front();
    plan_.product.inner = {.extent = extent(summed),
                           .a = of_a(summed),
                           .b = of_b(summed),
                           .blocks = call_.blocks(summed)};
    const WindowAxes axes = axes_of(call_.call.args, up_);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      plan_.product.sides[i] = side_of(axes[i], space_.windows[i].dim);
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::int64_t extent(std::size_t l) const { return call_.shares[l].extent; }
  [[nodiscard]] std::int64_t of_a(std::size_t l) const {
    return a_[dim_with(space_.operands[0], l)];
  }
  [[nodiscard]] std::int64_t of_b(std::size_t l) const {
    return b_[dim_with(space_.operands[1], l)];
  }
  [[nodiscard]] std::int64_t of_out(std::size_t l) const {
    return out_[dim_with(space_.result, l)];
  }

  // Read the other way round, windows meet the kernel backwards.
  WinogradSide side_of(const WindowAxis& axis, std::size_t dim) {
    const std::size_t loop = space_.operands[0][dim].front();
    const std::int64_t first = call_.shares[loop].offset;
    const std::int64_t tap = of_b(loop_named(space_, axis.taps.name));
    const std::int64_t last = kWinogradWindow - 1;
    plan_.b += up_ ? last * tap : 0;
    const std::int64_t before = up_ ? last - axis.low : axis.low;
    // Behind it no window reads what a tile would.
    const std::int64_t read_end = space_.loops[loop].size + last - before;
    return {.first = first,
            .count = extent(loop),
            .reads = first - before - call_.in[0].offset[dim],
            .extent = std::min(call_.in[0].shape[dim].size, read_end - call_.in[0].offset[dim]),
            .a = a_[dim],
            .b = up_ ? -tap : tap,
            .out = of_out(loop)};
  }

  const KernelCall& call_;
  const IterationSpace& space_;
  bool up_;
  std::vector<std::int64_t> a_;
  std::vector<std::int64_t> b_;
  std::vector<std::int64_t> out_;
  WinogradPlan plan_;
};

}  // namespace

bool in_tiles(const IterationSpace& space) {
  return !space.way.empty();
}

void plan_for_winograd(const OpCall& call, bool up, IterationSpace& space) {
  const std::int64_t tile = tile_of(call, space, up);
  const LoopKinds kinds = kinds_of(space);
  if (tile == 0 || kinds.others || kinds.summed.size() != 1 ||
      !reach(space, kinds.summed, kLeastSummed) || !reach(space, kinds.cols, kLeastCols)) {
    return;
  }
  LoopDim& summed = space.loops[kinds.summed.front()];
  summed.least_block = std::clamp(summed.size / kQuarters, kShortest, kLeastBlock * tile);
  for (WindowDim& window : space.windows) {
    window.tile = tile == kWideTile ? 1 : tile;  // these read their own alone
  }
  space.way = tile == kWideTile ? "conv.winograd" : kNarrowWay;
}

void plan_for_winograd_gradient(const OpCall& call, IterationSpace& space) {
  const LoopKinds kinds = kinds_of(space);
  if (tile_of(call, space, false) != kNarrowTile || kinds.others || kinds.rows.size() != 1 ||
      kinds.cols.size() != 1 || !reach(space, kinds.rows, kLeastSummed) ||
      !reach(space, kinds.cols, kLeastSummed)) {
    return;
  }
  IterationSpace cut = space;
  if (cut_into_tiles(cut)) {
    space = std::move(cut);
    space.way = kNarrowWay;
  }
}

WinogradPlan plan_winograd(const KernelCall& call, bool up) {
  return Planner(call, up).run();
}

}  // namespace mtf
