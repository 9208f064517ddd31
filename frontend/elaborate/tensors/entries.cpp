// Building functions on arguments of which only the types are known.

#include "frontend/elaborate/tensors/entries.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

bool is_closed_type(const ast::TypeExpr& type) {
  return type.dims && find_dtype(type.name.text) &&
         std::ranges::none_of(type.dims->elements, [](const ast::Element& element) {
           return std::holds_alternative<ast::Rest>(element.node);
         });
}

// As the program names it: `f`, or `m.f` of a file that it imports.
struct NamedFunction {
  std::string name;
  const ast::Fn* fn = nullptr;
};

// Null if there is none of that name. The standard library is for who calls it.
const Function* function_called(const Modules& modules, std::string_view name) {
  Scope* scope = modules.files.back()->scope.get();
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    const Binding* import = scope->own(name.substr(0, dot));
    const auto* module = import == nullptr ? nullptr : import->value.get<std::shared_ptr<Module>>();
    if (module == nullptr || *module == nullptr || (*module)->is_standard) {
      return nullptr;
    }
    scope = (*module)->scope.get();
    name.remove_prefix(dot + 1);
  }
  const Binding* binding = scope->own(name);
  const auto* function = binding == nullptr ? nullptr : binding->value.get<Function>();
  return function != nullptr && function->fn->name.text == name ? function : nullptr;
}

// Of files that the session's own import: those that the top level of one names.
std::vector<NamedFunction> imported_functions(const Modules& modules) {
  std::vector<NamedFunction> list;
  for (const std::unique_ptr<Module>& file : modules.files) {
    const auto named = modules.imported.find(file.get());
    if (named == modules.imported.end()) {
      continue;
    }
    for (const std::string& name : named->second) {
      const Function* function = function_called(modules, name);
      if (function != nullptr &&
          std::ranges::find(list, name, &NamedFunction::name) == list.end()) {
        list.push_back({.name = name, .fn = function->fn});
      }
    }
  }
  return list;
}

// Functions of the session's own files that no later one has replaced.
std::vector<const ast::Fn*> own_functions(const Modules& modules) {
  std::vector<const ast::Fn*> list;
  for (const std::unique_ptr<Module>& file : modules.files) {
    for (const ast::Stmt& stmt : file->file.statements) {
      const auto* fn = std::get_if<ast::Fn>(&stmt.node);
      const Binding* binding = fn == nullptr ? nullptr : file->scope->own(fn->name.text);
      const auto* function = binding == nullptr ? nullptr : binding->value.get<Function>();
      if (function != nullptr && function->fn == fn) {
        list.push_back(fn);
      }
    }
  }
  return list;
}

// Those that a command may be asked about without being told of others.
std::vector<NamedFunction> named_functions(const Modules& modules) {
  std::vector<NamedFunction> list;
  for (const ast::Fn* fn : own_functions(modules)) {
    list.push_back({.name = fn->name.text, .fn = fn});
  }
  std::ranges::move(imported_functions(modules), std::back_inserter(list));
  return list;
}

std::vector<const ast::Fn*> entry_functions(const Modules& modules) {
  std::vector<const ast::Fn*> list = own_functions(modules);
  std::erase_if(list, [](const ast::Fn* fn) { return !is_entry(*fn); });
  return list;
}

// Whether its type, or its default, says all that is to be known of what it is given.
bool is_settled(const ast::Parameter& parameter) {
  return parameter.initial || (parameter.type && is_closed_type(*parameter.type));
}

// Why the parameter is not settled, and what would help.
NoEntry why_open(const NamedFunction& named, const ast::Parameter& parameter) {
  const std::string function = "`" + named.name + "`";
  const std::string name = "`" + parameter.name.text + "`";
  const std::string word = parameter.type ? parameter.type->name.text : "";
  const bool is_tensor = word == "tensor" || (parameter.type && parameter.type->dims);
  std::string why = "has no type";
  std::string would =
      "a tensor type with all its dims, as f32[batch, io], makes " + function + " an entry";
  if (is_tensor) {
    why = word == "tensor" ? "is a `tensor` of any type" : "has `..`, which is any dims";
  } else if (parameter.type) {
    why = "is a" + std::string(word == "int" ? "n `" : " `") + word +
          "`, of which each value makes another program";
    would = "a function of tensors that calls " + function + " with a value for " + name +
            " is an entry; a default makes " + function + " itself one";
  }
  return {.name = named.name,
          .why = "its parameter " + name + " " + why,
          .would = std::move(would),
          .span = parameter.span};
}

// The entry of that name; null if there is none.
const Function* entry_called(const Modules& modules, std::string_view name) {
  const Function* function = function_called(modules, name);
  return function != nullptr && is_entry(*function->fn) ? function : nullptr;
}

