// Functions of the user: bound to arguments, inlined into the unit under construction, or built as
// a unit of their own and kept.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/entries.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/number.h"

namespace mtf::host {
namespace {

constexpr std::size_t kMaxCalls = 256;

std::string joined_path(const std::string& path, const std::string& part) {
  return path.empty() || part.empty() ? path + part : path + "/" + part;
}

bool may_go_deeper(Reporter& report, const ast::Fn& fn, SourceSpan span) {
  if (report.is_too_deep) {
    return false;
  }
  if (report.calls.size() < kMaxCalls) {
    return true;
  }
  report.is_too_deep = true;
  if (report.was_too_deep(fn.name.text)) {
    report.fail();
    return false;
  }
  report.error(DiagKind::kRecursionLimit, span,
               "`" + fn.name.text + "` is the " + std::to_string(kMaxCalls + 1) +
                   "th call inside another; does it call itself without end?");
  return false;
}

Value checked_results(Context& c, const ast::Fn& fn, Value result) {
  const SourceSpan span = fn.name.span;
  if (fn.results.empty() || is_unknown(result)) {
    return result;
  }
  Values values{result};
  if (const auto* several = result.get<Results>()) {
    values = *several->items;
  }
  if (values.size() != fn.results.size() || result.is<Nothing>()) {
    c.report.error(DiagKind::kWrongType, span,
                   "`" + fn.name.text + "` says it returns " + plural(fn.results.size(), "value") +
                       "; it returns " +
                       (result.is<Nothing>() ? "nothing" : std::to_string(values.size())));
    return unknown();
  }
  const Restore precision(c.units.precision, c.control.returned_in);
  // A call may stand for all of them.
  const std::vector<SourceSpan>& returned = c.control.returned;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SourceSpan at = returned.empty() ? span : returned[std::min(i, returned.size() - 1)];
    values[i] = checked_value(c, {.value = std::move(values[i]), .span = at}, fn.results[i],
                              "the result of `" + fn.name.text + "`");
    if (values[i].is<Unknown>()) {
      return unknown();
    }
  }
  return values.size() == 1 ? values.front()
                            : make(Results{std::make_shared<const Values>(std::move(values))});
}

// Runs the body in a scope of its own.
Value run_body(Context& c, const Function& function, const Arguments& arguments) {
  const Restore scope(c.names.scope,
                      std::make_shared<Scope>(function.scope, c.units.recording().serial));
  const Restore result(c.control.result, nothing());
  const Restore returned(c.control.returned, std::vector<SourceSpan>());
  const Restore returned_in(c.control.returned_in, c.units.precision);
  const Restore name(c.variables.call_name, std::string());
  const Restore fill(c.variables.initial_type, static_cast<const TensorType*>(nullptr));
  const Restore gradient(c.control.gradient, static_cast<const ast::Gradient*>(nullptr));
  if (!declare_parameters(c, *function.fn, arguments)) {
    return unknown();
  }
  static_cast<void>(run_block(c, function.fn->body));
  if (c.units.failed(c.units.recording()) && c.control.result.is<Nothing>()) {
    return unknown();
  }
  Value checked = checked_results(c, *function.fn, c.control.result);
  return c.control.gradient == nullptr ? checked
                                       : with_own_gradient(c, *function.fn, std::move(checked));
}

struct Entered {  // a call on the stack of calls
  Entered(Reporter& reporter, const ast::Fn& fn, SourceSpan call, const Arguments& arguments)
      : report(reporter) {
    CallFrame frame{
        .function = fn.name.text, .call = call, .dims = {}, .number = ++reporter.calls_begun};
    for (const std::optional<Operand>& argument : arguments) {
      if (const Dim* dim = argument ? argument->value.get<Dim>() : nullptr; dim != nullptr) {
        frame.dims.emplace_back(dim->name, argument->span);
      }
    }
    report.calls.push_back(std::move(frame));
  }
  ~Entered() {
    report.calls.pop_back();
    report.is_too_deep = report.is_too_deep && !report.calls.empty();
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;

  Reporter& report;
};

Root root_of(const CallSite& site) {
  return {.call = site.span, .is_named = !site.name.empty(), .as = site.named};
}

// `path`: where nobody owns the variables.
Value run_as_root(Context& c, const Function& function, const Arguments& arguments, Root root,
                  std::string path) {
  if (root.owner == nullptr && owns_variables(*function.fn)) {
    root.owner = function.fn;
    path = function.fn->name.text;
  }
  const Restore restore_root(c.variables.root, &root);
  const Restore stacked(c.variables.stacked, root.owner == nullptr ? c.variables.stacked : Shape());
  const Restore picked(c.variables.picked,
                       root.owner == nullptr ? c.variables.picked : std::vector<Picked>());
  const Restore restore_path(c.variables.path, std::move(path));
  return run_body(c, function, arguments);
}

// Tensors among the arguments become inputs named by the parameters.
Arguments as_inputs(Recording& unit, const ast::Fn& fn, Arguments arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i]) {
      continue;
    }
    const bool is_list = !arguments[i]->value.is<Tensor>();
    std::size_t count = 0;
    arguments[i]->value = map_tensors(std::move(arguments[i]->value), [&](Tensor& tensor) {
      if (tensor.where != Where::kHandle) {
        return;
      }
      const std::string& parameter = fn.parameters[i].name.text;
      const std::string name =
          is_list ? parameter + "[" + std::to_string(count++) + "]" : parameter;
      unit.builder.at(fn.parameters[i].name.span, unit.builder.frame());
      const ValueId id = unit.argument(name, tensor);
      tensor = {.where = Where::kRecorded,
                .type = tensor.type,
                .handle = nullptr,
                .variable = nullptr,
                .index = id.index,
                .unit = unit.serial,
                .name = name,
                .whole = tensor.whole};
    });
  }
  return arguments;
}

