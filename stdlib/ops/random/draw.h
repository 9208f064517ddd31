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

// At most so many numbers are made at a time.
inline constexpr std::size_t kRun = 512;

// The numbers of a slice, of kPerBlock in each block. Rows that are short, as of a dim of size 1,
// are made together: `make(blocks, numbers)` says what the numbers are of one or many.
template <std::size_t kPerBlock, typename T, typename F>
class SliceDraw {
 public:
  SliceDraw(const KernelCall& call, Distribution distribution, const F& make)
      : stream_(stream_of(call, distribution)), isa_(call.host.cpu().isa), make_(make) {}

  // The elements of the whole tensor from `first` on, in its order.
  void take(std::uint64_t first, std::span<T> out) {
    while (!out.empty()) {
      const auto skip = static_cast<std::size_t>(first % kPerBlock);
      const std::size_t room = (blocks_.size() - used_) * kPerBlock;
      const std::size_t count = std::min(out.size(), room - skip);
      const std::size_t drawn = (skip + count + kPerBlock - 1) / kPerBlock;
      draw(stream_, first / kPerBlock, isa_, std::span(blocks_).subspan(used_, drawn));
      pieces_.push_back({.begin = used_ * kPerBlock + skip, .out = out.first(count)});
      used_ += drawn;
      first += count;
      out = out.subspan(count);
      if (used_ == blocks_.size()) {
        finish();
      }
    }
  }

  void finish() {
    make_(std::span<const PhiloxCounter>(blocks_).first(used_),
          std::span(numbers_).first(used_ * kPerBlock));
    for (const Piece& piece : pieces_) {
      std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(piece.begin), piece.out.size(),
                  piece.out.begin());
    }
    pieces_.clear();
    used_ = 0;
  }

 private:
  struct Piece {
    std::size_t begin = 0;  // in numbers_
    std::span<T> out;
  };

  DrawStream stream_;
  Isa isa_;
  const F& make_;
  std::array<PhiloxCounter, kRun / kPerBlock> blocks_{};
  std::array<T, kRun> numbers_{};
  std::vector<Piece> pieces_;
  std::size_t used_ = 0;  // of the blocks
};

// How many of a slice's first dims are outside of its rows, which lie together in the whole tensor,
// too.
[[nodiscard]] inline std::size_t dims_of_rows(const Shape& local, const Shape& whole) {
  std::size_t outer = local.rank();
  for (bool is_whole = true; outer > 0 && is_whole; --outer) {
    is_whole = local[outer - 1].size == whole[outer - 1].size;
  }
  return outer;
}

// The slice, row by row.
template <std::size_t kPerBlock, typename T, typename F>
void fill_slice(const KernelCall& call, Distribution distribution, const F& make) {
  const Shape& local = call.out.shape;
  const std::vector<std::int64_t> global = strides_of(call.call.result.shape);
  const std::span<T> out = elements<T>(call.out);
  const std::size_t outer = dims_of_rows(local, call.call.result.shape);
  std::size_t row = 1;
  for (std::size_t i = outer; i < local.rank(); ++i) {
    row *= static_cast<std::size_t>(local[i].size);
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < call.out.offset.size(); ++i) {
    first += call.out.offset[i] * global[i];
  }
  SliceDraw<kPerBlock, T, F> numbers(call, distribution, make);
  std::vector<std::int64_t> index(outer, 0);
  for (std::size_t done = 0; done < out.size(); done += row) {
    numbers.take(static_cast<std::uint64_t>(first), out.subspan(done, row));
    for (std::size_t i = outer; i > 0; --i) {  // the next row
      first += global[i - 1];
      if (++index[i - 1] < local[i - 1].size) {
        break;
      }
      first -= index[i - 1] * global[i - 1];
      index[i - 1] = 0;
    }
  }
  numbers.finish();
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
