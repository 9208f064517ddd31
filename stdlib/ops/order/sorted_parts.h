// Sorting along a dim of which ranks may have parts: each sorts its own, they swap and merge what
// they have (lowering/rounds/sort_rounds.h), and each takes its part of the result.
//
// What they swap is, for each element, a number that has the order and the bits of the element, or
// a key and a place; numbers of ones stand where a part has no more.

#pragma once

#include <string_view>

#include "ir/kernel.h"

namespace mtf {

// Of the elements, and of their places.
[[nodiscard]] Digest digest_of_elements(DType dtype);
[[nodiscard]] Digest digest_of_places(DType dtype);

void sort_elements(const KernelCall& call, std::string_view over, bool descending);
void sort_places(const KernelCall& call, std::string_view over, bool descending);

}  // namespace mtf
