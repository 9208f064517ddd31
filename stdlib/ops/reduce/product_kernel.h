// The local product of two slices.

#pragma once

#include "ir/kernel.h"
#include "runtime/products/gemm.h"

namespace mtf {

// The dims of `a`, then the new ones of `b`.
[[nodiscard]] Shape union_shape(const Shape& a, const Shape& b);

// out = the sum over the reduced loops of in[0] * in[1] + in[2] * in[3] + …, in canonical order.
void product_kernel(const KernelCall& call);

// The product of whole numbers of that type, which no order changes.
void product_of_ints(const Gemm& product, DType dtype, const void* a, const void* b, void* out);

}  // namespace mtf
