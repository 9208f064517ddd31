// Which layout is used, and what another one would change.

#include <algorithm>
#include <map>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/mover.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/commands/program.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "frontend/parse/parse.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr std::string_view kTyped = "typed";  // what `:layout RULES` calls its layout
constexpr std::string_view kWhatIf = "what_if";
constexpr std::string_view kFound = "found";  // what a search calls its own

std::vector<std::string> layout_names(Repl& repl) {
  return names_of(repl.planned().session().layouts());
}

// The mesh of the layout in use, or the only one; null after an error.
const Mesh* mesh_in_question(Repl& repl) {
  Session& session = repl.planned().session();
  const std::span<const Mesh> meshes = session.meshes();
  if (session.layout() != nullptr) {
    const auto found = std::ranges::find(meshes, session.layout()->mesh.name, &Mesh::name);
    return found == meshes.end() ? nullptr : &*found;
  }
  if (meshes.size() == 1) {
    return meshes.data();
  }
  repl.refuse(DiagKind::kUnknownLayout,
              meshes.empty() ? "no mesh is declared; `mesh grid = [rows: 2, cols: 2]` declares one"
                             : "no layout is in use that says on which mesh; `:layout NAME` "
                               "takes one of " +
                                   joined(layout_names(repl), ", "));
  return nullptr;
}

// The tree of one layout.
struct Declared {
  ast::File file;
  const ast::Layout* layout = nullptr;
};

std::optional<Declared> declared(Repl& repl, const std::vector<Statement>& inputs) {
  DiagSink known;
  Declared result{.file = program_of(inputs, repl.sources(), known), .layout = nullptr};
  for (const ast::Stmt& statement : result.file.statements) {
    result.layout = std::get_if<ast::Layout>(&statement.node);
  }
  return result.layout == nullptr ? std::nullopt : std::optional(std::move(result));
}

// What a layout says besides its rules for all tensors.
std::string other_parts(const SourceMap& sources, const ast::Layout& layout) {
  std::string text;
  if (layout.params) {
    text += "; " + std::string(text_at(sources, layout.params->span));
  }
  for (const ast::RulesAt& at : layout.at) {
    text += "; " + std::string(text_at(sources, at.span));
  }
  for (const ast::LayoutOption& option : layout.options) {
    text += "; " + option.name.text + " = " + option.value.text;
  }
  return text;
}

std::optional<Declared> declared_in_use(Repl& repl) {
  const Layout* in_use = repl.planned().session().layout();
  std::optional<Declared> found;
  for (const Statement& input : repl.script().inputs()) {
    if (in_use != nullptr && input.kind == StatementKind::kLayout &&
        input.names.front() == in_use->name) {
      found = declared(repl, {input});
    }
  }
  // With the rules that a search found, or that the command line has.
  if (in_use != nullptr && (!found || found->layout->automatic)) {
    const auto written = repl.read_aside(layout_source(*in_use));
    found = written ? declared(repl, *written) : std::nullopt;
  }
  return found;
}

// An axis of the rule that the mesh does not have; null for none.
const ast::Name* missing_axis(const ast::Rule& rule, const Mesh& mesh) {
  const auto found = std::ranges::find_if(rule.targets, [&mesh](const ast::Target& target) {
    return target.kind == ast::TargetKind::kAxis && !mesh.find(target.axis.text);
  });
  return found == rule.targets.end() ? nullptr : &found->axis;
}

bool refuse_axis(Repl& repl, const Mesh& mesh, const std::string& axis) {
  return repl.refuse(DiagKind::kUnknownAxis, "the mesh " + to_string(mesh) + " has no axis `" +
                                                 axis + "`" +
                                                 did_you_mean(axis, names_of(mesh.axes)));
}

// Rules as they are typed, of dims and axes that the session has; nullopt after an error.
std::optional<Declared> typed_rules(Repl& repl, const Mesh& mesh, const std::string& rules) {
  const auto typed =
      repl.read_aside("layout " + std::string(kWhatIf) + " on " + mesh.name + " { " + rules + " }");
  std::optional<Declared> result = typed ? declared(repl, *typed) : std::nullopt;
  const auto& known = repl.planned().context().names.dims;
  const std::vector<std::string> names(known.begin(), known.end());
  for (const ast::Rule& rule : result ? result->layout->rules : std::vector<ast::Rule>()) {
    if (!known.contains(rule.dim.text)) {
      repl.refuse(DiagKind::kUnknownDim, "no tensor has a dim `" + rule.dim.text + "`" +
                                             did_you_mean(rule.dim.text, names));
      return std::nullopt;
    }
    if (const ast::Name* axis = missing_axis(rule, mesh)) {
      refuse_axis(repl, mesh, axis->text);
      return std::nullopt;
    }
  }
  return result;
}

std::string kind_of_layout(const std::optional<Declared>& declared) {
  return std::string(declared && declared->layout->infer ? " infer" : "") +
         (declared && declared->layout->uneven ? " uneven" : "");
}

