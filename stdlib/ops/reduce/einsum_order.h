// In which order the product of several tensors is multiplied.

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ir/shape.h"

namespace mtf::ops {

// Pairs to multiply, one after the other, each summed over what neither the result nor what is left
// has: numbers below that of the tensors are these, the others are the results of pairs so far.
using ProductOrder = std::vector<std::pair<std::size_t, std::size_t>>;

// The one with the fewest multiplications and elements between them; of equal ones, and of more
// than ten tensors, from left to right. It depends on whole sizes alone. requires: a tensor, and of
// none a dim that nobody else has.
[[nodiscard]] ProductOrder cheapest_order(std::span<const Shape> shapes, const Shape& to);

// From left to right.
[[nodiscard]] ProductOrder written_order(std::size_t tensors);

}  // namespace mtf::ops
