// A layout that was found, put into the program's text where its declaration stands or belongs.

#pragma once

#include <string>
#include <string_view>

#include "frontend/ast.h"
#include "ir/layout/layout.h"

namespace mtf {

// The text with the layout in the place of the one of its name, or behind the last mesh or layout;
// everything else, comments too, stays as it is. A mesh of its name and other sizes gets another
// name, "grid_64", and a declaration.
[[nodiscard]] std::string with_layout(std::string_view text, const ast::File& tree,
                                      const Layout& layout, bool declares_mesh);

}  // namespace mtf
