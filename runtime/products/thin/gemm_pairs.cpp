// Where batches lie side by side, a page of them at a time goes down the inner indices, so that
// memory sees long runs, some lines at once, which read much that is the same; where inner indices
// do, a few batches at a time are turned in registers. The chain of each element is the canonical
// one, so nothing shows in the bits.

#include "runtime/products/thin/gemm_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "runtime/products/micro/flushing.h"
#include "runtime/products/pack/gemm_turn.h"

namespace mtf {
namespace {

constexpr std::int64_t kPage = 1024;      // sums of a piece
constexpr std::int64_t kLines = 16;       // rows or columns of a piece
constexpr std::int64_t kShortRun = 8;     // batches side by side; fewer are not worth it
constexpr std::int64_t kTurnedPage = 16;  // batches of a piece that is turned
constexpr std::size_t kAtOnce = 8;        // inner indices per visit to the sums
constexpr std::int64_t kFarRun = 4096;    // indices of a run that no near cache has
constexpr std::int64_t kAhead = 256;      // elements that are asked for ahead of their use then

bool has_long_batches(const GemmPlan& plan) {
  return plan.a_batch.run(0) >= kShortRun && plan.b_batch.run(0) >= kShortRun;
}

bool has_long_inner(const GemmPlan& plan) {
  const auto is_long = [](const Offsets& inner) {
    return inner.even ? inner.step == 1 : inner.run(0) >= kShortRun;
  };
  return is_long(plan.a_inner) && is_long(plan.b_inner);
}

// Rows where there is one column, or columns where there is one row.
std::int64_t a_of_line(const GemmPlan& plan, std::int64_t line) {
  return plan.rows() == 1 ? 0 : plan.a_row.at(line);
}
std::int64_t b_of_line(const GemmPlan& plan, std::int64_t line) {
  return plan.rows() == 1 ? plan.b_col.at(line) : 0;
}
std::int64_t out_of_line(const GemmPlan& plan, std::int64_t line) {
  return (plan.rows() == 1 ? plan.out_col : plan.out_row).at(line);
}

// Some batches of some lines: all of the chain. Operands are stored as S.
template <typename T, typename S>
struct PairsPiece {
  const GemmPlan& plan;
  const PairsBlock<T, S>& block;
  Interval batch;
  Interval lines;
  T* places;  // of the stack, each a page: the sums of a line behind those of the one before

  [[nodiscard]] const S* a(std::int64_t line) const { return block.a + a_of_line(plan, line); }
  [[nodiscard]] const S* b(std::int64_t line) const { return block.b + b_of_line(plan, line); }
  [[nodiscard]] std::int64_t sums() const { return lines.extent * batch.extent; }
};

template <typename S>
using Lines = std::array<const S*, kAtOnce>;

template <typename T, typename S>
void add_lines(const Lines<S>& a, const Lines<S>& b, std::int64_t batches, T* __restrict sums) {
  for (std::int64_t j = 0; j < batches; ++j) {
    T sum = sums[j];
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      sum = std::fma(static_cast<T>(a[k][j]), static_cast<T>(b[k][j]), sum);
    }
    sums[j] = sum;
  }
}

template <typename T, typename S>
void add_line(const S* a, const S* b, std::int64_t batches, T* __restrict sums) {
  for (std::int64_t j = 0; j < batches; ++j) {
    sums[j] = std::fma(static_cast<T>(a[j]), static_cast<T>(b[j]), sums[j]);
  }
}

// Inner indices `indices` of a line, whose batches lie side by side.
template <typename T, typename S>
void add_side_by_side(const PairsPiece<T, S>& piece, std::int64_t line, Interval indices, T* sums) {
  const GemmPlan& plan = piece.plan;
  const S* a = piece.a(line) + plan.a_batch.at(piece.batch.begin);
  const S* b = piece.b(line) + plan.b_batch.at(piece.batch.begin);
  std::int64_t k = indices.begin;
  for (; k + static_cast<std::int64_t>(kAtOnce) <= indices.end(); k += kAtOnce) {
    Lines<S> lines_of_a;
    Lines<S> lines_of_b;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      lines_of_a[i] = a + plan.a_inner.at(k + static_cast<std::int64_t>(i));
      lines_of_b[i] = b + plan.b_inner.at(k + static_cast<std::int64_t>(i));
    }
    add_lines(lines_of_a, lines_of_b, piece.batch.extent, sums);
  }
  for (; k < indices.end(); ++k) {
    add_line(a + plan.a_inner.at(k), b + plan.b_inner.at(k), piece.batch.extent, sums);
  }
}

template <typename T>
using TurnedLines = std::array<const T*, static_cast<std::size_t>(kTurnedPage)>;

