// What the session has, and where it is kept.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <variant>

#include "frontend/driver/commands.h"
#include "frontend/driver/doc/language.h"
#include "frontend/driver/doc/pages.h"
#include "frontend/driver/launch/line.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/driver/originals/kept_copy.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/driver/workspace.h"
#include "frontend/elaborate/names/module.h"
#include "frontend/report/quantity.h"
#include "frontend/report/show/shown.h"
#include "ir/support/file.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// The comment lines right above a place, and the line itself up to the body.
std::string head_of(const SourceMap& sources, const ast::Fn& fn) {
  const std::string& text = sources.file(fn.name.span.file).text;
  std::size_t begin = text.rfind('\n', fn.name.span.begin);
  begin = begin == std::string::npos ? 0 : begin + 1;
  while (begin > 0) {
    const std::size_t before = begin < 2 ? std::string::npos : text.rfind('\n', begin - 2);
    const std::size_t line = before == std::string::npos ? 0 : before + 1;
    if (text[line] != '#') {
      break;
    }
    begin = line;
  }
  std::string head = text.substr(begin, fn.body.span.begin - begin);
  head.erase(head.find_last_not_of(" \n") + 1);
  return head + "\n";
}

const host::Value* member(Repl& repl, std::string_view name) {
  const std::size_t dot = name.find('.');
  const host::Value* value = repl.planned().value(name.substr(0, dot));
  if (value == nullptr || dot == std::string_view::npos) {
    return value;
  }
  const auto* module = value->get<std::shared_ptr<host::Module>>();
  const host::Binding* binding = module == nullptr || *module == nullptr
                                     ? nullptr
                                     : (*module)->scope->own(name.substr(dot + 1));
  return binding == nullptr ? nullptr : &binding->value;
}

// Whether there is a file that holds something else than the text.
bool holds_other(const std::string& path, const std::string& text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return false;
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return size > 0 && (size != text.size() || text_of(path) != text);
}

}  // namespace

bool repl_type(Repl& repl, const std::string& rest) {
  return repl.look_at(rest, [&repl](const host::Value& value) {
    repl.answer(repl.is_json()
                    ? value_json("", value, repl.planned().device(), repl.planned().context()) +
                          "\n"
                    : value_text(value, repl.planned().device(), repl.planned().context()) + "\n");
    return true;
  });
}

namespace {

// `:show mesh [NAME]`.
bool draw_meshes(Repl& repl, const std::string& name, const PictureOptions& picture) {
  std::vector<Mesh> meshes;
  const std::span<const Mesh> all = repl.planned().session().meshes();
  std::ranges::copy_if(all, std::back_inserter(meshes),
                       [&](const Mesh& mesh) { return name.empty() || mesh.name == name; });
  if (meshes.empty()) {
    return repl.refuse(DiagKind::kUnknownName,
                       "no mesh is called `" + name + "`" + did_you_mean(name, names_of(all)));
  }
  if (repl.is_json()) {
    repl.answer(mesh_picture_json(meshes) + "\n");
    return true;
  }
  for (const Mesh& mesh : meshes) {
    if (const auto missing = missing_rank(picture.rank.value_or(0), mesh)) {
      return repl.refuse(missing->kind, missing->text);
    }
    repl.answer((&mesh == meshes.data() ? "" : "\n") + mesh_picture_text(mesh, picture));
  }
  return true;
}

// A tensor in each form that the plan which made it has of it.
std::vector<Shown> forms_of(const host::Value& value, const Placed& tensor,
                            const PlanDevice& device, const std::string& name) {
  const auto* planned = dynamic_cast<const PlannedTensor*>(value.get<host::Tensor>()->handle.get());
  const std::optional<SpmdProgram> plan =
      planned == nullptr ? std::nullopt : device.plan_of(*planned);
  if (plan) {
    return shown_output(*plan, planned->output, name);
  }
  return {{.picture = {.name = name,
                       .type = tensor.type,
                       .layout = tensor.layout,
                       .mesh = device.layout().mesh},
           .product = std::nullopt,
           .move = std::nullopt}};
}

// Whether a word is no expression, but what `mtf show` takes: the path of a value in an entry, as
// `net/attention/scores` and `*/scores`, or its name in a plan, as `%9`.
bool is_in_entry(Repl& repl, const std::string& word) {
  const std::size_t slash = word.find('/');
  if (word.find_first_of(" (") != std::string::npos) {
    return false;
  }
  const host::Value* first =
      slash == std::string::npos ? nullptr : repl.planned().value(word.substr(0, slash));
  return word.starts_with('*') || word.starts_with('%') ||
         (first != nullptr && first->is<host::Function>());
}

}  // namespace