// Tensors of the result become outputs, or slots where they came in as they are.
Value as_result(Recording& unit, Value value) {
  return map_tensors(std::move(value), [&unit](Tensor& tensor) {
    if (tensor.where == Where::kHandle) {
      const ValueId id = unit.capture(tensor);
      tensor.where = Where::kSlot;
      tensor.index = static_cast<std::int32_t>(unit.slot_of(id).value());
      tensor.handle = nullptr;
      return;
    }
    if (tensor.where != Where::kRecorded) {
      return;
    }
    const ValueId id{tensor.index};
    if (const std::optional<std::size_t> slot = unit.slot_of(id)) {
      tensor.where = Where::kSlot;
      tensor.index = static_cast<std::int32_t>(*slot);
      return;
    }
    unit.add_output(tensor);
  });
}

struct Built {
  BuiltFunction* function = nullptr;
  std::vector<TensorHandle> slots;
};

// The arguments with slots for tensors, numbered as they become inputs.
std::vector<std::optional<Value>> argument_patterns(const Arguments& arguments) {
  std::vector<std::optional<Value>> patterns;
  std::int32_t next = 0;
  for (const std::optional<Operand>& argument : arguments) {
    if (!argument) {
      patterns.emplace_back();
      continue;
    }
    patterns.emplace_back(map_tensors(argument->value, [&next](Tensor& tensor) {
      if (tensor.where == Where::kHandle) {
        tensor.where = Where::kSlot;
        tensor.index = next++;
        tensor.handle = nullptr;
      }
    }));
  }
  return patterns;
}

std::string region_name(const Layouts& layouts) {
  return layouts.region ? layouts.region->name : "";
}

// `is_called`: not only looked at.
Built build(Context& c, const Function& function, const Arguments& arguments, const CallSite& site,
            bool is_called) {
  make_room(c.units, *function.fn);
  constexpr std::size_t kBuiltPerStatement = 8;  // each was compared with the call before this
  c.limits.statements += c.units.built[function.fn].size() / kBuiltPerStatement;
  Recording& unit = c.units.open(UnitKind::kFunction, name_in_program(c.modules, function));
  enter_region(c.layouts, unit);
  unit.of_top_level = function.fn->is_top_level;
  const Restore frame(c.units.frame, std::int32_t{-1});
  auto built = std::make_unique<BuiltFunction>();
  built->scope = function.scope;
  built->name = site.name;
  built->region = region_name(c.layouts);
  built->precision = c.units.precision;
  built->call = site.span;
  built->arguments = argument_patterns(arguments);
  const Entered entered(c.report, *function.fn, is_called ? site.span : SourceSpan(), arguments);
  const Value result =
      run_as_root(c, function, as_inputs(unit, *function.fn, arguments), root_of(site), site.name);
  built->result = as_result(unit, frozen(c.units, result, function.fn->name.span));
  const std::unique_ptr<Recording> closed = c.units.close();
  closed->finish();
  note_types(c.units, *closed);
  built->failed = c.units.failed(*closed) || is_unknown(built->result);
  built->rooted = closed->rooted;
  built->slots = closed->arguments().size();
  for (OutsideRead& read : closed->reads) {
    read.value = as_pattern(std::move(read.value), *closed);
  }
  built->reads = std::move(closed->reads);
  built->queries = std::move(closed->queries);
  built->runs = !closed->program().outputs.empty() || closed->acts();
  built->unit = std::move(closed->unit);
  if (!built->failed) {
    built->unit->program = c.units.simplified(std::move(built->unit->program));
  }
  auto& kept = c.units.built[function.fn];
  kept.push_back(std::move(built));
  return {.function = kept.back().get(), .slots = closed->arguments()};
}

bool fits(const Context& c, const BuiltFunction& built, const Function& function,
          const Arguments& arguments, const CallSite& site, std::vector<TensorHandle>& slots) {
  if (built.scope != function.scope || built.region != region_name(c.layouts) ||
      built.precision != c.units.precision || built.name != site.name ||
      (built.rooted && !(built.call == site.span))) {
    return false;
  }
  slots.assign(built.slots, nullptr);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].has_value() != built.arguments[i].has_value() ||
        (arguments[i] && !matches(*built.arguments[i], arguments[i]->value, slots))) {
      return false;
    }
  }
  return std::ranges::all_of(built.reads,
                             [&slots](const OutsideRead& read) {
                               return matches(read.value, read.binding->value, slots);
                             }) &&
         std::ranges::all_of(built.queries, [&c](const VariableQuery& query) {
           return query.ask(c.variables) == query.found;
         });
}

