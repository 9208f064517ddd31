// The tensors of a program that lie by the rules of a layout and nothing else, so that no two of
// their dims may share an axis.

#pragma once

#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf {

struct RuledTensor {
  Shape shape;
  bool is_variable = false;  // or in the place of one, whose rules may be others

  friend bool operator==(const RuledTensor&, const RuledTensor&) = default;
};

// Each once. What an `@` or a region lays out, and what rewrites made, gives way where rules do not
// fit it, and is left out.
[[nodiscard]] std::vector<RuledTensor> ruled_tensors(const Program& program, const Layout& layout);

}  // namespace mtf
