// Files and standard modules, each loaded once.

#include "frontend/elaborate/names/modules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontend/elaborate/names/elsewhere.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/statement.h"
#include "frontend/parse/parse.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string key;     // canonical path, or the name of a standard module
  std::string folder;  // canonical; empty for a standard module
  SourceFile file;
};

std::nullopt_t bad_import(Reporter& report, const ast::Import& import, std::string text) {
  report.error(DiagKind::kBadImport, import.module.span, std::move(text));
  return std::nullopt;
}

// Whether `path` lies in the tree of `folder`; both canonical.
bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  static_cast<void>(rest);
  return end == folder.end();
}

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::error_code error;
  if (!stream || !fs::is_regular_file(path, error)) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::optional<Source> find_file(const Modules& modules, Reporter& report, const Module& from,
                                const ast::Import& import) {
  const std::string& name = import.module.text;
  if (from.is_standard) {
    return bad_import(report, import, "a standard module imports only standard modules");
  }
  if (fs::path(name).is_absolute()) {
    return bad_import(report, import,
                      "the path is absolute; imports are relative to the importing file");
  }
  std::error_code problem;
  const fs::path folder =
      fs::weakly_canonical(from.folder.empty() ? fs::path(".") : fs::path(from.folder), problem);
  const fs::path path = fs::weakly_canonical(folder / name, problem);
  if (problem || !is_inside(path, folder)) {
    return bad_import(report, import,
                      "`" + name +
                          "` is outside the folder of the importing file; imports stay "
                          "inside it");
  }
  std::optional<std::string> text = read_text(path);
  if (!text) {
    report.error(DiagKind::kFile, import.module.span,
                 fs::is_directory(path, problem)
                     ? "`" + name + "` is a folder; an import names a file"
                     : "there is no file `" + name + "` to read");
    return std::nullopt;
  }
  const fs::path shown = fs::path(modules.sources.file(from.file.id).name).parent_path() / name;
  return Source{.key = path.string(),
                .folder = path.parent_path().string(),
                .file = {.name = shown.lexically_normal().string(),
                         .path = path.string(),
                         .text = *std::move(text)}};
}

std::optional<Source> find_standard(const Modules& modules, Reporter& report,
                                    const ast::Import& import) {
  const std::string& name = import.module.text;
  std::optional<std::string> text =
      modules.standard_text ? modules.standard_text(name) : std::nullopt;
  if (!text) {
    const Suggestion suggestion = suggest_known(name, modules.standard_names);
    report.error(DiagKind::kBadImport, import.module.span,
                 "there is no standard module `" + name + "`" +
                     (suggestion.text.empty()
                          ? "; a file is imported as `import \"" + name + ".mtf\" as " + name + "`"
                          : suggestion.text),
                 {{.span = {}, .text = "there is " + quoted_list(modules.standard_names)}},
                 suggestion.fix);
    return std::nullopt;
  }
  return Source{
      .key = name,
      .folder = "",
      .file = {.name = name + ".mtf", .path = "", .text = *std::move(text), .is_library = true}};
}

void import_cycle(const Modules& modules, Reporter& report, const ast::Import& import,
                  const std::string& key) {
  const auto first = std::ranges::find(modules.loading, key);
  std::string chain;
  for (auto at = first; at != modules.loading.end(); ++at) {
    chain += fs::path(*at).filename().string() + " imports ";
  }
  report.error(DiagKind::kImportCycle, import.module.span,
               "this closes a cycle: " + chain + fs::path(key).filename().string());
}

// What its imports bring stays its own.
std::vector<std::string> members_of(const ast::File& file) {
  std::vector<std::string> names = declared_names(file);
  for (const ast::Stmt& statement : file.statements) {
    if (const auto* import = std::get_if<ast::Import>(&statement.node)) {
      std::erase(names, name_of(*import).text);
    }
  }
  return names;
}

