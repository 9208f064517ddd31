// Pooling of one rank's slices.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/kernels/thread_team.h"
#include "stdlib/ops/convolution/windows_over.h"
#include "stdlib/ops/pooling/pools.h"
#include "stdlib/ops/tiles.h"

namespace mtf {
namespace {

// Along one dim of the result, what one place in the windows brings: so many elements of it, and
// what they read.
struct PlaceRun {
  std::int64_t count = 0;
  std::int64_t to = 0;  // the first
  std::int64_t to_step = 1;
  std::int64_t from = 0;  // index in the slice that is read
  std::int64_t from_step = 1;
};

// One dim of the result, and of what is read for it.
struct PoolDim {
  std::int64_t extent = 1;
  std::int64_t offset = 0;       // of the slice of the result
  std::int64_t read_offset = 0;  // of the slice that is read
  std::int64_t to = 1;           // element strides
  std::int64_t from = 1;
  std::int64_t match = 0;
  std::int64_t compare = 0;
  std::optional<std::size_t> axis;                 // that windows lie along
  std::vector<PlaceRun> runs = {};                 // of each place in a window
  std::vector<std::vector<std::int64_t>> at = {};  // for each index, what its windows' places read
};

// Three tensors at most; where there are no others, `match` and `compare` stay at one element.
template <typename T>
struct PoolData {
  const T* read = nullptr;     // through windows
  const T* match = nullptr;    // the same places of another tensor
  const T* compare = nullptr;  // at the places of the result
  T* out = nullptr;

  void advance(const PoolDim& dim, std::int64_t to, std::int64_t from_index) {
    out += to * dim.to;
    compare += to * dim.compare;
    read += from_index * dim.from;
    match += from_index * dim.match;
  }
};

PlaceRun run_of(const PoolDim& dim, const WindowAxis& axis, bool up, std::int64_t tap) {
  const std::int64_t shift = tap * axis.dilation - axis.low;
  const std::int64_t step = axis.stride;
  // index = window * stride + shift, of which the result counts the one and the operand the other
  if (up) {
    const std::int64_t first = std::max<std::int64_t>(dim.offset - shift, 0);
    const std::int64_t window = (first + step - 1) / step;
    const std::int64_t begin = window * step + shift;
    const std::int64_t end =
        std::min(dim.offset + dim.extent, (axis.small.size - 1) * step + shift + 1);
    return {.count = begin < end ? (end - 1 - begin) / step + 1 : 0,
            .to = begin - dim.offset,
            .to_step = step,
            .from = window - dim.read_offset,
            .from_step = 1};
  }
  const std::int64_t least = -shift <= 0 ? 0 : (-shift + step - 1) / step;
  const std::int64_t begin = std::max(dim.offset, least);
  const std::int64_t room = axis.big.size - 1 - shift;
  const std::int64_t end = std::min(dim.offset + dim.extent, room < 0 ? 0 : room / step + 1);
  return {.count = std::max<std::int64_t>(end - begin, 0),
          .to = begin - dim.offset,
          .to_step = 1,
          .from = begin * step + shift - dim.read_offset,
          .from_step = step};
}

// Where a row has fewer elements, the loop around it is what takes time.
constexpr std::int64_t kShortRow = 8;

// What is pooled: blocks of two dims, the second one's elements a row, at each index of the others.
struct Pooling {
  std::size_t axes = 0;
  std::vector<PoolDim> outer;
  std::array<PoolDim, 2> block;
};

using BlockRun = std::array<PlaceRun, 2>;

// The last dim, whose elements are neighbours, unless it is short and another one is not.
std::size_t row_of(std::span<const PoolDim> dims) {
  const auto longest = std::ranges::max_element(dims, {}, &PoolDim::extent);
  return dims.back().extent >= kShortRow ? dims.size() - 1
                                         : static_cast<std::size_t>(longest - dims.begin());
}

std::int64_t stride_along(const KernelCall& call, std::size_t operand, std::size_t loop) {
  const std::size_t dim = dim_of(call.space.operands[operand], loop).value();
  return strides_of(call.in[operand].shape)[dim];
}

PoolDim dim_of_result(const KernelCall& call, const WindowAxes& axes, bool up, std::size_t d) {
  const std::size_t at = dim_of(call.space.operands[0], d).value();
  PoolDim dim{.extent = call.out.shape[d].size,
              .offset = call.out.offset[d],
              .read_offset = call.in[0].offset[at],
              .to = strides_of(call.out.shape)[d],
              .from = stride_along(call, 0, d)};
  if (call.in.size() == 3) {
    dim.match = stride_along(call, up ? 2 : 1, d);
    dim.compare = stride_along(call, up ? 1 : 2, d);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    dim.axis = call.space.windows[i].dim == at ? i : dim.axis;
  }
  for (std::int64_t tap = 0; dim.axis && tap < axes[*dim.axis].taps.size; ++tap) {
    dim.runs.push_back(run_of(dim, axes[*dim.axis], up, tap));
  }
  return dim;
}

// Index by index what the runs of a dim say.
void list_places(PoolDim& dim) {
  dim.at.resize(static_cast<std::size_t>(dim.axis ? dim.extent : 0));
  for (const PlaceRun& run : dim.runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const auto index = static_cast<std::size_t>(run.to + i * run.to_step);
      dim.at[index].push_back(run.from + i * run.from_step);
    }
  }
}

Pooling pooling_of(const KernelCall& call, bool up) {
  const WindowAxes axes = axes_of(call.call.args, up);
  Pooling pooling{.axes = axes.size()};
  for (std::size_t d = 0; d < call.out.shape.rank(); ++d) {
    pooling.outer.push_back(dim_of_result(call, axes, up, d));
  }
  const auto take = [&outer = pooling.outer](std::size_t d) {
    PoolDim dim = std::move(outer[d]);
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(d));
    return dim;
  };
  pooling.block[1] = take(row_of(pooling.outer));
  if (!pooling.outer.empty()) {
    pooling.block[0] = take(pooling.outer.size() - 1);
  }
  std::ranges::for_each(pooling.outer, list_places);
  return pooling;
}

