// Element i of a random tensor depends on the seed, the stream and i alone, so every layout draws
// the same numbers.
//
// A draw is a Philox block of four words. Its key is the seed; its counter is the number of the
// block, then the stream: the operation's own with `seed =`, else the execution and the place of
// the call in the program.

#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ir/kernel.h"
#include "stdlib/ops/random/philox.h"

namespace mtf {

enum class Distribution : std::uint32_t {
  kGauss = 1,
  kEven = 2,
  kTruncated = 3,
  kGumbel = 4,
  kWhole = 5
};

struct DrawStream {
  PhiloxKey key{};
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

[[nodiscard]] DrawStream stream_of(const KernelCall& call, Distribution distribution);
// The words of as many blocks from `first` on.
void draw(const DrawStream& stream, std::uint64_t first, Isa isa, std::span<PhiloxCounter> blocks);

// Elements that are neighbours in the whole tensor too are drawn in runs of at most so many.
inline constexpr std::size_t kRun = 512;

// Elements from global index `first` on, in whole blocks of kPerBlock: `fill(block, run)` makes
// those of the blocks from `block` on.
template <std::size_t kPerBlock, typename T, typename F>
void fill_run(std::int64_t first, std::span<T> out, const F& fill) {
  constexpr auto kBlock = static_cast<std::int64_t>(kPerBlock);
  std::array<T, kRun> numbers{};
  std::size_t done = 0;
  while (done < out.size()) {
    const std::int64_t index = first + static_cast<std::int64_t>(done);
    const auto skip = static_cast<std::size_t>(index % kBlock);
    const std::size_t count = std::min(out.size() - done, kRun - skip);
    const std::size_t drawn = (skip + count + kPerBlock - 1) / kPerBlock * kPerBlock;
    const std::span<T> run = std::span<T>(numbers).first(drawn);
    fill(static_cast<std::uint64_t>(index / kBlock), run);
    std::copy_n(run.begin() + static_cast<std::ptrdiff_t>(skip), count,
                out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

// The slice in rows.
template <std::size_t kPerBlock, typename T, typename F>
void fill_slice(const KernelCall& call, const F& fill) {
  const Shape& local = call.out.shape;
  const std::vector<std::int64_t> global = strides_of(call.call.result.shape);
  const std::span<T> out = elements<T>(call.out);
  const std::size_t rank = local.rank();
  const std::size_t row = rank == 0 ? 1 : static_cast<std::size_t>(local[rank - 1].size);
  std::vector<std::int64_t> index(rank, 0);
  for (std::size_t done = 0; done < out.size(); done += row) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t offset = call.out.offset.empty() ? 0 : call.out.offset[i];
      first += (offset + index[i]) * global[i];
    }
    fill_run<kPerBlock>(first, out.subspan(done, row), fill);
    for (std::size_t i = rank; i-- > 1;) {  // the next row: count up all dims but the last
      if (++index[i - 1] < local[i - 1].size) {
        break;
      }
      index[i - 1] = 0;
    }
  }
}

// ---- what their definitions share ------------------------------------------------------------

// The shape, which is an error if it is missing, in `dtype`.
[[nodiscard]] std::optional<TensorType> drawn_type(OpCall& call, DType dtype, DiagSink& diags);
// The same in the argument "dtype", f32 or f64.
[[nodiscard]] std::optional<TensorType> drawn_float_type(OpCall& call, DiagSink& diags);
// Of numbers that lie around a mean.
[[nodiscard]] std::optional<TensorType> spread_type(OpCall& call, DiagSink& diags);

// shape, the parameters of the distribution, seed, dtype.
[[nodiscard]] std::vector<OpParam> random_params(std::vector<OpParam> own,
                                                 std::string_view dtype_help);
[[nodiscard]] OpParam seed_param();
[[nodiscard]] OpParam real_param(std::string_view name, std::string_view help);

}  // namespace mtf
