// The header of a .npy file, which is the text of a Python dict with three keys.

#pragma once

#include <string>
#include <string_view>

#include "ir/shape.h"
#include "stdlib/ops/source/npy.h"

namespace mtf {

// The dict, read into an info; one that cannot be read is a problem that says what is expected
// where, and what stands there.
[[nodiscard]] NpyInfo parse_npy_dict(std::string_view dict);
[[nodiscard]] std::string npy_dict(const TensorType& type);

}  // namespace mtf
