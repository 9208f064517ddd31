// What a reshard would move if its steps could run along parts of an axis: of 4 ranks as 2 by 2,
// those of one half, or of one half each. Steps run along whole axes, as groups of ranks are named
// by them; this says what that costs.

#pragma once

#include <cstdint>
#include <optional>

#include "lowering/reshard/reshard.h"

namespace mtf {

// Elements that a rank receives on the mesh whose axes are cut into their prime factors. Nothing:
// no axis can be cut, or there are too many parts to search. requires: `to` has no partial sum.
[[nodiscard]] std::optional<std::int64_t> received_in_parts(const Shape& shape, const Mesh& mesh,
                                                            const ValueLayout& from,
                                                            const ValueLayout& to);

}  // namespace mtf
