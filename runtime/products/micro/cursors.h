// Where a tile's operands are, from one inner index to the next.
//
// Included only by gemm_kernel_impl.h.

#pragma once

#include <cstdint>

#include "runtime/products/micro/registers.h"

namespace mtf {

// The compiler does not see where the pointer comes from. It would replace one pointer by one for
// each row, for which there are no registers.
template <typename T>
void hide(const T*& pointer) {
  asm("" : "+r"(pointer));
}

// The next elements of a tile's rows of a. Where rows are far apart, three share a pointer: an
// instruction adds a stride once or twice.
template <typename T, int kRows, bool kApart>
class RowsOfA {
 public:
  RowsOfA(const T* first, std::int64_t stride) {
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) {
      at_[i] = first + i * kSharing * stride;
    }
  }

  [[nodiscard]] const T* row(int i, std::int64_t stride) const {
    return at_[i / kSharing] + i % kSharing * stride;
  }

  void advance(std::int64_t by) {
#pragma GCC unroll 4
    for (const T*& pointer : at_) {
      pointer += by;
      if constexpr (kApart) {
        hide(pointer);
      }
    }
  }

 private:
  static constexpr int kSharing = kApart ? 3 : kRows;
  static constexpr int kPointers = (kRows + kSharing - 1) / kSharing;
  const T* at_[kPointers];
};

// Goes along the inner indices of a tile's operands, in even steps. kApart: rows of a are apart,
// and its inner indices side by side; else the other way round.
template <typename V, bool kApart, int kRows>
class StridedCursor {
 public:
  using Value = typename V::Value;

  explicit StridedCursor(const TileRun<Value>& run)
      : a_row_(kApart ? run.a_row : 1),
        a_inner_(kApart ? 1 : run.a_inner),
        b_inner_(run.b_inner),
        a_(run.a, a_row_),
        b_(run.b) {}

  // Adds the first index of new chains.
  template <int kVectors, int kMerges>
  [[gnu::always_inline]] void start(const Before<Value, kMerges>& before,
                                    Registers<V, kRows, kVectors>& acc) {
    add_index<V, kRows, kVectors>(a_, a_row_, b_, acc, before);
    advance(1);
  }

  template <int kVectors>
  [[gnu::always_inline]] void add_one(Registers<V, kRows, kVectors>& acc) {
    add_index<V, kRows, kVectors>(a_, a_row_, b_, acc, InChain());
    advance(1);
  }

  template <int kVectors>
  [[gnu::always_inline]] void add(std::int64_t count, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < count; ++k) {
      add_one<kVectors>(acc);
    }
  }

  void advance(std::int64_t indices) {
    a_.advance(indices * a_inner_);
    b_ += indices * b_inner_;
    if constexpr (kApart) {
      hide(b_);
    }
  }

 private:
  std::int64_t a_row_;
  std::int64_t a_inner_;
  std::int64_t b_inner_;
  RowsOfA<Value, kRows, kApart> a_;
  const Value* b_;
};

// Between rows of which four share a pointer, in bytes.
struct FourSteps {
  std::int64_t one = 0;
  std::int64_t three = 0;  // an instruction multiplies by 2, not by 3
};

// Four rows of a share a pointer, which a table moves from one inner index to the next.
template <typename T, int kRows>
class GatheredRows {
 public:
  GatheredRows(const T* const* fours, std::int64_t bytes) {
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) {
      at_[i] = reinterpret_cast<const char*>(fours[i]) + bytes;
      hide(at_[i]);
    }
  }

  [[nodiscard]] const T* row(int i, const FourSteps& steps) const {
    const int in_four = i % kGatheredRows;
    return reinterpret_cast<const T*>(at_[i / kGatheredRows] +
                                      (in_four == 3 ? steps.three : in_four * steps.one));
  }

 private:
  static constexpr int kPointers = (kRows + kGatheredRows - 1) / kGatheredRows;
  const char* at_[kPointers];
};

// As StridedCursor, where `run.fours` and `run.inner` say where rows of a are.
template <typename V, int kRows>
class GatheredCursor {
 public:
  using Value = typename V::Value;

  explicit GatheredCursor(const TileRun<Value>& run)
      : fours_(run.fours),
        inner_(run.inner),
        b_(run.b),
        b_inner_(run.b_inner),
        steps_{.one = run.a_row * V::kStored, .three = 3 * run.a_row * V::kStored} {
    asm("" : "+r"(steps_.three));
  }

  template <int kVectors, int kMerges>
  [[gnu::always_inline]] void start(const Before<Value, kMerges>& before,
                                    Registers<V, kRows, kVectors>& acc) {
    add_next<kVectors>(acc, before);
  }

  template <int kVectors>
  [[gnu::always_inline]] void add_one(Registers<V, kRows, kVectors>& acc) {
    add_next<kVectors>(acc, InChain());
  }

  template <int kVectors>
  [[gnu::always_inline]] void add(std::int64_t count, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 1
    for (std::int64_t k = 0; k < count; ++k) {
      add_one<kVectors>(acc);
    }
  }

  void advance(std::int64_t indices) {
    inner_ += indices * V::kTogether;
    b_ += indices * b_inner_;
    hide(b_);
  }

 private:
  template <int kVectors, typename When>
  [[gnu::always_inline]] void add_next(Registers<V, kRows, kVectors>& acc, const When& before) {
    const GatheredRows<Value, kRows> a(fours_, *inner_ * V::kStored);
    add_index<V, kRows, kVectors>(a, steps_, b_, acc, before);
    inner_ += V::kTogether;
    b_ += b_inner_;
    hide(b_);
  }

  const Value* const* fours_;
  const std::int64_t* inner_;
  const Value* b_;
  std::int64_t b_inner_;
  FourSteps steps_;
};

}  // namespace mtf
