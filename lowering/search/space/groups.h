// Variables that a layout can name together, by a glob, and so what `let`s named.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace mtf {

// "layer_12/w" -> "layer_*/w": the same of all layers.
[[nodiscard]] std::string without_numbers(std::string_view path);

// The params that the glob names, or the tensors named by `let`, and no others.
struct VariableGroup {
  std::string glob;                  // "layer_*/w", "*/bias", "embed"; of lets "layer_*/h"
  std::vector<std::size_t> members;  // of all params by their paths, in order; or of all lets
  std::vector<Shape> shapes;         // of each
  bool lets = false;
};

// Groups of some params, and not of all: those whose paths are alike but for numbers, that end
// alike, or that begin alike, and single ones. Of globs that name the same the shortest; the
// largest groups first.
[[nodiscard]] std::vector<VariableGroup> variable_groups(std::span<const Program> programs);

// Of the lets whose paths are alike but for numbers. The one whose tensors are largest together
// goes first, and small ones are left out.
[[nodiscard]] std::vector<VariableGroup> let_groups(std::span<const Program> programs);

}  // namespace mtf