// The layout in use with some of its rules replaced, as text. `rules`: as they are typed.
std::optional<std::string> changed_layout(Repl& repl, const std::string& rules) {
  const Mesh* mesh = mesh_in_question(repl);
  if (mesh == nullptr) {
    return std::nullopt;
  }
  const std::optional<Declared> added = typed_rules(repl, *mesh, rules);
  if (!added) {
    return std::nullopt;
  }
  const std::optional<Declared> old = declared_in_use(repl);
  std::string text;
  const auto add = [&text](const ast::Rule& rule) {
    text += (text.empty() ? "" : "; ") + ast::to_string(rule);
  };
  for (const ast::Rule& rule : old ? old->layout->rules : std::vector<ast::Rule>()) {
    const bool is_new = std::ranges::any_of(added->layout->rules, [&](const ast::Rule& other) {
      return other.dim.text == rule.dim.text;
    });
    if (!is_new) {
      add(rule);
    }
  }
  std::ranges::for_each(added->layout->rules, add);
  return "layout " + std::string(kWhatIf) + " on " + mesh->name + kind_of_layout(old) + " { " +
         text + (old ? other_parts(repl.sources(), *old->layout) : "") + " }";
}

// Where everything is that the session holds, by name or path.
std::map<std::string, Placed> places(Repl& repl) {
  std::map<std::string, Placed> result;
  const PlanDevice& device = repl.planned().device();
  const host::Context& context = repl.planned().context();
  if (context.modules.files.empty()) {
    return result;
  }
  for (const auto& [name, binding] : context.modules.files.back()->scope->names()) {
    if (const std::optional<Placed> tensor = placed(binding.value, device)) {
      result.emplace(name, *tensor);
    }
  }
  for (const auto& [path, record] : context.variables.by_path) {
    if (const ValueLayout* layout = device.variable(path)) {
      result.emplace(path, Placed{.type = record->variable.type, .layout = *layout});
    }
  }
  return result;
}

// Bytes that come to a rank, under a layout that allows both; of another mesh nobody knows them.
std::optional<std::int64_t> bytes_moved(const Placed& from, const Placed& to,
                                        const Layout& layout) {
  DiagSink known;
  const std::optional<SpmdProgram> mover =
      mover_of(to.type, from.layout, to.layout, layout, op_table(), known, /*exact=*/true);
  if (!mover) {
    return std::nullopt;
  }
  std::int64_t bytes = 0;
  for (const CollectiveTotal& total : mover->totals.collectives) {
    bytes += total.bytes;
  }
  return bytes;
}

std::vector<Moved> moved_since(Repl& repl, const std::map<std::string, Placed>& before,
                               const Mesh& mesh) {
  std::vector<Moved> moved;
  const Mesh& now = repl.planned().device().layout().mesh;
  const bool same_mesh = now.axes == mesh.axes && now.name == mesh.name;
  Layout either = repl.planned().device().layout();
  either.mesh.uneven = now.uneven || mesh.uneven;
  for (const auto& [name, tensor] : places(repl)) {
    const auto old = before.find(name);
    if (old == before.end()) {
      continue;
    }
    std::string from = type_text(old->second, mesh);
    std::string to = type_text(tensor, now);
    if (from != to) {
      moved.push_back(
          {.name = name,
           .from = std::move(from),
           .to = std::move(to),
           .slice = slice_text(tensor, now),
           .bytes = same_mesh ? bytes_moved(old->second, tensor, either) : std::nullopt});
    }
  }
  return moved;
}

std::string moved_text(const Moved& one) {
  std::string text = one.name + " : " + one.from + " -> " + one.to + "   " + one.slice;
  if (one.bytes) {
    text +=
        *one.bytes == 0 ? "   nothing moves" : "   " + bytes_text(*one.bytes) + " moved to a rank";
  }
  return text + "\n";
}

// Statements that say where everything is. Where something does not fit there, all stays as it is.
bool use(Repl& repl, const std::string& statements) {
  const std::map<std::string, Placed> before = places(repl);
  const Mesh mesh = repl.planned().device().layout().mesh;
  if (!repl.say_or_refuse("session", statements)) {
    if (!repl.is_json()) {
      repl.mistake("in use still: " + repl.in_use() + "\n");
    }
    return false;
  }
  const std::vector<Moved> moved = moved_since(repl, before, mesh);
  if (repl.is_json()) {
    repl.answer(moved_json(repl.in_use(), moved) + "\n");
    return true;
  }
  repl.answer("in use: " + repl.in_use() + "\n");
  for (const Moved& one : moved) {
    repl.answer(moved_text(one));
  }
  return true;
}

}  // namespace

bool use_found(Repl& repl) {
  const auto [name, text] = repl.found();
  repl.set_found("", "");
  return use(repl, text + "\nuse layout " + name);
}

namespace {

bool tell_layouts(Repl& repl) {
  for (const Layout& layout : repl.planned().session().layouts()) {
    const std::string text = layout_text(layout, repl.planned().session().layout());
    repl.tell(layout.name + " : " + text + "\n", {{"name", layout.name}, {"value", text}});
  }
  repl.tell_in_use();
  return true;
}

bool refuse_layout(Repl& repl, const std::string& name, const std::vector<std::string>& names) {
  const std::string known = names.empty()
                                ? "; none is declared"
                                : "; there is " + joined(names, ", ") + ", and `none`, one rank";
  return repl.refuse(DiagKind::kUnknownLayout,
                     "no layout `" + name + "`" + did_you_mean(name, names, known));
}

}  // namespace