// Where the batches of a piece begin, the last one again where there are no more.
template <typename T>
TurnedLines<T> lines_of(const T* begin, const Offsets& offsets, Interval batch) {
  TurnedLines<T> lines;
  for (std::int64_t j = 0; j < kTurnedPage; ++j) {
    lines[static_cast<std::size_t>(j)] =
        begin + offsets.at(batch.begin + std::min(j, batch.extent - 1));
  }
  return lines;
}

// So many inner indices that lie side by side, from the index `first` on.
template <typename T>
void add_run(const PairsPiece<T, T>& piece, std::int64_t first, std::int64_t count, T* sums) {
  using Lanes = Turn<T>;
  constexpr std::int64_t kGroups = kTurnedPage / Lanes::kLanes;
  const GemmPlan& plan = piece.plan;
  const TurnedLines<T> a =
      lines_of(piece.block.a + plan.a_inner.at(first), plan.a_batch, piece.batch);
  const TurnedLines<T> b =
      lines_of(piece.block.b + plan.b_inner.at(first), plan.b_batch, piece.batch);
  typename Lanes::Reg acc[kGroups];
  for (std::int64_t g = 0; g < kGroups; ++g) {
    acc[g] = Lanes::load(sums + g * Lanes::kLanes);
  }
  const bool is_far = count >= kFarRun;
  std::int64_t k = 0;
  for (; k + kTurned <= count; k += kTurned) {
    for (std::int64_t j = k % kTurnedPage; is_far && j < k % kTurnedPage + kTurned; ++j) {
      __builtin_prefetch(a[static_cast<std::size_t>(j)] + k + kAhead);
      __builtin_prefetch(b[static_cast<std::size_t>(j)] + k + kAhead);
    }
#pragma GCC unroll 8
    for (std::int64_t g = 0; g < kGroups; ++g) {
      typename Lanes::Reg left[kTurned];
      typename Lanes::Reg right[kTurned];
      Lanes::turn(a.data() + g * Lanes::kLanes, k, left);
      Lanes::turn(b.data() + g * Lanes::kLanes, k, right);
#pragma GCC unroll 4
      for (std::int64_t i = 0; i < kTurned; ++i) {
        acc[g] = Lanes::fma(left[i], right[i], acc[g]);
      }
    }
  }
  for (std::int64_t g = 0; g < kGroups; ++g) {
    Lanes::store(sums + g * Lanes::kLanes, acc[g]);
  }
  for (; k < count; ++k) {
    for (std::size_t j = 0; j < a.size(); ++j) {
      sums[j] = std::fma(a[j][k], b[j][k], sums[j]);
    }
  }
}

// Run by run of inner indices that lie side by side.
template <typename T>
void add_turned(const PairsPiece<T, T>& piece, Interval indices, T* sums) {
  for (std::int64_t k = indices.begin; k < indices.end();) {
    const std::int64_t count =
        std::min({piece.plan.a_inner.run(k), piece.plan.b_inner.run(k), indices.end() - k});
    add_run(piece, k, count, sums);
    k += count;
  }
}

template <typename T, typename S>
void add_pairs(const PairsPiece<T, S>& piece, Interval indices, T* sums) {
  if constexpr (std::is_same_v<T, S>) {
    if (!has_long_batches(piece.plan)) {
      return add_turned(piece, indices, sums);
    }
  }
  const Flushing<!std::is_same_v<T, S>> flushing;
  for (std::int64_t line = 0; line < piece.lines.extent; ++line) {
    add_side_by_side(piece, piece.lines.begin + line, indices, sums + line * piece.batch.extent);
  }
}

template <typename T, typename S>
void run_pairs_part(const PairsPiece<T, S>& piece, const Chain& chain, const ChainPanel& panel,
                    const ChainPart& part) {
  const std::int64_t sums_of_piece = std::max(piece.sums(), kTurnedPage);
  int depth = part.depth;
  for (int leaf = 0; leaf < chain.leaves; ++leaf, ++depth) {
    T* const sums = piece.places + depth * kPage;
    if (!part.resumes) {
      std::fill_n(sums, sums_of_piece, T(0));
    }
    const std::int64_t begin = panel.begin + part.begin + leaf * part.length;
    add_pairs(piece, from_to(begin, begin + part.length), sums);
    for (int m = merges_behind(chain, part, leaf); m > 0; --m, --depth) {
      const T* right = piece.places + depth * kPage;
      T* left = piece.places + (depth - 1) * kPage;
      for (std::int64_t j = 0; j < piece.sums(); ++j) {
        left[j] += right[j];
      }
    }
  }
}

