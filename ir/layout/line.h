// The mesh that is no more than all ranks in their order.

#pragma once

#include "ir/layout/mesh.h"

namespace mtf {

[[nodiscard]] inline Mesh all_in_line(std::int64_t ranks) {
  return {.name = "line", .axes = {{.name = "r", .size = ranks}}, .profile = "", .span = {}};
}

}  // namespace mtf