bool repl_show(Repl& repl, const std::string& rest) {
  const std::size_t dashes = std::min(rest.find(" --"), rest.size());
  const std::string expression = rest.substr(0, dashes);
  std::vector<std::string> words = words_in(rest.substr(dashes));
  words.insert(words.begin(), {"show", "session", "value"});
  const std::variant<Options, Answer> parsed = parse_options(words);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    return repl.misused(answer->text);
  }
  const auto& options = std::get<Options>(parsed);
  const ColorChoice color = options.color == ColorChoice::kAuto
                                ? repl.options_for(repl.script().inputs()).color
                                : options.color;
  const PictureOptions drawing{.ascii = options.ascii,
                               .color = colors_output(color),
                               .rank = options.marked,
                               .columns = options.width.value_or(output_columns())};
  const std::vector<std::string> named = words_in(expression);
  if (!named.empty() && named.front() == "mesh") {
    return draw_meshes(repl, named.size() > 1 ? named[1] : "", drawing);
  }
  if (named.size() <= 2 && !named.empty() && is_in_entry(repl, named.front())) {
    return repl_show_path(repl, rest);
  }
  return repl.look_at(expression, [&](const host::Value& value) {
    const Layout& layout = repl.planned().device().layout();
    const std::optional<Placed> tensor = placed(value, repl.planned().device());
    if (!tensor) {
      return repl.refuse(DiagKind::kWrongType, "`" + expression + "` is " + host::kind_of(value) +
                                                   "; `:show` draws tensors");
    }
    if (const auto missing = missing_rank(options.marked.value_or(0), layout.mesh)) {
      return repl.refuse(missing->kind, missing->text);
    }
    const std::vector<Shown> forms = forms_of(value, *tensor, repl.planned().device(), expression);
    repl.answer(repl.is_json() ? shown_json(forms) + "\n" : shown_text(forms, drawing));
    return true;
  });
}

bool repl_vars(Repl& repl, const std::string& rest) {
  if (!rest.empty()) {
    return repl.refuse(DiagKind::kBadArgument, "`:vars` takes nothing; `:type` is about one value");
  }
  PlannedSession& planned = repl.planned();
  const host::Context& context = planned.context();
  const auto answer = [&](const std::string& name, const host::Value& value) {
    repl.answer(repl.is_json()
                    ? value_json(name, value, planned.device(), context) + "\n"
                    : name + " : " + value_text(value, planned.device(), context) + "\n");
  };
  for (const Statement& input : repl.script().inputs()) {
    for (const std::string& name : input.names) {
      const host::Value* value = planned.value(name);
      if (value != nullptr && input.form != StatementForm::kAssigned) {
        answer(name, *value);
      }
    }
  }
  for (const auto& [path, record] : context.variables.by_path) {
    answer(path, host::make(host::Tensor{.where = host::Where::kVariable,
                                         .type = record->variable.type,
                                         .handle = nullptr,
                                         .variable = record}));
  }
  return true;
}