template <typename T, typename S>
void write(const PairsPiece<T, S>& piece) {
  const GemmPlan& plan = piece.plan;
  const std::int64_t n = piece.batch.begin;
  for (std::int64_t line = 0; line < piece.lines.extent; ++line) {
    const T* const sums = piece.places + line * piece.batch.extent;
    T* const to = piece.block.out + out_of_line(plan, piece.lines.begin + line);
    if (!plan.accumulate && plan.out_batch.run(n) >= piece.batch.extent) {
      std::copy_n(sums, piece.batch.extent, to + plan.out_batch.at(n));
      continue;
    }
    for (std::int64_t j = 0; j < piece.batch.extent; ++j) {
      T& element = to[plan.out_batch.at(n + j)];
      element = plan.accumulate ? element + sums[j] : sums[j];
    }
  }
}

// How many batches, from the n-th on, make a piece.
std::int64_t batches_at(const GemmPlan& plan, std::int64_t n, std::int64_t lines) {
  const std::int64_t most = lines > 1 ? kPage / kLines : kPage;
  return has_long_batches(plan) ? std::min({plan.a_batch.run(n), plan.b_batch.run(n), most})
                                : kTurnedPage;
}

template <typename T, typename S>
void run(const GemmPlan& plan, const Chain& chain, const PairsBlock<T, S>& block, T* scratch) {
  for (std::int64_t i = block.lines.begin; i < block.lines.end(); i += kLines) {
    const Interval lines = from_to(i, std::min(i + kLines, block.lines.end()));
    for (std::int64_t n = block.batch.begin; n < block.batch.end();) {
      const Interval batch =
          from_to(n, std::min(n + batches_at(plan, n, lines.extent), block.batch.end()));
      const PairsPiece<T, S> piece = {
          .plan = plan, .block = block, .batch = batch, .lines = lines, .places = scratch};
      for (const ChainPanel& panel : chain.panels) {
        for (std::size_t p = panel.first_part; p < panel.last_part; ++p) {
          run_pairs_part(piece, chain, panel, chain.parts[p]);
        }
      }
      write(piece);
      n = batch.end();
    }
  }
}

}  // namespace

template <typename S>
bool is_pairs(const GemmPlan& plan) {
  const std::int64_t lines = plan.rows() * plan.cols();
  const bool may_turn = lines == 1 && !std::is_same_v<S, BFloat16>;
  return (plan.rows() == 1 || plan.cols() == 1) && plan.inner() > 0 && plan.batches() > 1 &&
         (has_long_batches(plan) || (may_turn && has_long_inner(plan)));
}

template bool is_pairs<float>(const GemmPlan& plan);
template bool is_pairs<double>(const GemmPlan& plan);
template bool is_pairs<BFloat16>(const GemmPlan& plan);

std::optional<Gemm> by_leaves(const Gemm& product) {
  const auto is_one = [](const GemmDim& dim) { return dim.extent == 1; };
  for (const auto* dims : {&product.batch, &product.rows, &product.cols}) {
    if (!std::ranges::all_of(*dims, is_one)) {
      return std::nullopt;
    }
  }
  Gemm leaves = {.terms = product.terms};
  std::int64_t count = 1;
  for (std::size_t d = product.inner.size(); d-- > 0;) {
    const GemmDim& dim = product.inner[d];
    const std::int64_t length = dim.extent / dim.blocks;
    leaves.batch.insert(
        leaves.batch.begin(),
        {.extent = dim.blocks, .a = dim.a * length, .b = dim.b * length, .out = count});
    leaves.inner.insert(leaves.inner.begin(), {.extent = length, .a = dim.a, .b = dim.b});
    count *= dim.blocks;
  }
  return count > 1 ? std::optional(std::move(leaves)) : std::nullopt;
}

template <typename T>
T sum_of_leaves(std::span<T> sums, std::span<const int> merges) {
  std::size_t depth = 0;
  for (std::size_t leaf = 0; leaf < sums.size(); ++leaf) {
    sums[depth++] = sums[leaf];
    for (int m = merges[leaf]; m > 0; --m, --depth) {
      sums[depth - 2] += sums[depth - 1];
    }
  }
  return sums.front();
}

template float sum_of_leaves(std::span<float> sums, std::span<const int> merges);
template double sum_of_leaves(std::span<double> sums, std::span<const int> merges);

std::int64_t pairs_scratch(const Chain& chain) {
  return (chain.max_depth + chain.leaves) * kPage;
}

void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<float>& block,
               float* scratch) {
  run(plan, chain, block, scratch);
}

void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<double>& block,
               double* scratch) {
  run(plan, chain, block, scratch);
}

void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<float, BFloat16>& block,
               float* scratch) {
  run(plan, chain, block, scratch);
}

}  // namespace mtf
