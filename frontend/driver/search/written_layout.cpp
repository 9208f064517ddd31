#include "frontend/driver/search/written_layout.h"

#include <algorithm>
#include <variant>

#include "frontend/report/search/layout_source.h"

namespace mtf {
namespace {

template <typename Node>
const Node* is_a(const ast::Stmt& statement) {
  return std::get_if<Node>(&statement.node);
}

std::size_t end_of_line(std::string_view text, std::size_t from) {
  return std::min(text.find('\n', from), text.size());
}

// Where a declaration goes: behind the last one of its kind, or of what stands before these.
std::size_t place_in(std::string_view text, const ast::File& tree) {
  std::size_t place = 0;
  bool has_meshes = false;
  for (const ast::Stmt& statement : tree.statements) {
    const bool is_layout =
        is_a<ast::Mesh>(statement) != nullptr || is_a<ast::Layout>(statement) != nullptr;
    const bool is_early =
        is_a<ast::Import>(statement) != nullptr || is_a<ast::Dims>(statement) != nullptr;
    if (is_layout || (is_early && !has_meshes)) {
      place = end_of_line(text, statement.span.end);
      has_meshes = has_meshes || is_layout;
    }
  }
  return place;
}

}  // namespace

std::string with_layout(std::string_view text, const ast::File& tree, const Layout& layout,
                        bool declares_mesh) {
  Layout written = layout;
  std::string before;
  if (declares_mesh) {
    written.mesh.name += "_" + std::to_string(layout.mesh.ranks());
    const bool is_there = std::ranges::any_of(tree.statements, [&](const ast::Stmt& statement) {
      const auto* mesh = is_a<ast::Mesh>(statement);
      return mesh != nullptr && mesh->name.text == written.mesh.name;
    });
    before = is_there ? "" : mesh_source(written.mesh) + "\n";
  }
  const std::string source = before + layout_source(written);
  for (const ast::Stmt& statement : tree.statements) {
    const auto* declared = is_a<ast::Layout>(statement);
    if (declared != nullptr && declared->name.text == layout.name) {
      return std::string(text.substr(0, statement.span.begin)) + source +
             std::string(text.substr(statement.span.end));
    }
  }
  const std::size_t place = place_in(text, tree);
  const std::string_view behind = text.substr(place);
  return std::string(text.substr(0, place)) + (place == 0 ? "" : "\n") + source +
         (behind.empty() || behind.front() != '\n' ? "\n" : "") + std::string(behind);
}

}  // namespace mtf
