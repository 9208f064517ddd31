#include "frontend/driver/search/written_layout.h"

#include <algorithm>
#include <set>
#include <variant>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/elaborate/context.h"
#include "frontend/format/format.h"
#include "frontend/report/search/layout_source.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

template <typename Node>
const Node* is_a(const ast::Stmt& statement) {
  return std::get_if<Node>(&statement.node);
}

std::size_t end_of_line(std::string_view text, std::size_t from) {
  const std::size_t end = std::min(text.find('\n', from), text.size());
  return end > from && text[end - 1] == '\r' ? end - 1 : end;
}

// In a session each statement may be of another text.
std::string_view text_of(const SourceMap& sources, const ast::Stmt& statement) {
  const SourceSpan span = statement.span;
  return std::string_view(sources.file(span.file).text).substr(span.begin, span.end - span.begin);
}

using AxisNames = std::set<std::string, std::less<>>;

void add_axes(const NamedRule& rule, AxisNames& names) {
  names.insert(rule.axes.begin(), rule.axes.end());
  for (const NamedCondition& condition : rule.where) {
    names.insert(condition.axis);
  }
}

void add_axes(const Layout& layout, AxisNames& names) {
  for (const Rule& rule : layout.rules) {
    add_axes(named(rule, layout.mesh), names);
  }
  for (const VariableRules& block : layout.variables) {
    for (const Rule& rule : block.rules) {
      add_axes(named(rule, layout.mesh), names);
    }
  }
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
  for (const ast::Stmt& statement : tree.statements) {
    if (statement.span.begin < place && place < statement.span.end) {  // it begins on that line
      place = end_of_line(text, statement.span.end);
    }
  }
  return place;
}

const ast::Stmt* declared_layout(const ast::File& tree, std::string_view name) {
  const auto found = std::ranges::find_if(tree.statements, [name](const ast::Stmt& statement) {
    const auto* layout = is_a<ast::Layout>(statement);
    return layout != nullptr && layout->name.text == name;
  });
  return found == tree.statements.end() ? nullptr : &*found;
}

const ast::Stmt* declared_mesh(const ast::File& tree, std::string_view name) {
  const auto found = std::ranges::find_if(tree.statements, [name](const ast::Stmt& statement) {
    const auto* mesh = is_a<ast::Mesh>(statement);
    return mesh != nullptr && mesh->name.text == name;
  });
  return found == tree.statements.end() ? nullptr : &*found;
}

bool has_other_layouts(const ast::File& tree, std::string_view mesh, std::string_view layout) {
  return std::ranges::any_of(tree.statements, [&](const ast::Stmt& statement) {
    const auto* declared = is_a<ast::Layout>(statement);
    return declared != nullptr && declared->name.text != layout &&
           (!declared->mesh || declared->mesh->text == mesh);
  });
}

// The mesh of a layout whose sizes are not the declared ones: its name, and the declaration of it
// that is there and may become this one.
struct ResizedMesh {
  Mesh mesh;
  const ast::Stmt* there = nullptr;
  bool is_same = false;  // what is there
};

// Whether the layout may have the mesh that is declared there, as it is or declared anew.
bool may_be_on(const ResizedMesh& mesh, const ast::File& tree, const Layout& layout) {
  const ast::Stmt* own = declared_layout(tree, layout.name);
  const bool is_before = own == nullptr || mesh.there < own;  // in the tree's order
  const bool is_declared = mesh.mesh.name == layout.mesh.name;
  return is_before &&
         (mesh.is_same || (!is_declared && !has_other_layouts(tree, mesh.mesh.name, layout.name)));
}

// The mesh itself where it has these sizes, else one under another name.
ResizedMesh resized_mesh(const SourceMap& sources, const SearchedProgram& program,
                         const Layout& layout) {
  const ast::File& tree = program.tree();
  const bool is_new = program.declared_mesh().name.empty();
  const std::string name =
      layout.mesh.name + (is_new ? "" : "_" + std::to_string(layout.mesh.ranks()));
  ResizedMesh result{.mesh = program.written_mesh(layout.mesh)};
  for (int number = 1;; ++number) {
    result.there = declared_mesh(tree, result.mesh.name);
    result.is_same =
        result.there != nullptr && text_of(sources, *result.there) == mesh_source(result.mesh);
    const bool is_free = result.there == nullptr && (number > 1 || is_new);
    if (is_free || (result.there != nullptr && may_be_on(result, tree, layout))) {
      return result;
    }
    result.mesh.name = number == 1 ? name : name + "_" + std::to_string(number);
  }
}

struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

// Those of the mesh and of the layout, in this order.
std::vector<Edit> edits(const SourceMap& sources, std::string_view text,
                        const SearchedProgram& program, const Layout& layout) {
  const ast::File& tree = program.tree();
  std::vector<Edit> result;
  Layout written = layout;
  std::string before;
  if (program.makes_mesh()) {
    const ResizedMesh resized = resized_mesh(sources, program, layout);
    written.mesh.name = resized.mesh.name;
    if (resized.there != nullptr && !resized.is_same) {
      result.push_back({.begin = resized.there->span.begin,
                        .end = resized.there->span.end,
                        .text = mesh_source(resized.mesh)});
    }
    before = resized.there == nullptr ? mesh_source(resized.mesh) + "\n" : "";
  }
  const std::string source = before + layout_source(written);
  if (const ast::Stmt* own = declared_layout(tree, layout.name)) {
    result.push_back({.begin = own->span.begin,
                      .end = own->span.end,
                      .text = comments_of(text_of(sources, *own)) + source});
    return result;
  }
  const std::size_t place = place_in(text, tree);
  const bool ends_line = place == text.size() || (text[place] != '\n' && text[place] != '\r');
  result.push_back({.begin = place,
                    .end = place,
                    .text = (place == 0 ? "" : "\n") + source + (ends_line ? "\n" : "")});
  return result;
}

