// A layout that was found, put into the program's text where its declaration stands or belongs.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontend/ast.h"
#include "frontend/driver/search/searched_program.h"
#include "ir/layout/layout.h"

namespace mtf {

// The layout as a declaration, behind that of its mesh where the search made it and the program has
// no such one. A mesh of other sizes gets another name, "grid_64"; one of that name which no other
// layout is on is declared anew.
[[nodiscard]] std::string declared_source(const SourceMap& sources, const SearchedProgram& program,
                                          const Layout& layout);

// The program's text with the layout in the place of the one of its name, or behind the last mesh
// or layout; everything else stays as it is, but that comments inside of what is replaced stand
// before it.
[[nodiscard]] std::string with_layout(const SourceMap& sources, const SearchedProgram& program,
                                      const Layout& layout);

// Into the program's file, the first of several wordings of a layout with which the file checks:
// which one it was. nullopt after an error.
[[nodiscard]] std::optional<Layout> write_layout(Workspace& workspace, FileId file,
                                                 const SearchedProgram& program,
                                                 std::span<const Layout> wordings);

}  // namespace mtf
