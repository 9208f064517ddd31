// A layout and its mesh as one would write them in a program.

#pragma once

#include <string>

#include "ir/layout/layout.h"

namespace mtf {

// "layout found on grid { batch -> rows; d_ff, heads -> cols }"; on several lines where it is long.
[[nodiscard]] std::string layout_source(const Layout& layout);
// "mesh grid = [rows: 4, cols: 2] of tpu_v3"
[[nodiscard]] std::string mesh_source(const Mesh& mesh);
// "[rows: 4, cols: 2]"
[[nodiscard]] std::string axes_source(const Mesh& mesh);
// The same in one line without the names: "batch -> rows; d_ff, heads -> cols; params { … }".
[[nodiscard]] std::string rules_source(const Layout& layout);

}  // namespace mtf
