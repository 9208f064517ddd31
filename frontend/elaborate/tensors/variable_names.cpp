// Variables named from outside of what declares them: params(net), params("*/w"), net.w, path(p).

#include <algorithm>
#include <set>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/tensors/entries.h"

namespace mtf::host {
namespace {

using Records = std::vector<std::shared_ptr<VariableRecord>>;

// Models, and globs of paths.
struct Wanted {
  std::vector<const ast::Fn*> owners;
  std::vector<VariableRules> globs;
  std::set<std::string> paths;  // of variables themselves, states too
};

bool is_wanted(const Wanted& wanted, const VariableRecord& record) {
  return std::ranges::find(wanted.owners, record.owner) != wanted.owners.end() ||
         std::ranges::any_of(wanted.globs, [&record](const VariableRules& glob) {
           return glob.names(record.variable.path);
         });
}

// The params that are wanted, in the order in which they were declared.
Records find_params(const Variables& variables, const Wanted& wanted) {
  Records found;
  for (const auto& [path, record] : variables.by_path) {
    if (wanted.paths.contains(path) || (record->variable.trained && is_wanted(wanted, *record))) {
      found.push_back(record);
    }
  }
  std::ranges::sort(found, {}, &VariableRecord::ordinal);
  return found;
}

// What is being built depends on what there is now.
void note_query(Units& units, const VariableQuery& query) {
  for (const std::unique_ptr<Recording>& unit : units.recordings) {
    if (unit->kind == UnitKind::kFunction) {
      unit->queries.push_back(query);
    }
  }
}

// What failed may not fail once there are other variables.
void note_failure(Context& c) {
  const auto ask = [](const Variables& variables) {
    return find_params(
        variables, {.owners = {}, .globs = {{.glob = {}, .rules = {}, .span = {}}}, .paths = {}});
  };
  note_query(c.units, {.ask = ask, .found = ask(c.variables)});
}

// Whether later statements of a session can still make what is missing, before they call what names
// it. What is wrong is told then.
bool is_put_off(Units& units) {
  if (units.uncalled != nullptr) {
    units.put_off.insert(units.uncalled);
  }
  return units.uncalled != nullptr;
}

// ---- what is missing ------------------------------------------------------------------------

// Paths, and `*/` before each part that they end in; of a glob of what begins alike, `/*` behind
// each that they begin with.
std::vector<std::string> spellings(const Variables& variables, bool trained_only,
                                   const std::string& glob) {
  std::vector<std::string> texts;
  for (const auto& [path, record] : variables.by_path) {
    if (trained_only && !record->variable.trained) {
      continue;
    }
    texts.push_back(path);
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      texts.push_back("*" + path.substr(at));
      if (glob.ends_with("/*")) {
        texts.push_back(path.substr(0, at) + "/*");
      }
    }
  }
  return texts;
}

// A glob of the params whose paths end in what was taken for a path, or one in its spelling.
std::string suggest_glob(const std::string& glob, std::span<const std::string> known) {
  const std::string ending = "*/" + glob;
  return !glob.empty() && std::ranges::find(known, ending) != known.end()
             ? "; did you mean `" + ending + "`?"
             : did_you_mean(glob, known);
}

void report_no_param(Context& c, const std::string& glob, SourceSpan span) {
  if (is_put_off(c.units)) {
    return;
  }
  const bool is_state = std::ranges::any_of(c.variables.by_path, [&](const auto& entry) {
    return VariableRules{.glob = glob, .rules = {}, .span = {}}.names(entry.first);
  });
  const std::vector<std::string> known = spellings(c.variables, /*trained_only=*/true, glob);
  if (known.empty() && !is_state && !c.variables.called.empty() && c.report.failures() > 0) {
    return;  // what was called, and would have made them, was not built
  }
  std::string text = suggest_glob(glob, known);
  if (is_state) {
    text = "; what it names is `state`, which is not trained";
  } else if (known.empty()) {
    text = "; there is none by now: params are made where their model is called";
  }
  // The glob may come from elsewhere, so that nothing takes the place of what stands here.
  c.report.error(DiagKind::kUnknownName, span, "no param is called `" + glob + "`" + text);
}

bool owns(Context& c, const Operand& base, const Function& model) {
  if (owns_variables(*model.fn)) {
    return true;
  }
  const std::string& name = model.fn->name.text;
  c.report.error(DiagKind::kWrongType, base.span,
                 "`" + name +
                     "` owns no variables, because its parameters do not all have types: what it "
                     "declares belongs to each call; `params(\"*/…\")` names it by path",
                 {{.span = model.fn->name.span, .text = "declared here"}});
  return false;
}

void report_none_by_now(Context& c, const ast::Fn& fn, SourceSpan span) {
  const bool was_called = c.variables.called.contains(&fn);
  if ((was_called && c.report.failures() > 0) || c.report.misses_names()) {
    return;  // a call has failed, or what it was to be given, which has been said
  }
  if (!was_called && is_put_off(c.units)) {
    return;
  }
  const std::string& name = fn.name.text;
  c.report.error(DiagKind::kUnknownName, span,
                 "`" + name +
                     (was_called ? "` declares no variables"
                                 : "` has no variables by now: they are made where it is first "
                                   "called, which has to stand before this"),
                 {{.span = fn.name.span, .text = "declared here"}});
}

// A variable as it is named from outside of its model: net.w, net."layer_0/w".
std::string spelt(const std::string& path) {
  return path.find('/') == std::string::npos ? path : "\"" + path + "\"";
}

// Those below the part that was named, if any are; else all.
std::string variables_there(const std::string& model, const std::string& part,
                            std::span<const std::string> known) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> below;
  std::vector<std::string> all;
  for (const std::string& path : known) {
    all.push_back(model + "." + spelt(path));
    if (path.starts_with(part + "/")) {
      below.push_back(all.back());
    }
  }
  const std::vector<std::string>& shown = below.empty() ? all : below;
  return shown.size() <= kShown ? "; it has " + quoted_list(shown) : "";
}