bool repl_doc(Repl& repl, const std::string& rest) {
  const host::Value* value = member(repl, rest);
  const auto* function = value == nullptr ? nullptr : value->get<host::Function>();
  if (function != nullptr) {
    const std::string head = head_of(repl.sources(), *function->fn);
    repl.tell(head, {{"name", rest}, {"doc", head}});
    return true;
  }
  if (value != nullptr) {
    const std::string text = value_text(*value, repl.planned().device(), repl.planned().context());
    repl.tell(rest + " : " + text + "\n", {{"name", rest}, {"doc", text}});
    return true;
  }
  const std::vector<std::string>& modules = repl.planned().context().modules.standard_names;
  const bool is_library = std::ranges::find(modules, rest.substr(0, rest.find('.'))) !=
                          modules.end();  // imported or not
  if (is_library || rest.starts_with(kLanguagePage)) {
    return repl_library(repl, rest);
  }
  const std::string page = page_command(rest);
  return page.starts_with("doc ") ? repl_library(repl, page.substr(4)) : repl_ops(repl, rest);
}

namespace {

// `mtf run FILE` with what the session was told on its command line and the file does not say.
std::string run_line(const std::string& path, const Options& session) {
  std::vector<std::string> words{"mtf", "run", path};
  const auto add = [&words](std::string_view option, const std::string& value) {
    if (!value.empty()) {
      words.insert(words.end(), {std::string(option), value});
    }
  };
  add("--layout", session.layout);
  add("--mesh", session.mesh);
  add("--rules", session.rules);
  add("--precision", session.precision);
  add("--seed", session.seed == 0 ? "" : std::to_string(session.seed));
  for (const std::string& setting : session.settings) {
    add("--set", setting);
  }
  if (session.fast) {
    words.emplace_back("--fast");
  }
  return shell_line(words);
}

}  // namespace

bool repl_save(Repl& repl, const std::string& rest) {
  const std::vector<std::string> words = words_in(rest);
  if (words.size() != 1) {
    return repl.refuse(DiagKind::kBadArgument, "`:save FILE` takes the file to write");
  }
  const std::string& path = words.front();
  const std::string text = repl.script().text(repl.sources());
  const bool keeps = !repl.saved().contains(path) && holds_other(path, text);
  std::error_code error;
  const std::string kept = keeps ? kept_copy(path, error) : "";
  if (keeps && kept.empty()) {
    return repl.refuse(DiagKind::kFile, "`" + path + "` is there already and cannot be kept as `" +
                                            path + "~`: " + error.message());
  }
  const std::string why = replace_file(path, text);
  if (!why.empty()) {
    if (keeps) {
      std::filesystem::remove(kept, error);
    }
    return repl.refuse(DiagKind::kFile, "`" + path + "` cannot be written: " + why);
  }
  repl.saved().insert(path);
  const auto count = static_cast<std::int64_t>(repl.script().inputs().size());
  repl.tell(path + ": " + count_text(count, "statement") + "; `" +
                run_line(path, repl.options_for(repl.script().inputs())) + "` runs " +
                (count == 1 ? "it" : "them") +
                (kept.empty() ? "" : "; what was there is kept as " + kept) + "\n",
            {{"saved", path}, {"statements", count}, {"kept", kept}});
  return true;
}

bool repl_load(Repl& repl, const std::string& rest) {
  const std::vector<std::string> words = words_in(rest);
  if (words.size() != 1) {
    return repl.refuse(DiagKind::kBadArgument, "`:load FILE` takes the file to read");
  }
  return repl.load(words.front());
}

bool repl_reload(Repl& repl, const std::string& rest) {
  if (!rest.empty()) {
    return repl.refuse(DiagKind::kBadArgument, "`:reload` takes nothing: it is about all files");
  }
  return repl.reload();
}

bool repl_time(Repl& repl, const std::string& rest) {
  if (rest.empty()) {
    return repl.refuse(DiagKind::kMissingArgument, "of what? a statement, as `:time let y = f(x)`");
  }
  const auto begin = std::chrono::steady_clock::now();
  if (!repl.say("session", rest)) {
    return false;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  repl.tell("took " + seconds_text(took.count()) + "\n", {{"seconds", took.count()}});
  return true;
}

}  // namespace mtf