std::optional<Built> find_built(Context& c, const Function& function, const Arguments& arguments,
                                const CallSite& site) {
  std::vector<TensorHandle> slots;
  for (const std::unique_ptr<BuiltFunction>& built : c.units.built[function.fn]) {
    if (fits(c, *built, function, arguments, site, slots)) {
      return Built{.function = built.get(), .slots = std::move(slots)};
    }
  }
  return std::nullopt;
}

std::vector<SourceSpan> spans_of(const Arguments& arguments) {
  std::vector<SourceSpan> spans;
  for (const std::optional<Operand>& argument : arguments) {
    spans.push_back(argument ? argument->span : SourceSpan());
  }
  return spans;
}

Value result_of(const BuiltFunction& built, const std::vector<TensorHandle>& slots,
                const std::vector<TensorHandle>& outputs) {
  return map_tensors(built.result, [&](Tensor& tensor) {
    if (tensor.where != Where::kSlot && tensor.where != Where::kOutput) {
      return;
    }
    const auto index = static_cast<std::size_t>(tensor.index);
    tensor.handle = tensor.where == Where::kSlot ? slots[index] : outputs[index];
    tensor.where = Where::kHandle;
    tensor.type = tensor.handle->type;
  });
}

}  // namespace

std::vector<Formal> formals_of(const ast::Fn& fn) {
  std::vector<Formal> formals;
  formals.reserve(fn.parameters.size());
  for (const ast::Parameter& parameter : fn.parameters) {
    formals.push_back(
        {.name = parameter.name.text, .required = !parameter.initial, .declared = parameter.span});
  }
  return formals;
}

Value call_inline(Context& c, const Function& function, const Arguments& arguments,
                  const CallSite& site) {
  if (!may_go_deeper(c.report, *function.fn, site.span)) {
    return unknown();
  }
  Program& program = c.units.recording().program();
  program.frames.push_back(
      {.function = function.fn->name.text, .call = site.span, .parent = c.units.frame});
  const Restore frame(c.units.frame, static_cast<std::int32_t>(program.frames.size()) - 1);
  const Entered entered(c.report, *function.fn, site.span, arguments);
  if (site.owned_path) {
    return run_as_root(c, function, arguments, {.owner = function.fn, .is_placed = true},
                       *site.owned_path);
  }
  if (function.fn == c.units.looked_for) {
    const bool is_alone = runs_as_alone(c, function, arguments);
    c.units.looked_for = nullptr;
    const std::size_t first = program.values.size();
    Value result = run_as_root(c, function, arguments, root_of(site), site.name);
    if (is_alone && !is_unknown(result)) {
      note_inside(c.units, first, result);
    }
    return result;
  }
  if (owns_variables(*function.fn) || c.variables.root == nullptr) {
    return run_as_root(c, function, arguments, root_of(site), site.name);
  }
  const Restore path(c.variables.path, joined_path(c.variables.path, site.name));
  return run_body(c, function, arguments);
}

Value call_unit(Context& c, const Function& function, const Arguments& given,
                const CallSite& site) {
  Arguments arguments = given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<ast::TypeExpr>& type = function.fn->parameters[i].type;
    if (arguments[i] && type && wants_scalar(*type, arguments[i]->value)) {
      const auto handle = device_number(c, *arguments[i], find_dtype(type->name.text).value());
      if (!handle) {
        return unknown();
      }
      arguments[i]->value = make(Tensor{.type = (*handle)->type, .handle = *handle});
    }
  }
  std::optional<Built> built = find_built(c, function, arguments, site);
  if (!built) {
    built = build(c, function, arguments, site, /*is_called=*/true);
    warn_of_rebuilt(c.units, *function.fn, spans_of(arguments));
  }
  built->function->used = ++c.units.statements;
  if (built->function->failed) {
    return unknown();
  }
  std::vector<TensorHandle> outputs;
  if (built->function->runs) {
    const Entered entered(c.report, *function.fn, site.span, arguments);
    auto handles = run_unit(c.report, c.layouts, c.execution, *built->function->unit, built->slots);
    if (!handles) {
      return unknown();
    }
    outputs = std::move(*handles);
  }
  return result_of(*built->function, built->slots, outputs);
}

const BuiltFunction* build_entry(Context& c, const Function& function, const Arguments& arguments) {
  const CallSite site{.span = function.fn->name.span, .name = {}, .named = {}, .owned_path = {}};
  std::optional<Built> built = find_built(c, function, arguments, site);
  if (!built) {
    built = build(c, function, arguments, site, /*is_called=*/false);
  }
  return built->function->failed ? nullptr : built->function;
}

}  // namespace mtf::host
