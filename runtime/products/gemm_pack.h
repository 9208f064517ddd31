// Packing of an operand: `width` lanes (rows or columns) side by side for each inner index, so that
// a micro-kernel reads it in one stream.

#pragma once

#include <cstdint>

#include "runtime/products/gemm_plan.h"

namespace mtf {

struct PackRange {
  std::int64_t first_lane = 0;
  std::int64_t lanes = 0;  // at most `width`; the rest is filled with zeros
  std::int64_t first_inner = 0;
  std::int64_t inner = 0;
  std::int64_t width = 0;
};

void pack(const float* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out);
void pack(const double* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          double* out);
void pack(const BFloat16* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out);

}  // namespace mtf