// But for functions without a comment above them, which only help others.
std::vector<std::string> documented_names(const Module& module, std::string_view text) {
  std::vector<std::string> names = module.members;
  for (const ast::Stmt& statement : module.file.statements) {
    const auto* fn = std::get_if<ast::Fn>(&statement.node);
    const std::string_view before = text.substr(0, statement.span.begin);
    const std::size_t end = before.find_last_of('\n');  // of the line above
    const std::size_t begin = end == std::string_view::npos || end == 0
                                  ? std::string_view::npos
                                  : before.find_last_of('\n', end - 1);
    const std::string_view above = before.substr(begin == std::string_view::npos ? 0 : begin + 1);
    if (fn != nullptr && !above.starts_with('#')) {
      std::erase(names, fn->name.text);
    }
  }
  return names;
}

// Null after an error.
std::shared_ptr<Module> load(Modules& modules, Reporter& report, const Module& from,
                             const ast::Import& import) {
  const std::optional<Source> source = import.is_file ? find_file(modules, report, from, import)
                                                      : find_standard(modules, report, import);
  if (!source) {
    return nullptr;
  }
  if (std::ranges::find(modules.loading, source->key) != modules.loading.end()) {
    import_cycle(modules, report, import, source->key);
    return nullptr;
  }
  if (const auto found = modules.by_key.find(source->key); found != modules.by_key.end()) {
    return found->second;
  }
  const FileId id = modules.sources.add(source->file);
  if (!import.is_file) {
    report.is_library(id);
  }
  DiagSink diags;
  std::optional<ast::File> file = parse(id, modules.sources, diags);
  report.forward(diags, false);
  if (!file) {
    report.fail();
    modules.by_key[source->key] = nullptr;
    return nullptr;
  }
  auto module = std::make_shared<Module>();
  module->name = name_of(import).text;
  module->file = *std::move(file);
  module->scope = std::make_shared<Scope>();
  module->is_standard = !import.is_file;
  module->path = import.is_file ? source->key : "";
  module->folder = source->folder;
  module->members = members_of(module->file);
  module->shown = module->is_standard
                      ? documented_names(*module, modules.sources.file(module->file.id).text)
                      : module->members;
  modules.by_key[source->key] = module;
  modules.loading.push_back(source->key);
  load_imports(modules, report, *module);
  modules.loading.pop_back();
  return module;
}

// Null where there is no such module, or it does not parse. The text may be a file: it is not read
// again for a module that is known.
std::shared_ptr<Module> loaded(Context& c, std::string_view name) {
  const ast::Import import{
      .module = {.text = std::string(name), .span = {}}, .is_file = false, .alias = std::nullopt};
  std::shared_ptr<Module> module;
  if (const auto known = c.modules.by_key.find(import.module.text);
      known != c.modules.by_key.end()) {
    module = known->second;
  } else if (c.modules.standard_text && c.modules.standard_text(name)) {
    module = load(c.modules, c.report, Module{}, import);
  }
  if (module != nullptr && !module->ran) {
    module->ran = true;
    const Restore ended(c.limits.ended,
                        false);  // it is there though the program has gone on for too long
    const Restore<std::size_t> statements(c.limits.statements, 0);
    run_module(c, *module);
  }
  return module;
}

}  // namespace

const Value* standard_value(Context& c, std::string_view module, std::string_view name) {
  const std::shared_ptr<Module> found = loaded(c, module);
  const Binding* binding = found == nullptr ? nullptr : found->scope->own(name);
  return binding == nullptr ? nullptr : &binding->value;
}

std::vector<std::string> standard_names(Context& c, std::string_view module) {
  const std::shared_ptr<Module> found = loaded(c, module);
  return found == nullptr ? std::vector<std::string>() : found->members;
}

namespace {

// What may have been meant by a member that a module does not have.
Suggestion suggest_member(OpTable ops, const Module& module, const std::string& member) {
  if (find_op(ops, member) != nullptr) {
    std::vector<std::string> longer;
    std::ranges::copy_if(
        module.members, std::back_inserter(longer),
        [&member](const std::string& name) { return name.starts_with(member + "_"); });
    return {.text = "; the operation `" + member + "(…)` needs no module" +
                    (longer.empty() ? "" : ", and this one has " + quoted_list(longer)),
            .fix = {}};
  }
  for (const auto& [import, imported] : module.imports) {
    if (name_of(*import).text == member) {
      return {.text = "; what a module imports stays its own, so import it here, too", .fix = {}};
    }
  }
  if (const std::string here(member_called(member, module.members)); !here.empty()) {
    return {.text = "; did you mean `" + here + "`?", .fix = here};
  }
  return suggest(member, module.members);
}

}  // namespace