// Each block of the result with all that its windows read, so that these are read while they are
// near; an element's places come in one order, whatever blocks and slices are. `f(element, read,
// match, compare)` is the element with one of them.
template <typename T, typename F>
class BlockPooling {
 public:
  BlockPooling(const Pooling& pooling, T start, const F& f)
      : pooling_(pooling), start_(start), f_(f), at_(pooling.axes) {}

  // Such indices of the first dim; requires: [0, 1) if the block has all dims.
  void run(Interval part, const PoolData<T>& data) { run_dim(0, part, data); }

 private:
  void run_dim(std::size_t d, Interval part, const PoolData<T>& data) {
    const std::vector<PoolDim>& outer = pooling_.outer;
    if (d == outer.size()) {
      return run_block(data);
    }
    const PoolDim& dim = outer[d];
    for (std::int64_t i = part.begin; i < part.end(); ++i) {
      PoolData<T> here = data;
      here.advance(dim, i, dim.axis ? 0 : i);
      if (dim.axis) {
        at_[*dim.axis] = {.dim = &dim, .read = dim.at[static_cast<std::size_t>(i)]};
      }
      run_dim(d + 1, {.begin = 0, .extent = d + 1 < outer.size() ? outer[d + 1].extent : 1}, here);
    }
  }

  void run_block(const PoolData<T>& data) {
    const auto& [rows, row] = pooling_.block;
    for (std::int64_t i = 0; i < rows.extent; ++i) {
      fill_row(data.out + i * rows.to, row);
    }
    run_places(0, {PlaceRun{.count = rows.extent}, PlaceRun{.count = row.extent}}, data);
  }

  void fill_row(T* out, const PoolDim& row) const {
    if (row.to == 1) {
      std::fill_n(out, row.extent, start_);
      return;
    }
    for (std::int64_t i = 0; i < row.extent; ++i) {
      out[i * row.to] = start_;
    }
  }

  // With the places of the windows along these axes and those behind them.
  void run_places(std::size_t axis, const BlockRun& run, const PoolData<T>& data) {
    if (axis == pooling_.axes) {
      return apply(run, data);
    }
    for (std::size_t d = 0; d < run.size(); ++d) {
      for (const PlaceRun& place : pooling_.block[d].runs) {
        if (pooling_.block[d].axis == axis && place.count > 0) {
          BlockRun next = run;
          next[d] = place;
          run_places(axis + 1, next, data);
        }
      }
    }
    for (const std::int64_t from : at_[axis].read) {
      PoolData<T> here = data;
      here.advance(*at_[axis].dim, 0, from);
      run_places(axis + 1, run, here);
    }
  }