// Where it ends its lines with "\r\n", what is put into it does.
std::string in_lines_of(std::string_view text, const std::string& added) {
  if (text.find("\r\n") == std::string_view::npos) {
    return added;
  }
  std::string result;
  for (const char c : added) {
    result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  }
  return result;
}

}  // namespace

// For the answer: of nothing in the file, or of a layout whose place it takes.
std::string SearchedProgram::free_name() const {
  const Session& session = unsplit_->session;
  const auto& files = session.context().modules.files;
  const std::string first = "found";
  std::string name = first;
  const auto is_taken = [&] {
    return !files.empty() && files.back()->scope->own(name) != nullptr &&
           (session.serves_regions_alone(name) ||
            std::ranges::find(session.layouts(), name, &Layout::name) == session.layouts().end());
  };
  for (int number = 2; is_taken(); ++number) {
    name = first + "_" + std::to_string(number);
  }
  return name;
}

// All that splits anything, and what a rule that stays, a region or an `@` names. (Without that
// axis an `@` would say nothing.)
Mesh SearchedProgram::written_mesh(const Mesh& mesh) const {
  AxisNames named;
  add_axes(limits_.fixed, named);
  const auto add = [&named](const Program& program) {
    for (const Layout& region : program.regions) {
      add_axes(region, named);
    }
    for (const mtf::Value& value : program.values) {
      if (const Pin* pin = value.args.get<Pin>("layout")) {
        std::ranges::for_each(pin->rules, [&](const NamedRule& rule) { add_axes(rule, named); });
      }
    }
  };
  if (!programs_.empty()) {
    std::ranges::for_each(programs_.begin()->second, add);
  }
  Mesh written = mesh;
  std::erase_if(written.axes, [&](const MeshAxis& axis) {
    return axis.size == 1 && !(named.contains(axis.name) && declared_.find(axis.name));
  });
  if (written.axes.empty() && !mesh.axes.empty()) {
    written.axes.push_back(mesh.axes.front());
  }
  return written;
}

std::string declared_source(const SourceMap& sources, const SearchedProgram& program,
                            const Layout& layout) {
  Layout written = layout;
  std::string before;
  if (program.makes_mesh()) {
    const ResizedMesh resized = resized_mesh(sources, program, layout);
    written.mesh.name = resized.mesh.name;
    before = resized.is_same ? "" : mesh_source(resized.mesh) + "\n";
  }
  return before + layout_source(written);
}

std::string with_layout(const SourceMap& sources, const SearchedProgram& program,
                        const Layout& layout) {
  const std::string& text = sources.file(program.tree().id).text;
  std::string result = text;
  const std::vector<Edit> all = edits(sources, text, program, layout);
  for (std::size_t i = all.size(); i-- > 0;) {
    result.replace(all[i].begin, all[i].end - all[i].begin, in_lines_of(text, all[i].text));
  }
  return result;
}

namespace {

std::optional<std::string> formatted(const SourceFile& file, std::string text) {
  SourceMap sources;
  DiagSink none;
  return format_source(sources.add({.name = file.name, .path = file.path, .text = std::move(text)}),
                       sources, none);
}

// In the standard layout of text, if the file is.
std::string formatted_as(const SourceFile& file, const std::string& text) {
  return formatted(file, file.text) == file.text ? formatted(file, text).value_or(text) : text;
}

// The first error of the text, in the place of the file, under a layout; "" for none.
std::string mistake_in(Options options, const SourceFile& file, std::string text,
                       const Layout& layout) {
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

// What the command line says in the place of the file holds for this run alone.
void warn_of_own_sizes(Workspace& workspace, const SourceFile& file, const std::string& text,
                       const Layout& layout) {
  Options own = workspace.options;
  own.settings.clear();
  own.mesh.clear();
  own.precision.clear();
  const std::string mistake = mistake_in(std::move(own), file, text, layout);
  if (!mistake.empty()) {
    workspace.diags.warning(DiagKind::kLayoutConflict, {},
                            "the layout `" + layout.name +
                                "` is for the values of this command line; with those of the "
                                "file, it does not fit: " +
                                mistake);
  }
}

}  // namespace

std::optional<Layout> write_layout(Workspace& workspace, FileId file,
                                   const SearchedProgram& program,
                                   std::span<const Layout> wordings) {
  const SourceFile& source = workspace.sources.file(file);
  std::string obstacle;
  for (const Layout& layout : wordings) {
    const std::string text = formatted_as(source, with_layout(workspace.sources, program, layout));
    const std::string mistake = mistake_in(workspace.options, source, text, layout);
    obstacle = mistake.empty()
                   ? replace_file(source.path, text)
                   : "another part of the file does not fit it: " + mistake +
                         (workspace.options.name.empty()
                              ? ""
                              : "; without an entry, all of them are searched together");
    if (mistake.empty() && obstacle.empty()) {
      warn_of_own_sizes(workspace, source, text, layout);
      return layout;
    }
  }
  workspace.diags.error(DiagKind::kFile, {},
                        "the layout cannot be written into " + source.name + ": " + obstacle);
  return std::nullopt;
}

}  // namespace mtf
