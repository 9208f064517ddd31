// The part of a product that one thread does, and parts that are not done block by block: of many
// small products, and of few rows or columns.

#pragma once

#include <cstdint>
#include <type_traits>

#include "ir/support/interval.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/gemm_scratch.h"
#include "runtime/products/thin/gemm_pairs.h"
#include "runtime/products/thin/gemm_thin.h"

namespace mtf {

// The part of a product that one thread does.
struct Share {
  Interval batch;
  Interval rows;
  Interval cols;
};

// Operands are stored as S.
template <typename T, typename S>
struct Tensors {
  const S* a = nullptr;
  const S* b = nullptr;
  T* out = nullptr;
};

template <typename T, typename S>
void run_thin_share(const GemmWork<T>& work, const Share& share, const Tensors<T, S>& tensors) {
  const auto size = static_cast<std::int64_t>(sizeof(T));
  T* scratch = reinterpret_cast<T*>(thread_scratch(thin_scratch(work.thin_chain) * size));
  for (std::int64_t n = share.batch.begin; n < share.batch.end(); ++n) {
    const GemmBlock<T, S> block = {.rows = share.rows,
                                   .cols = share.cols,
                                   .a = tensors.a + work.plan.a_batch.at(n),
                                   .b = tensors.b + work.plan.b_batch.at(n),
                                   .out = tensors.out + work.plan.out_batch.at(n)};
    run_thin(work.plan, work.thin_chain, block, scratch);
  }
}

template <typename T, typename S>
void run_pairs_share(const GemmWork<T>& work, const Share& share, const Tensors<T, S>& tensors) {
  const auto size = static_cast<std::int64_t>(sizeof(T));
  T* scratch = reinterpret_cast<T*>(thread_scratch(pairs_scratch(work.thin_chain) * size));
  run_pairs(work.plan, work.thin_chain,
            PairsBlock<T, S>{.batch = share.batch,
                             .lines = work.plan.rows() == 1 ? share.cols : share.rows,
                             .a = tensors.a,
                             .b = tensors.b,
                             .out = tensors.out},
            scratch);
}

template <typename T, typename S>
bool is_for_pairs(const GemmPlan& plan) {
  return !plan.a_words && is_pairs<S>(plan);
}

template <typename T, typename S>
bool is_for_thin(const GemmPlan& plan, const Share& share) {
  return !plan.a_words && is_thin(plan, share.rows, share.cols) &&
         (std::is_same_v<T, S> || has_long_rows(plan, share.cols));
}

}  // namespace mtf