  void apply(const BlockRun& run, PoolData<T> data) const {
    const auto& [rows, row] = pooling_.block;
    data.advance(rows, run[0].to, run[0].from);
    data.advance(row, run[1].to, run[1].from);
    for (std::int64_t i = 0; i < run[0].count; ++i) {
      apply_row(run[1], data);
      data.advance(rows, run[0].to_step, run[0].from_step);
    }
  }

  // The loops over neighbours are the compiler's to vectorise.
  void apply_row(const PlaceRun& run, const PoolData<T>& data) const {
    const PoolDim& row = pooling_.block[1];
    const std::int64_t to = row.to * run.to_step;
    const std::int64_t from = row.from * run.from_step;
    const std::int64_t match = row.match * run.from_step;
    const std::int64_t compare = row.compare * run.to_step;
    const bool near = to == 1 && from == 1;
    if (near && match == 0) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        data.out[i] = f_(data.out[i], data.read[i], T{}, T{});
      }
    } else if (near && match == 1 && compare == 1) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        data.out[i] = f_(data.out[i], data.read[i], data.match[i], data.compare[i]);
      }
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) {
        T& element = data.out[i * to];
        element =
            f_(element, data.read[i * from], data.match[i * match], data.compare[i * compare]);
      }
    }
  }

  // What the windows of an index read along an axis; nothing of the block's own.
  struct At {
    const PoolDim* dim = nullptr;
    std::span<const std::int64_t> read = {};
  };

  const Pooling& pooling_;
  T start_;
  const F& f_;
  std::vector<At> at_;  // of each axis
};

template <typename T, typename F>
void pool_elements(const KernelCall& call, bool up, T start, const PoolData<T>& data, const F& f) {
  if (call.out.shape.volume() == 0 || call.in[0].shape.volume() == 0) {
    std::fill_n(data.out, call.out.shape.volume(), start);
    return;
  }
  const Pooling pooling = pooling_of(call, up);
  const std::int64_t parts = pooling.outer.empty() ? 1 : pooling.outer.front().extent;
  const int threads = threads_for(call.host.cpu(), call.out.shape.volume());
  run_in_parts(threads, parts,
               [&](Interval part) { BlockPooling<T, F>(pooling, start, f).run(part, data); });
}

template <typename T>
PoolData<T> data_of(const KernelCall& call, bool up) {
  auto* const read = static_cast<const T*>(call.in[0].data);
  PoolData<T> data{
      .read = read, .match = read, .compare = read, .out = static_cast<T*>(call.out.data)};
  if (call.in.size() == 3) {
    data.match = static_cast<const T*>(call.in[up ? 2 : 1].data);
    data.compare = static_cast<const T*>(call.in[up ? 1 : 2].data);
  }
  return data;
}

void add_pool(const KernelCall& call, bool up) {
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const PoolData<T> data = data_of<T>(call, up);
    if (call.in.size() == 1) {
      return pool_elements<T>(call, up, T{}, data, [](T sum, T x, T, T) {
        return static_cast<T>(to_wrapping(sum) + to_wrapping(x));
      });
    }
    pool_elements<T>(call, up, T{}, data, [](T sum, T x, T match, T compare) {
      return static_cast<T>(to_wrapping(sum) + to_wrapping(match == compare ? x : T{}));
    });
  });
}

}  // namespace

// A NaN stays; of equal elements the later one, which differs at most in the sign of zero.
void max_pool_run(const KernelCall& call) {
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const T least = std::is_integral_v<T> ? std::numeric_limits<T>::lowest()
                                          : -std::numeric_limits<T>::infinity();
    pool_elements<T>(call, false, least, data_of<T>(call, false), [](T best, T x, T, T) {
      const bool is_nan = best != best;  // NOLINT(misc-redundant-expression)
      return best > x || is_nan ? best : x;
    });
  });
}

void sum_pool_run(const KernelCall& call) {
  add_pool(call, false);
}

void spread_pool_run(const KernelCall& call) {
  add_pool(call, true);
}

}  // namespace mtf