void report_no_variable(Context& c, const Operand& base, const ast::Fn& fn, const ast::Name& part) {
  std::vector<std::string> known;
  for (const auto& [path, record] : c.variables.by_path) {
    if (record->owner == &fn) {
      known.push_back(path.substr(fn.name.text.size() + 1));
    }
  }
  if (known.empty()) {
    report_none_by_now(c, fn, base.span);
    return;
  }
  if (is_put_off(c.units)) {
    return;
  }
  const std::string& model = fn.name.text;
  const std::string meant(closest(part.text, known));
  c.report.error(DiagKind::kUnknownName, part.span,
                 "`" + model + "` has no variable `" + part.text + "`" +
                     (meant.empty() ? variables_there(model, part.text, known)
                                    : "; did you mean `" + model + "." + spelt(meant) + "`?"),
                 {}, meant.empty() ? "" : spelt(meant));
}

// ---- what is asked for -----------------------------------------------------------------------

bool add_glob(Context& c, const std::string& glob, SourceSpan span, Wanted& wanted) {
  wanted.globs.push_back({.glob = glob, .rules = {}, .span = {}});
  const auto names = [&wanted](const auto& entry) {
    return entry.second->variable.trained && wanted.globs.back().names(entry.first);
  };
  if (glob.empty() || std::ranges::none_of(c.variables.by_path, names)) {
    report_no_param(c, glob, span);
    return false;
  }
  return true;
}

bool add_owner(Context& c, const Operand& of, const Function& model, Wanted& wanted) {
  if (!owns(c, of, model)) {
    return false;
  }
  wanted.owners.push_back(model.fn);
  const auto is_of = [&model](const auto& entry) { return entry.second->owner == model.fn; };
  if (std::ranges::none_of(c.variables.by_path, is_of)) {
    report_none_by_now(c, *model.fn, of.span);
    return false;
  }
  return true;
}

bool add_wanted(Context& c, const Operand& of, Wanted& wanted) {
  if (const auto* glob = of.value.get<std::string>()) {
    return add_glob(c, *glob, of.span, wanted);
  }
  if (const auto* model = of.value.get<Function>()) {
    return add_owner(c, of, *model, wanted);
  }
  const auto* tensor = of.value.get<Tensor>();
  if (tensor != nullptr && tensor->where == Where::kVariable) {
    wanted.paths.insert(tensor->variable->variable.path);
    return true;
  }
  if (!is_unknown(of.value)) {
    c.report.error(
        DiagKind::kWrongType, of.span,
        "params are those of a model, or named by a glob of paths; this is " + kind_of(of.value));
  }
  return false;
}

