// A whole tensor in the memory of the process, and how it prints.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ir/shape.h"
#include "ir/support/number.h"

namespace mtf {

struct HostTensor {
  TensorType type;
  std::vector<std::byte> data;  // row-major
};

// A scalar as its number; a tensor as NumPy prints an array, under a line with its type. More than
// 1000 elements are summarised. `data` is row-major, of the type's size. `numbers`: how each
// element is written.
[[nodiscard]] std::string format(const TensorType& type, std::span<const std::byte> data,
                                 const NumberFormat& numbers = {});
[[nodiscard]] std::string format(const HostTensor& tensor, const NumberFormat& numbers = {});

}  // namespace mtf
