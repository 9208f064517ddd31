#include "runtime/products/winograd/taps.h"

#include <algorithm>
#include <array>

#include "ir/support/index.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/pack/gemm_turn.h"

namespace mtf {
namespace {

constexpr std::int64_t kLine = 64;        // bytes that memory moves at once
constexpr std::int64_t kColsAtATime = 8;  // that are turned: no more lie in one place of a cache

// Columns that are apart, side by side.
template <std::int64_t kCount, typename S>
void turn(const S* const* cols, std::int64_t step, std::int64_t length, float* to,
          std::int64_t width) {
  std::int64_t k = 0;
  if constexpr (kCount == Turn<float>::kLanes) {
    for (; step == 1 && k + kTurned <= length; k += kTurned) {
      turn_to(cols, k, width, to + k * width);
    }
  }
  for (; k < length; ++k) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < kCount; ++j) {
      to[k * width + j] = static_cast<float>(cols[j][k * step]);
    }
  }
}

}  // namespace

template <typename S>
WinogradTaps<S>::WinogradTaps(const Winograd& product, std::int64_t width)
    : rows_step_(product.sides[0].b),
      cols_step_(product.sides[1].b),
      inner_step_(product.inner.b),
      leaf_(product.inner.extent / product.inner.blocks),
      width_(width),
      cols_(offsets_of(product.cols, &GemmDim::b)),
      panels_(ceil_div(cols_.size, width)) {}

template <typename S>
std::int64_t WinogradTaps<S>::size() const {
  return kWinogradTaps * leaf_ * width_;
}

template <typename S>
std::int64_t WinogradTaps<S>::cols_from(std::int64_t col) const {
  return std::min(width_, cols_.size - col);
}

template <typename S>
bool WinogradTaps<S>::lie_side_by_side(std::int64_t col) const {
  return cols_.run(col) >= cols_from(col);
}

template <typename S>
std::int64_t WinogradTaps<S>::offset_of(std::int64_t tap) const {
  return tap / kWinogradWindow * rows_step_ + tap % kWinogradWindow * cols_step_;
}

template <typename S>
const S* WinogradTaps<S>::first_of(const S* b, std::int64_t tap, std::int64_t block) const {
  return b + offset_of(tap) + block * leaf_ * inner_step_;
}

template <typename S>
bool WinogradTaps<S>::fill_panel(std::int64_t panel) const {
  const std::int64_t col = panel * width_;
  return cols_from(col) == width_ && lie_side_by_side(col);
}

template <typename S>
std::array<const S*, kWinogradTaps> WinogradTaps<S>::of(const S* b, std::int64_t panel,
                                                        std::int64_t block) const {
  std::array<const S*, kWinogradTaps> taps = {};
  for (std::int64_t tap = 0; tap < kWinogradTaps; ++tap) {
    taps[at(tap)] = first_of(b, tap, block) + cols_.at(panel * width_);
  }
  return taps;
}

template <typename S>
std::array<const float*, kWinogradTaps> WinogradTaps<S>::gather(const S* b, std::int64_t panel,
                                                                std::int64_t block,
                                                                float* to) const {
  const std::int64_t col = panel * width_;
  if (cols_from(col) < width_) {
    std::fill_n(to, size(), 0.0F);
  }
  std::array<const float*, kWinogradTaps> taps = {};
  for (std::int64_t tap = 0; tap < kWinogradTaps; ++tap) {
    gather_tap(first_of(b, tap, block), col, to);
    taps[at(tap)] = to;
    to += leaf_ * width_;
  }
  return taps;
}

template <typename S>
void WinogradTaps<S>::gather_tap(const S* from, std::int64_t col, float* to) const {
  const std::int64_t count = cols_from(col);
  if (lie_side_by_side(col)) {
    for (std::int64_t k = 0; k < leaf_; ++k) {
      const S* const row = from + k * inner_step_ + cols_.at(col);
      std::transform(row, row + count, to + k * width_, [](S x) { return static_cast<float>(x); });
    }
    return;
  }
  for (std::int64_t j = 0; j < count; j += kColsAtATime) {
    const std::int64_t few = std::min(kColsAtATime, count - j);
    std::array<const S*, kColsAtATime> cols = {};
    for (std::int64_t i = 0; i < few; ++i) {
      cols[static_cast<std::size_t>(i)] = from + cols_.at(col + j + i);
    }
    if (few == kColsAtATime) {
      turn<kColsAtATime>(cols.data(), inner_step_, leaf_, to + j, width_);
      continue;
    }
    for (std::int64_t i = 0; i < few; ++i) {
      turn<1>(cols.data() + i, inner_step_, leaf_, to + j + i, width_);
    }
  }
}

template <typename S>
WinogradTaps<S>::Ahead::Ahead(const WinogradTaps& taps, const S* b, std::int64_t panel,
                              std::int64_t block, std::int64_t times)
    : taps_(&taps),
      from_(taps.first_of(b, 0, block)),
      col_(panel * taps.width_),
      by_cols_(!taps.lie_side_by_side(col_)),
      count_(kWinogradTaps * (by_cols_ ? taps.cols_from(col_) : taps.leaf_)),
      at_a_time_(ceil_div(count_, times)) {}

template <typename S>
void WinogradTaps<S>::Ahead::fetch() {
  const std::int64_t in_tap = count_ / kWinogradTaps;
  for (const std::int64_t end = std::min(next_ + at_a_time_, count_); next_ < end; ++next_) {
    const std::int64_t i = next_ % in_tap;
    const S* run = from_ + taps_->offset_of(next_ / in_tap) +
                   taps_->cols_.at(col_ + (by_cols_ ? i : 0)) +
                   (by_cols_ ? 0 : i * taps_->inner_step_);
    const std::int64_t length = by_cols_ ? taps_->leaf_ : taps_->width_;
    for (std::int64_t j = 0; j < length; j += kLine / static_cast<std::int64_t>(sizeof(S))) {
      __builtin_prefetch(run + j, 0, 2);
    }
  }
}

template class WinogradTaps<float>;
template class WinogradTaps<BFloat16>;

}  // namespace mtf