void no_member(Reporter& report, OpTable ops, const Module& module, std::string_view called,
               const ast::Name& member) {
  const Suggestion suggestion = suggest_member(ops, module, member.text);
  report.error(
      DiagKind::kUnknownName, member.span,
      "the module `" + std::string(called) + "` has no `" + member.text + "`" + suggestion.text,
      {{.span = {},
        .text = module.shown.empty() ? "it has nothing" : "it has " + quoted_list(module.shown)}},
      suggestion.fix);
}

const ast::Name& name_of(const ast::Import& import) {
  return import.alias ? *import.alias : import.module;
}

void load_imports(Modules& modules, Reporter& report, Module& module) {
  for (const ast::Stmt& statement : module.file.statements) {
    if (const auto* import = std::get_if<ast::Import>(&statement.node)) {
      module.imports.emplace_back(import, load(modules, report, module, *import));
    }
  }
}

namespace {

// At its place in the file: runs the module, the first time, and binds its name.
void run_import(Context& c, const Module& from, const ast::Import& import) {
  const auto found = std::ranges::find(
      from.imports, &import, &std::pair<const ast::Import*, std::shared_ptr<Module>>::first);
  const std::shared_ptr<Module> module = found == from.imports.end() ? nullptr : found->second;
  const ast::Name& name = name_of(import);
  c.names.scope->declare(name.text, {.value = module == nullptr ? unknown() : make(module),
                                     .kind = NameKind::kModule,
                                     .span = name.span});
  if (module != nullptr && !module->ran) {
    module->ran = true;
    run_module(c, *module);
  }
}

// A statement of the file itself: the ones that declare for the whole file stand nowhere else.
Flow run_in_file(Context& c, const Module& file, const ast::Stmt& statement) {
  const SourceSpan span = statement.span;
  Flow flow = Flow::kNext;
  match(
      statement.node,  //
      [&](const ast::Import& import) { run_import(c, file, import); },
      [&](const ast::Mesh& mesh) { declare_mesh(c, file, mesh, span); },
      [&](const ast::Layout& layout) { declare_layout(c, file, layout, span); },
      [&](const ast::UseLayout& use) { use_layout(c, file, use); },
      [&](const auto& /*other*/) {
        flow = run_statements(c, {&statement, 1});
      });
  return flow;
}

std::set<std::string, std::less<>> layouts_in(const ast::File& file) {
  std::set<std::string, std::less<>> names;
  for (const ast::Stmt& statement : file.statements) {
    if (const auto* layout = std::get_if<ast::Layout>(&statement.node)) {
      names.insert(layout->name.text);
    }
  }
  return names;
}

// The innermost statement that computes is noted first.
void note_use(Layouts& layouts, const Module& module, SourceSpan statement, bool is_first) {
  if (!layouts.used_at.file.valid()) {
    layouts.used_at = statement;
  } else if (is_first && module.is_main) {
    layouts.used_by = statement;
  }
}

}  // namespace

void run_module(Context& c, Module& module) {
  const Restore scope(c.names.scope, module.scope);
  if (!resolve(c, module)) {
    c.report.fail();
  }
  if (module.is_main) {
    c.layouts.written = layouts_in(module.file);
  }
  for (const ast::Stmt& statement : module.file.statements) {
    const auto* fn = std::get_if<ast::Fn>(&statement.node);
    if (fn == nullptr) {
      continue;
    }
    c.names.closures.push_back(
        module.scope);  // functions may be called above their place in the file
    module.scope->declare(fn->name.text, {.value = make(Function{.fn = fn, .scope = module.scope}),
                                          .kind = NameKind::kFunction,
                                          .span = fn->name.span});
  }
  for (const ast::Stmt& statement : module.file.statements) {
    const bool was_used = c.layouts.is_used;
    const Flow flow = run_in_file(c, module, statement);
    if (c.layouts.is_used) {
      note_use(c.layouts, module, statement.span, !was_used);
    }
    if (flow != Flow::kNext) {
      return;
    }
  }
}

}  // namespace mtf::host