// A model, a glob, a variable or a list of them; nullopt after an error.
std::optional<Wanted> wanted_by(Context& c, const Operand& of) {
  Wanted wanted;
  const auto* list = of.value.get<List>();
  bool all = true;
  for (const Value& value : list != nullptr ? *list->items : Values{of.value}) {
    all = add_wanted(c, {.value = value, .span = of.span}, wanted) && all;
  }
  if (!all) {
    note_failure(c);
    return std::nullopt;
  }
  return wanted;
}

std::optional<Records> asked_for(Context& c, const Operand& of) {
  const std::optional<Wanted> wanted = wanted_by(c, of);
  if (!wanted) {
    return std::nullopt;
  }
  VariableQuery query{
      .ask = [wanted =
                  *wanted](const Variables& variables) { return find_params(variables, wanted); },
      .found = find_params(c.variables, *wanted)};
  note_query(c.units, query);
  return std::move(query.found);
}

// The variable that an argument is; null after an error.
const VariableRecord* variable_in(Context& c, const HostFn& self, const Operand& x) {
  const auto* tensor = x.value.get<Tensor>();
  if (tensor == nullptr || tensor->where != Where::kVariable) {
    static_cast<void>(wrong_argument(c.report, self, x, "a param or state"));
    return nullptr;
  }
  return tensor->variable.get();
}

}  // namespace

Value variable_value(const std::shared_ptr<VariableRecord>& record, const std::string& name,
                     bool lasting) {
  return make(Tensor{.where = Where::kVariable,
                     .type = record->variable.type,
                     .handle = nullptr,
                     .variable = record,
                     .index = -1,
                     .unit = 0,
                     .name = name,
                     .lasting = lasting});
}

Value params_of(Context& c, const Operand& of) {
  const std::optional<Records> found = asked_for(c, of);
  if (!found) {
    return unknown();
  }
  Values values;
  for (const std::shared_ptr<VariableRecord>& record : *found) {
    values.push_back(variable_value(record, record->variable.path, /*lasting=*/true));
  }
  return make_list(std::move(values));
}

Value params_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, std::vector<Formal>{{.name = "of"}}, call, span);
  if (!bound) {
    return unknown();
  }
  const ast::Expr& of = *bound->front().front();
  return params_of(c, {.value = evaluate(c, of), .span = of.span});
}

Value path_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const ast::Expr* x = only_argument(c, self, call, span);
  const VariableRecord* record =
      x == nullptr ? nullptr : variable_in(c, self, {.value = evaluate(c, *x), .span = x->span});
  return record == nullptr ? unknown() : make(record->variable.path);
}

Value is_named_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}, {.name = "globs"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return unknown();
  }
  const ast::Expr& x = *(*bound)[0].front();
  const ast::Expr& globs = *(*bound)[1].front();
  const VariableRecord* record = variable_in(c, self, {.value = evaluate(c, x), .span = x.span});
  const std::optional<Wanted> wanted =
      wanted_by(c, {.value = evaluate(c, globs), .span = globs.span});
  return record == nullptr || !wanted ? unknown() : make(is_wanted(*wanted, *record));
}

Value variable_of(Context& c, const Operand& base, const Function& model,
                  const ast::Member& member) {
  const std::optional<std::string> part =
      member.path == nullptr ? std::optional(member.name.text) : name_part(c, *member.path);
  if (!part || !owns(c, base, model)) {
    return unknown();
  }
  const std::string prefix = model.fn->name.text + "/";
  const auto ask = [path = prefix + *part](const Variables& variables) {
    const auto found = variables.by_path.find(path);
    return found == variables.by_path.end() ? Records() : Records{found->second};
  };
  Records found = ask(c.variables);
  if (!found.empty()) {
    note_query(c.units, {.ask = ask, .found = found});
    return variable_value(found.front(), found.front()->variable.path);
  }
  note_failure(c);
  report_no_variable(c, base, *model.fn, {.text = *part, .span = member.name.span});
  return unknown();
}

}  // namespace mtf::host