// The tensors an entry takes, by their declared types; nullopt after an error.
std::optional<Arguments> abstract_arguments(Context& c, const Function& function) {
  Arguments arguments;
  for (const ast::Parameter& parameter : function.fn->parameters) {
    arguments.emplace_back();
    if (!parameter.type || !is_closed_type(*parameter.type)) {
      continue;  // by its default
    }
    std::optional<Operand> tensor = tensor_of_type(c, function, parameter);
    if (!tensor) {
      return std::nullopt;
    }
    if (!parameter.initial || tensor->value.get<Tensor>()->type.shape.rank() > 0) {
      arguments.back() = std::move(tensor);
    }
  }
  return arguments;
}

const BuiltFunction* build_function(Context& c, const Function& function) {
  const std::optional<Arguments> arguments = abstract_arguments(c, function);
  return arguments ? build_entry(c, function, *arguments) : nullptr;
}

}  // namespace

std::optional<Operand> tensor_of_type(Context& c, const Function& function,
                                      const ast::Parameter& parameter) {
  if (!parameter.type || !is_closed_type(*parameter.type)) {
    return std::nullopt;
  }
  const Restore scope(c.names.scope, std::make_shared<Scope>(function.scope));
  std::optional<DeclaredType> type;
  static_cast<void>(compute(c, [&] {
    type = evaluate_type(c, *parameter.type);
    return Values();
  }));
  if (!type) {
    return std::nullopt;
  }
  const auto handle = std::make_shared<const DeviceTensor>(type->type);
  return Operand{.value = make(Tensor{.type = type->type, .handle = handle}),
                 .span = parameter.name.span};
}

bool is_entry(const ast::Fn& fn) {
  return std::ranges::all_of(fn.parameters, is_settled);
}

std::vector<NoEntry> no_entries_of(const Modules& modules) {
  std::vector<NoEntry> list;
  for (const NamedFunction& function : named_functions(modules)) {
    if (std::optional<NoEntry> why = why_no_entry(modules, function.name)) {
      list.push_back(*std::move(why));
    }
  }
  return list;
}

std::optional<NoEntry> why_no_entry(const Modules& modules, std::string_view name) {
  const Function* function = function_called(modules, name);
  if (function == nullptr || is_entry(*function->fn)) {
    return std::nullopt;
  }
  const auto open = std::ranges::find_if_not(function->fn->parameters, is_settled);
  return why_open({.name = std::string(name), .fn = function->fn}, *open);
}

