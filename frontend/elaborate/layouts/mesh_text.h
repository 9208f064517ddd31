// Meshes and rules from the command line: "rows=4,cols=2" and "batch:rows;hidden:cols".

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout/layout.h"

namespace mtf::host {

class Reporter;
struct Layouts;

// "rows=4,cols=2", or in Mesh-TensorFlow's spelling "rows:4 cols:2": pairs of `=` or `:`, between
// which `,`, `;`, `.` and spaces may stand.
struct TextPairs {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string problem;  // what is wrong with the text; empty: nothing
};
[[nodiscard]] TextPairs parse_pairs(std::string_view text);

struct AxisSizes {
  std::vector<MeshAxis> axes;
  std::string problem;
};
[[nodiscard]] AxisSizes parse_axis_sizes(std::string_view text);
// What is wrong with the words behind `--mesh`, and behind `--rules`; "": nothing.
[[nodiscard]] std::string mesh_problem(std::string_view text);
[[nodiscard]] std::string rules_problem(std::string_view text);
// Of those that are given sizes.
[[nodiscard]] std::vector<std::string> axes_missing(const AxisSizes& sizes, const Mesh& mesh);

// The first that has the axes of `--mesh`. requires: there is one
[[nodiscard]] const Mesh& first_mesh(std::span<const Mesh> meshes, std::string_view sizes);

[[nodiscard]] bool has_too_many_ranks(const Mesh& mesh);
// The sizes of `--mesh`, if the mesh has all the axes that it names; after an error, its own.
void resize_mesh(Reporter& report, const Layouts& layouts, Mesh& mesh);

// Checks `--mesh` against the meshes, and declares the layout of `--rules`.
void declare_from_options(Reporter& report, Layouts& layouts);

// That the mesh of the layout in use has the axes that `--mesh` gives sizes.
void check_sizes_taken(Reporter& report, const Layouts& layouts, const Layout& chosen);

}  // namespace mtf::host