bool repl_layout(Repl& repl, const std::string& words) {
  const std::string rest = without_braces(words);
  if (rest.empty()) {
    return tell_layouts(repl);
  }
  const std::vector<std::string> names = layout_names(repl);
  if (rest.find("->") == std::string::npos) {
    const bool is_own = std::ranges::find(names, rest) != names.end() && rest != kFound;
    if (rest == repl.found().first && !is_own) {
      return use_found(repl);
    }
    if (std::ranges::find(names, rest) == names.end() && rest != host::kOneRank) {
      return refuse_layout(repl, rest, names);
    }
    if (rest != host::kOneRank && repl.planned().value(rest) == nullptr) {  // that of `--rules`
      repl.tell_in_use();
      return true;
    }
    return use(repl, "use layout " + rest);
  }
  const Mesh* mesh = mesh_in_question(repl);
  const std::optional<Declared> old = declared_in_use(repl);
  return mesh != nullptr && typed_rules(repl, *mesh, rest) &&
         use(repl, "layout " + std::string(kTyped) + " on " + mesh->name + kind_of_layout(old) +
                       " { " + rest + " }\nuse layout " + std::string(kTyped));
}

bool repl_mesh(Repl& repl, const std::string& rest) {
  Session& session = repl.planned().session();
  if (rest.empty()) {
    for (const Mesh& mesh : session.meshes()) {
      repl.tell(to_string(mesh) + "   " + count_text(mesh.ranks(), "rank") + "\n",
                {{"name", mesh.name}, {"value", to_string(mesh)}, {"ranks", mesh.ranks()}});
    }
    return true;
  }
  const host::AxisSizes sizes = host::parse_axis_sizes(rest);
  const Mesh* mesh = mesh_in_question(repl);
  if (mesh == nullptr || !sizes.problem.empty()) {
    return mesh != nullptr && repl.refuse(DiagKind::kBadArgument, sizes.problem);
  }
  Mesh resized = *mesh;
  for (const MeshAxis& axis : sizes.axes) {
    const std::optional<AxisId> found = resized.find(axis.name);
    if (!found) {
      return refuse_axis(repl, *mesh, axis.name);
    }
    resized.axes[*found].size = axis.size;
  }
  std::string text;
  for (const MeshAxis& axis : resized.axes) {
    text += (text.empty() ? "" : ", ") + axis.name + ": " + std::to_string(axis.size);
  }
  return use(repl, "mesh " + resized.name + " = [" + text + "]" +
                       (resized.profile.empty() ? "" : " of " + resized.profile));
}

namespace {

// The layout of these statements, as the session sees it; nothing of it stays. nullopt after an
// error.
std::optional<Layout> layout_seen(Repl& repl, const std::vector<Statement>& statements) {
  DiagSink known;
  ast::File file = program_of(statements, repl.sources(), known);
  PlannedSession& planned = repl.planned();
  const PlannedState state = planned.save();
  const std::size_t said = planned.diags().diags().size();
  static_cast<void>(planned.run(std::move(file)));
  std::optional<Layout> layout;
  if (repl.show(planned.diags().diags().subspan(said))) {
    const std::span<const Layout> all = planned.session().layouts();
    const auto found = std::ranges::find(all, kWhatIf, &Layout::name);
    layout = found == all.end() ? std::nullopt : std::optional(*found);
  }
  planned.restore(state);
  return layout;
}

}  // namespace

bool repl_what_if(Repl& repl, const std::string& words) {
  const std::string rest = without_braces(words);
  if (rest.find("->") == std::string::npos) {
    return repl.refuse(DiagKind::kBadArgument, "`:what-if` takes rules, as `batch -> cols`");
  }
  const std::optional<std::string> text = changed_layout(repl, rest);
  const std::optional<std::vector<Statement>> added = text ? repl.read_aside(*text) : std::nullopt;
  if (!added) {
    return false;
  }
  Options options;
  options.command = Command::kDiff;
  Session& session = repl.planned().session();
  if (!session.entries().empty() && !session.follows_layout()) {
    const std::optional<Layout> layout = layout_seen(repl, *added);
    return layout && about_program(repl, repl.script().inputs(), std::move(options),
                                   [&](Workspace& workspace) {
                                     return what_if_outcome(workspace, session, *layout);
                                   });
  }
  // What there is depends on the layout, or has no entry yet: it is built anew.
  Script script = repl.script();
  DiagSink diags;
  for (const Statement& input : *added) {
    if (!script.accept(input, repl.sources(), diags)) {
      return repl.show(diags.diags());
    }
  }
  const Layout* in_use = session.layout();
  options.layouts = {in_use == nullptr ? "none" : in_use->name, std::string(kWhatIf)};
  return about_program(repl, script.inputs(), std::move(options), diff_outcome,
                       std::string(kWhatIf));
}

}  // namespace mtf
