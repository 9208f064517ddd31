// Pooling of one rank's slices.

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "runtime/kernels/thread_team.h"
#include "stdlib/ops/convolution/pools.h"
#include "stdlib/ops/convolution/windows_over.h"
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
  const WindowAxis* axis = nullptr;
};

// Three tensors at most; where there are no others, `match` and `compare` stay at one element.
template <typename T>
struct PoolData {
  const T* read = nullptr;     // through windows
  const T* match = nullptr;    // the same places of another tensor
  const T* compare = nullptr;  // at the places of the result
  T* out = nullptr;
};

class Pooling {
 public:
  Pooling(const KernelCall& call, bool up) : up_(up), axes_(axes_of(call.call.args, up)) {
    const TensorView& in = call.in[0];
    const std::vector<std::int64_t> to = strides_of(call.out.shape);
    for (std::size_t d = 0; d < call.out.shape.rank(); ++d) {
      const std::size_t at = dim_of(call.space.operands[0], d).value();
      PoolDim dim{.extent = call.out.shape[d].size,
                  .offset = call.out.offset[d],
                  .read_offset = in.offset[at],
                  .to = to[d],
                  .from = stride_along(call, 0, d)};
      if (call.in.size() == 3) {
        dim.match = stride_along(call, up ? 2 : 1, d);
        dim.compare = stride_along(call, up ? 1 : 2, d);
      }
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        dim.axis = call.space.windows[i].dim == at ? &axes_[i] : dim.axis;
      }
      dims_.push_back(dim);
    }
  }
  Pooling(const Pooling&) = delete;
  Pooling& operator=(const Pooling&) = delete;
  Pooling(Pooling&&) = delete;
  Pooling& operator=(Pooling&&) = delete;
  ~Pooling() = default;

  [[nodiscard]] std::span<const PoolDim> dims() const { return dims_; }

  // Whether indices of the first dim are pooled by themselves.
  [[nodiscard]] bool has_batch() const { return dims_.size() > 1 && dims_.front().axis == nullptr; }

  // Calls `f(runs)` for each place in a window, the same order for all: one run for each dim.
  template <typename F>
  void for_each_place(Interval batch, const F& f) const {
    std::vector<std::int64_t> taps(axes_.size(), 0);
    std::vector<PlaceRun> runs(dims_.size());
    for (;;) {
      for (std::size_t d = 0; d < dims_.size(); ++d) {
        const PoolDim& dim = dims_[d];
        runs[d] = dim.axis == nullptr
                      ? PlaceRun{.count = dim.extent}
                      : run_of(dim, taps[static_cast<std::size_t>(dim.axis - axes_.data())]);
      }
      if (has_batch()) {
        runs.front() = {.count = batch.extent, .to = batch.begin, .from = batch.begin};
      }
      f(std::span<const PlaceRun>(runs));
      std::size_t i = axes_.size();
      while (i > 0 && ++taps[i - 1] == axes_[i - 1].taps.size) {
        taps[--i] = 0;
      }
      if (i == 0) {
        return;
      }
    }
  }

 private:
  static std::int64_t stride_along(const KernelCall& call, std::size_t operand, std::size_t loop) {
    const std::size_t dim = dim_of(call.space.operands[operand], loop).value();
    return strides_of(call.in[operand].shape)[dim];
  }

  [[nodiscard]] PlaceRun run_of(const PoolDim& dim, std::int64_t tap) const {
    const WindowAxis& axis = *dim.axis;
    const std::int64_t shift = tap * axis.dilation - axis.low;
    const std::int64_t step = axis.stride;
    PlaceRun run;
    // index = window * stride + shift, of which the result counts the one and the operand the other
    if (up_) {
      const std::int64_t first = std::max<std::int64_t>(dim.offset - shift, 0);
      const std::int64_t window = (first + step - 1) / step;
      const std::int64_t begin = window * step + shift;
      const std::int64_t end =
          std::min(dim.offset + dim.extent, (axis.small.size - 1) * step + shift + 1);
      run = {.count = begin < end ? (end - 1 - begin) / step + 1 : 0,
             .to = begin - dim.offset,
             .to_step = step,
             .from = window - dim.read_offset,
             .from_step = 1};
    } else {
      const std::int64_t least = -shift <= 0 ? 0 : (-shift + step - 1) / step;
      const std::int64_t begin = std::max(dim.offset, least);
      const std::int64_t room = axis.big.size - 1 - shift;
      const std::int64_t end = std::min(dim.offset + dim.extent, room < 0 ? 0 : room / step + 1);
      run = {.count = std::max<std::int64_t>(end - begin, 0),
             .to = begin - dim.offset,
             .to_step = 1,
             .from = begin * step + shift - dim.read_offset,
             .from_step = step};
    }
    return run;
  }

  bool up_;
  WindowAxes axes_;
  std::vector<PoolDim> dims_;
};

