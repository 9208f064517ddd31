#include "frontend/driver/search/written_layout.h"

#include <algorithm>
#include <variant>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/fmt/replace_file.h"
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

std::string declared_source(const ast::File& tree, const Layout& layout, bool declares_mesh) {
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
  return before + layout_source(written);
}

std::string with_layout(std::string_view text, const ast::File& tree, const Layout& layout,
                        bool declares_mesh) {
  const std::string source = declared_source(tree, layout, declares_mesh);
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

namespace {

// The first error of the text, in the place of the file, under a layout; "" for none.
std::string mistake_in(const Workspace& workspace, const SourceFile& file, std::string text,
                       const Layout& layout) {
  Options options = workspace.options;
  options.command = Command::kCheck;
  options.layout = layout.name;
  options.json = true;  // it says nothing itself
  Workspace own(std::move(options));
  const FileId id =
      own.sources.add({.name = file.name, .path = file.path, .text = std::move(text)});
  const CheckedLayouts checked = check_layouts(own, id);
  if (!checked.programs.empty()) {
    check_contracts(own, *checked.programs.front(), checked.layouts, own.diags);
  }
  const std::vector<Diag> errors = errors_of(own.diags);
  return errors.empty() ? "" : errors.front().text;
}

}  // namespace

std::optional<Layout> write_layout(Workspace& workspace, FileId file,
                                   const SearchedProgram& program,
                                   std::span<const Layout> wordings) {
  const SourceFile& source = workspace.sources.file(file);
  std::string obstacle = source.path.empty() ? "the program was read from standard input" : "";
  for (const Layout& layout : obstacle.empty() ? wordings : std::span<const Layout>()) {
    const std::string text = with_layout(source.text, program.tree(), layout, program.makes_mesh());
    const std::string mistake = mistake_in(workspace, source, text, layout);
    obstacle = mistake.empty() ? replace_file(source.path, text)
                               : "another part of the file does not fit it: " + mistake +
                                     "; without an entry, all of them are searched together";
    if (mistake.empty() && obstacle.empty()) {
      return layout;
    }
  }
  workspace.diags.error(DiagKind::kFile, {},
                        "the layout cannot be written into " + source.name + ": " + obstacle);
  return std::nullopt;
}

}  // namespace mtf
