// Meshes and rules from the command line: "rows=4,cols=2" and "batch:rows;hidden:cols".

#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/mesh.h"

namespace mtf::host {

struct Context;

// nullopt: not of that form, or a size below 1.
[[nodiscard]] std::optional<std::vector<MeshAxis>> parse_axis_sizes(std::string_view text);
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parse_rules(
    std::string_view text);

// Checks `--mesh` against the meshes, and declares the layout of `--rules`.
void declare_from_options(Context& c);

}  // namespace mtf::host