// Element strides between neighbours of a row.
struct RowSteps {
  std::int64_t to = 1;
  std::int64_t from = 1;
  std::int64_t match = 1;
  std::int64_t compare = 1;
};

template <typename T>
void advance(PoolData<T>& data, const RowSteps& steps, std::int64_t to, std::int64_t from) {
  data.out += to * steps.to;
  data.compare += to * steps.compare;
  data.read += from * steps.from;
  data.match += from * steps.match;
}

// Calls `f(data, count, steps)` for each row of what the runs say.
template <typename T, typename F>
void for_each_row(std::span<const PoolDim> dims, std::span<const PlaceRun> runs, PoolData<T> data,
                  const F& f) {
  const PlaceRun& run = runs.front();
  const PoolDim& dim = dims.front();
  const RowSteps one = {.to = dim.to, .from = dim.from, .match = dim.match, .compare = dim.compare};
  advance(data, one, run.to, run.from);
  if (dims.size() == 1) {
    return f(data, run.count,
             RowSteps{.to = dim.to * run.to_step,
                      .from = dim.from * run.from_step,
                      .match = dim.match * run.from_step,
                      .compare = dim.compare * run.to_step});
  }
  for (std::int64_t i = 0; i < run.count; ++i) {
    for_each_row(dims.subspan(1), runs.subspan(1), data, f);
    advance(data, one, run.to_step, run.from_step);
  }
}

// Applies `f(element, read, match, compare)`; the loop over neighbours is the compiler's to
// vectorise.
template <typename T, typename F>
void apply_row(const PoolData<T>& data, std::int64_t count, const RowSteps& steps, const F& f) {
  const bool near = steps.to == 1 && steps.from == 1;
  if (near && steps.match == 0) {
    for (std::int64_t i = 0; i < count; ++i) {
      data.out[i] = f(data.out[i], data.read[i], T{}, T{});
    }
  } else if (near && steps.match == 1 && steps.compare == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      data.out[i] = f(data.out[i], data.read[i], data.match[i], data.compare[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      T& element = data.out[i * steps.to];
      element = f(element, data.read[i * steps.from], data.match[i * steps.match],
                  data.compare[i * steps.compare]);
    }
  }
}

template <typename T, typename F>
void pool_elements(const KernelCall& call, bool up, T start, const PoolData<T>& data, const F& f) {
  std::fill_n(data.out, call.out.shape.volume(), start);
  if (call.out.shape.volume() == 0 || call.in[0].shape.volume() == 0) {
    return;
  }
  const Pooling pooling(call, up);
  const auto pool_batch = [&](Interval batch) {
    pooling.for_each_place(batch, [&](std::span<const PlaceRun> runs) {
      if (std::ranges::any_of(runs, [](const PlaceRun& run) { return run.count == 0; })) {
        return;
      }
      for_each_row(pooling.dims(), runs, data,
                   [&](const PoolData<T>& row, std::int64_t count, const RowSteps& steps) {
                     apply_row(row, count, steps, f);
                   });
    });
  };
  if (!pooling.has_batch()) {
    return pool_batch({.begin = 0, .extent = 1});
  }
  const int threads = threads_for(call.host.cpu(), call.out.shape.volume());
  run_in_parts(threads, call.out.shape[0].size, [&](Interval batches) {
    for (std::int64_t i = batches.begin; i < batches.end(); ++i) {
      pool_batch({.begin = i, .extent = 1});
    }
  });
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
