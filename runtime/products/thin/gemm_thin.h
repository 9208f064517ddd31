// Products of so few rows that reading b once is all the work: matrix times vector above all.

#pragma once

#include "runtime/products/gemm_block.h"

namespace mtf {

inline constexpr std::int64_t kThinRows = 3;

// Whether `run_thin` serves a product: few rows, and columns or inner indices of b side by side.
[[nodiscard]] bool is_thin(const GemmPlan& plan, Interval rows, Interval cols);
[[nodiscard]] bool has_long_rows(const GemmPlan& plan, Interval cols);

// Elements of scratch that run_thin needs.
[[nodiscard]] std::int64_t thin_scratch(const Chain& chain);

void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<float>& block,
              float* scratch);
void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<double>& block,
              double* scratch);
// requires: columns side by side.
void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<float, BFloat16>& block,
              float* scratch);

}  // namespace mtf
