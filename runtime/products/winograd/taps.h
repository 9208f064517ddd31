// A kernel's elements as they are transformed: of one panel of columns and one block of the summed
// dim, each tap's columns side by side for each index. Where they do not lie so they are gathered,
// and widened.

#pragma once

#include <array>
#include <cstdint>

#include "runtime/products/offsets.h"
#include "runtime/products/winograd/transforms.h"
#include "runtime/products/winograd/winograd.h"

namespace mtf {

// Of a kernel that is stored as S.
template <typename S>
class WinogradTaps {
 public:
  // `panels`: of `width` columns.
  WinogradTaps(const Winograd& product, std::int64_t width);

  [[nodiscard]] const Offsets& cols() const { return cols_; }
  [[nodiscard]] std::int64_t panels() const { return panels_; }
  [[nodiscard]] std::int64_t size() const;  // elements of what is gathered

  // Whether there are as many columns in a panel as it is wide, and they lie side by side.
  [[nodiscard]] bool fill_panel(std::int64_t panel) const;
  // Where each tap begins in memory.
  [[nodiscard]] std::array<const S*, kWinogradTaps> of(const S* b, std::int64_t panel,
                                                       std::int64_t block) const;
  // And in `to`, where all of them are gathered, with zeros for columns that there are none of.
  std::array<const float*, kWinogradTaps> gather(const S* b, std::int64_t panel, std::int64_t block,
                                                 float* to) const;

  // What the next call would gather, being far apart, is asked of memory some runs at a time while
  // other work is done.
  class Ahead {
   public:
    Ahead() = default;  // nothing
    Ahead(const WinogradTaps& taps, const S* b, std::int64_t panel, std::int64_t block,
          std::int64_t times);
    void fetch();  // is called so many times

   private:
    const WinogradTaps* taps_ = nullptr;
    const S* from_ = nullptr;  // the first tap's
    std::int64_t col_ = 0;     // the first
    bool by_cols_ = false;     // a run is a column's, else an index's
    std::int64_t next_ = 0;
    std::int64_t count_ = 0;
    std::int64_t at_a_time_ = 0;
  };

 private:
  [[nodiscard]] std::int64_t cols_from(std::int64_t col) const;
  [[nodiscard]] bool lie_side_by_side(std::int64_t col) const;
  [[nodiscard]] std::int64_t offset_of(std::int64_t tap) const;
  [[nodiscard]] const S* first_of(const S* b, std::int64_t tap, std::int64_t block) const;
  void gather_tap(const S* from, std::int64_t col, float* to) const;

  std::int64_t rows_step_;
  std::int64_t cols_step_;
  std::int64_t inner_step_;
  std::int64_t leaf_;
  std::int64_t width_;
  Offsets cols_;
  std::int64_t panels_;
};

}  // namespace mtf