std::vector<Entry> entries_of(const Modules& modules) {
  std::vector<NamedFunction> functions = named_functions(modules);
  std::erase_if(functions, [](const NamedFunction& named) { return !is_entry(*named.fn); });
  std::set<std::string_view> names;
  for (const NamedFunction& named : functions) {
    names.insert(named.name);
  }
  std::vector<Entry> entries;
  for (const auto& [name, fn] : functions) {
    const std::string file = name.substr(0, name.size() - fn->name.text.size());  // "m." or ""
    Entry entry{.name = name,
                .is_model = fn->is_model,
                .is_imported = !file.empty(),
                .span = fn->name.span,
                .calls = {}};
    for (const std::string& used : modules.uses.at(fn).functions) {
      if (file + used != name && names.contains(file + used)) {
        entry.calls.push_back(file + used);
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool has_entry(const Modules& modules, std::string_view name) {
  return entry_called(modules, name) != nullptr;
}

std::string name_in_program(const Modules& modules, const Function& function) {
  for (const std::unique_ptr<Module>& file : modules.files) {
    for (const auto& [import, module] : file->imports) {
      if (module != nullptr && !module->is_standard && module->scope == function.scope) {
        return name_of(*import).text + "." + function.fn->name.text;
      }
    }
  }
  return function.fn->name.text;
}

namespace {

// As the program itself called it first: with these defaults left out, these numbers captured, in
// this region. Null if it never did.
const BuiltFunction* first_called(const Units& units, const ast::Fn& fn) {
  const auto found = units.built.find(&fn);
  if (found == units.built.end()) {
    return nullptr;
  }
  for (const std::unique_ptr<BuiltFunction>& built : found->second) {
    if (!built->failed && !(built->call == fn.name.span)) {  // what is built uncalled is there
      return built.get();
    }
  }
  return nullptr;
}

// Where there is no other error, the entry could not be built because of what nobody knows.
void report_unknown(Context& c, const ast::Fn& fn) {
  if (c.report.sink().errors() == 0 && c.names.are_cut_short) {
    c.report.error(DiagKind::kBadArgument, fn.name.span,
                   "`" + fn.name.text +
                       "` is built from what stands behind a loop that goes on for longer than is "
                       "looked at here; declare it before the loop");
  }
  if (c.report.sink().errors() > 0 || !c.execution.asked.file.valid()) {
    return;
  }
  c.report.error(DiagKind::kBadArgument, c.execution.asked,
                 "`" + fn.name.text +
                     "` is built from what a tensor holds, which is known only while the program "
                     "runs; for a plan, write the number here, or pass it on as a scalar tensor",
                 {{.span = fn.name.span, .text = "the entry is declared here"}});
}

}  // namespace

Unit* build_named(Context& c, std::string_view name, bool is_wanted) {
  if (const Function* function = entry_called(c.modules, name)) {
    const BuiltFunction* called = first_called(c.units, *function->fn);
    const BuiltFunction* built = called != nullptr ? called : build_function(c, *function);
    if (built == nullptr && is_wanted) {
      report_unknown(c, *function->fn);
    }
    return built == nullptr ? nullptr : built->unit.get();
  }
  std::vector<std::string> names;
  for (const ast::Fn* fn : entry_functions(c.modules)) {
    names.push_back(fn->name.text);
  }
  const Suggestion suggestion = suggest(name, names);
  c.report.error(DiagKind::kUnknownEntry, SourceSpan(),
                 "no entry `" + std::string(name) + "`" +
                     (!suggestion.text.empty() ? suggestion.text
                      : names.empty() ? "; the file has no function with fully typed parameters"
                                      : "; there is " + quoted_list(names)));
  return nullptr;
}

namespace {

// Builds the entry for its errors. Null: it was not run on the device.
const BuiltFunction* check_entry(Context& c, const ast::Fn& fn) {
  const Restore ended(c.limits.ended,
                      false);  // a long loop at top level leaves it unseen, not unbuilt
  const BuiltFunction* function = nullptr;
  {
    const Restore uncalled(c.units.uncalled, c.layouts.asked.in_session ? &fn : nullptr);
    function = build_function(c, *entry_called(c.modules, fn.name.text));
  }
  if (c.units.put_off.contains(&fn)) {
    c.units.built.at(&fn).pop_back();  // without what it names; a call builds it whole
    return nullptr;
  }
  if (function == nullptr || !function->runs || c.execution.is_dry() ||
      is_put_off(c.layouts)) {  // what is found will fit it
    return nullptr;
  }
  std::vector<TensorHandle> arguments;
  for (const Input& input : function->unit->program.inputs) {
    if (!input.is_variable()) {
      arguments.push_back(
          std::make_shared<const DeviceTensor>(function->unit->program.at(input.value).type));
    }
  }
  const bool is_run =
      run_unit(c.report, c.layouts, c.execution, *function->unit, arguments).has_value();
  return is_run ? function : nullptr;
}

bool is_built(const Units& units, const ast::Fn& fn) {
  const auto built = units.built.find(&fn);
  return built != units.built.end() && !built->second.empty();
}

// Whether the first entry may be left out, if another calls it: nothing is said of it elsewhere,
// it would be the first to declare variables, and no layout is searched, which would be done twice
// where all has to be built after all.
bool may_leave_out(const Context& c, std::span<const ast::Fn* const> entries) {
  return entries.size() > 1 && !is_built(c.units, *entries.front()) && c.contracts.empty() &&
         !c.modules.uses.at(entries.front()).expects && c.variables.by_path.empty() &&
         !c.units.precision && std::ranges::none_of(c.layouts.layouts, &Layout::automatic) &&
         std::ranges::any_of(entries.subspan(1), [&](const ast::Fn* other) {
           return !is_built(c.units, *other) &&
                  c.modules.uses.at(other).functions.contains(entries.front()->name.text);
         });
}

struct EntriesBuilt {
  bool ran_first = false;  // one of them ran the first as it would run alone
  std::optional<std::vector<TensorType>> results;  // and uses all that it returns
};

EntriesBuilt check_each(Context& c, std::span<const ast::Fn* const> entries) {
  EntriesBuilt built;
  for (const ast::Fn* fn : entries) {
    if (is_built(c.units, *fn) || c.units.put_off.contains(fn)) {
      continue;
    }
    const BuiltFunction* function = check_entry(c, *fn);
    const std::optional<RanInside> inside = std::exchange(c.units.inside, std::nullopt);
    if (function != nullptr && inside) {
      built = {.ran_first = true, .results = inside->types};
    }
  }
  return built;
}

}  // namespace

EntryCheck check_entries(Context& c, bool leave_out_first) {
  const std::vector<const ast::Fn*> entries = entry_functions(c.modules);
  if (!leave_out_first || !may_leave_out(c, entries)) {
    check_each(c, entries);
    return EntryCheck::kAll;
  }
  const std::size_t found = c.report.sink().diags().size();
  const std::size_t failures = c.report.failures();
  c.units.looked_for = entries.front();
  const EntriesBuilt others = check_each(c, std::span(entries).subspan(1));
  c.units.looked_for = nullptr;
  const bool is_well = c.report.failures() == failures && c.report.sink().diags().size() == found;
  if (!others.ran_first || !is_well) {
    return EntryCheck::kOutOfOrder;
  }
  if (others.results && c.execution.fit_layouts(*others.results)) {
    return EntryCheck::kLeftOutFirst;
  }
  // Its variables were the first ones all the same, and nothing has been reported before it.
  check_entry(c, *entries.front());
  return EntryCheck::kAll;
}

}  // namespace mtf::host
