// Names, before anything runs: unknown ones, declared twice, assigned where they may not be. Also
// in functions that nobody calls, so that one run reports all of them.

#pragma once

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "frontend/elaborate/context.h"

namespace mtf::host {

// False: errors were reported.
bool resolve(Context& c, const Module& module);

// Warnings of what stands in the files of the program and does nothing.
void find_idle_statements(const Context& c, DiagSink& found);

// The names that a statement declares at its own level.
[[nodiscard]] std::vector<const ast::Name*> names_declared_by(const ast::Stmt& stmt);

// What the file declares anywhere, in functions and as their parameters, too.
[[nodiscard]] std::set<std::string, std::less<>> names_declared_anywhere(const ast::File& file);
// The statements of each block of a statement.
template <typename Visit>
void for_each_block(const ast::Stmt& stmt, const Visit& visit) {
  const auto visit_blocks = [&]<typename T>(const T& node) {
    if constexpr (requires { node.body; }) {
      visit(node.body.statements);
    } else if constexpr (std::is_same_v<T, ast::If>) {
      for (const ast::Branch& branch : node.branches) {
        visit(branch.body.statements);
      }
      if (node.otherwise) {
        visit(node.otherwise->statements);
      }
    }
  };
  std::visit(visit_blocks, stmt.node);
}

// What the top level of a file declares.
[[nodiscard]] std::vector<std::string> declared_names(const ast::File& file);

}  // namespace mtf::host
