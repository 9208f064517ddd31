// Propagation: dims that no rule names take axes from the values around them
// (lowering/SHARDING.md).

#pragma once

#include <span>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf {

// `open`: per value and dim, whether axes may be added. Nothing is ever taken away.
void infer(const Program& program, const Layout& layout, std::span<const std::vector<bool>> open,
           std::span<Target> targets);

}  // namespace mtf
