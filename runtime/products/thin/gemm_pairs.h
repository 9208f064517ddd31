// Products of one row or one column: for each batch, vectors multiplied element by element and
// summed, as of the gradient of a norm's scale, or of a convolution that has a kernel of its own
// for each channel. Batches are the lanes.

#pragma once

#include <optional>
#include <span>

#include "runtime/products/gemm_block.h"

namespace mtf {

// Whether `run_pairs` serves a product of operands stored as S: batches lie side by side on both
// sides, or inner indices do, not of bf16, and there is one row and one column.
template <typename S>
[[nodiscard]] bool is_pairs(const GemmPlan& plan);

// Of one product of two vectors, whose chains would wait for themselves: those of its leaves, each
// a batch; nullopt: it is another, or one leaf.
[[nodiscard]] std::optional<Gemm> by_leaves(const Gemm& product);
// What they are together; `merges` as in the plan of the product. `sums` is written to.
template <typename T>
[[nodiscard]] T sum_of_leaves(std::span<T> sums, std::span<const int> merges);

// Elements of scratch that run_pairs needs.
[[nodiscard]] std::int64_t pairs_scratch(const Chain& chain);

// Of some batches and lines, which are rows or columns, whichever there are more than one of; `a`,
// `b` and `out` are those of the whole product.
template <typename T, typename S = T>
struct PairsBlock {
  Interval batch;
  Interval lines;
  const S* a = nullptr;
  const S* b = nullptr;
  T* out = nullptr;
};

void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<float>& block,
               float* scratch);
void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<double>& block,
               double* scratch);
void run_pairs(const GemmPlan& plan, const Chain& chain, const PairsBlock<float, BFloat16>& block,
               float* scratch);

}  // namespace mtf
