// Declarations, bindings and assignments.

#include "frontend/elaborate/statement.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/results.h"
#include "frontend/elaborate/layouts/expect.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/precision/precision.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/match.h"
#include "ir/support/number.h"

namespace mtf::host {
namespace {

std::string joined_names(std::span<const ast::Name> names) {
  std::string text;
  for (const ast::Name& name : names) {
    text += (text.empty() ? "" : "_") + name.text;
  }
  return text;
}

// What is recorded now, and is no input; or null.
mtf::Value* recorded_now(const Units& units, const Value& value) {
  const auto* tensor = value.get<Tensor>();
  if (tensor == nullptr || tensor->where != Where::kRecorded || units.recordings.empty() ||
      tensor->unit != units.recording().serial) {
    return nullptr;
  }
  mtf::Value& recorded = units.recording().program().at(ValueId{tensor->index});
  return recorded.op == nullptr ? nullptr : &recorded;
}

// Layouts call a tensor by the path of the call that it is in and its name.
void note_let(Context& c, const Value& value, const std::string& name) {
  if (recorded_now(c.units, value) != nullptr) {
    const std::string& call = c.variables.path;
    std::string path = call.empty() ? name : call + "/" + name;
    c.names.lets.insert(path);
    c.units.recording().program().lets.push_back(
        {.path = std::move(path), .value = {value.get<Tensor>()->index}});
  }
}

// Messages, printed programs and layouts call a tensor as the user does.
Value named(Context& c, Value value, const std::string& name) {
  if (auto* tensor = std::get_if<Tensor>(&value.node)) {
    tensor->name = name;
  }
  if (mtf::Value* recorded = recorded_now(c.units, value)) {
    recorded->name = recorded->name.empty() ? name : recorded->name;
    note_let(c, value, name);
  }
  return value;
}

// What is computed at top level has its name before it is run.
Value bound_to(Context& c, std::span<const ast::Name> names, const ast::Expr& expr) {
  if (!c.units.at_top_level() || names.size() != 1) {
    return evaluate_bound(c, expr);
  }
  const auto evaluate_named = [&] {
    Value value = evaluate(c, expr);
    note_let(c, value, names.front().text);
    return Values{std::move(value)};
  };
  return compute(c, evaluate_named, /*freeze=*/true).front();
}

// f(…), the whole of the expression; null if it is none.
const ast::Call* call_in(const ast::Expr& expr) {
  const auto* postfix = std::get_if<ast::Postfix>(&expr.node);
  return postfix == nullptr ? nullptr : std::get_if<ast::Call>(&postfix->suffixes.back().node);
}

// "; …": with as many names as there are values. `keyword`: "let ", or nothing.
std::string right_form(std::span<const ast::Name> names, std::size_t values,
                       std::string_view keyword) {
  if (names.size() == 1) {
    return "; commas part the names: `let a, b = …`";
  }
  if (values > names.size()) {
    return "; each takes a name, which commas part";
  }
  std::string form(keyword);
  for (std::size_t i = 0; i < values; ++i) {
    form += (i == 0 ? "" : ", ") + names[i].text;
  }
  return values == 0 ? "" : "; " + in_backticks(form + " = …") + " would do";
}

// One value per name; all unknown after an error.
Values values_for(Context& c, std::span<const ast::Name> names, const ast::Expr& expr,
                  std::string_view keyword) {
  const Restore name(c.variables.call_name, joined_names(names));
  const Restore paired(c.names.paired, names.size() > 1 ? call_in(expr) : nullptr);
  const Value value = bound_to(c, names, expr);
  Values none(names.size(), unknown());
  if (value.is<Unknown>()) {
    return none;
  }
  const auto* results = value.get<Results>();
  const auto* list = value.get<List>();
  if (value.is<Nothing>()) {
    c.report.error(DiagKind::kWrongType, expr.span,
                   "this returns nothing that could be bound to `" + names.front().text + "`",
                   called_function(c, expr, value));
    return none;
  }
  if (names.size() == 1 && results == nullptr) {
    return {value};
  }
  Values items = results != nullptr ? *results->items
                 : list != nullptr  ? *list->items
                                    : Values{value};
  if (items.size() != names.size()) {
    std::vector<std::string> wanted;
    std::ranges::transform(names, std::back_inserter(wanted), &ast::Name::text);
    c.report.error(DiagKind::kWrongType, expr.span,
                   plural(items.size(), "value") + " for " + plural(names.size(), "name") + ": " +
                       quoted_list(wanted) + right_form(names, items.size(), keyword),
                   called_function(c, expr, value));
    return none;
  }
  return items;
}

void run_option(Context& c, const ast::Binding& option) {
  const ast::Name& name = option.names.front();
  const Operand otherwise{.value = compute(c, option.value), .span = option.value.span};
  c.names.scope->declare(name.text, {.value = option_value(c.report, c.settings, name, otherwise),
                                     .kind = NameKind::kOption,
                                     .span = name.span});
}

void run_binding(Context& c, const ast::Binding& binding) {
  if (binding.is_option) {
    return run_option(c, binding);
  }
  const Values values =
      values_for(c, binding.names, binding.value, binding.rebindable ? "var " : "let ");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ast::Name& name = binding.names[i];
    c.names.scope->declare(name.text, {.value = named(c, values[i], name.text),
                                       .kind = binding.rebindable ? NameKind::kVar : NameKind::kLet,
                                       .span = name.span});
  }
}

void run_assign(Context& c, const ast::Assign& assign) {
  const Values values = values_for(c, assign.names, assign.value, "");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Scope::Found found = c.names.scope->find(assign.names[i].text);
    if (found.binding != nullptr && found.binding->kind == NameKind::kVar) {
      found.binding->value = named(c, values[i], assign.names[i].text);
    } else {
      c.report.fail();  // the resolver has told why it cannot be assigned to
    }
  }
}

void run_dims(Context& c, const ast::Dims& dims) {
  for (const ast::Sized& sized : dims.dims) {
    const Value size = evaluate(c, sized.size);
    const auto number =
        checked_size(c.report, size, "the dim `" + sized.name.text + "`", sized.size.span);
    c.names.dims.insert(sized.name.text);
    c.names.scope->declare(
        sized.name.text,
        {.value = number ? make(Dim{.name = sized.name.text, .size = *number}) : unknown(),
         .kind = NameKind::kDim,
         .span = sized.name.span});
  }
}

// The resolver has refused what stands where it cannot; its names are known from here on.
void skip_misplaced(Reporter& report, Names& names, const ast::Stmt& statement) {
  report.fail();
  for (const ast::Name* name : names_declared_by(statement)) {
    names.scope->declare(name->text,
                         {.value = unknown(), .kind = NameKind::kLet, .span = name->span});
  }
}

Flow run_return(Context& c, const ast::Return& statement) {
  Values values;
  c.control.returned.clear();
  c.control.returned_in = c.units.precision;
  for (const ast::Expr& expr : statement.values) {
    c.control.returned.push_back(expr.span);
    values.push_back(frozen(c.units, evaluate(c, expr), expr.span));
    if (is_unknown(values.back())) {
      c.control.result = unknown();
      return Flow::kReturn;
    }
  }
  c.control.result = values.empty() ? nothing()
                     : values.size() == 1
                         ? values.front()
                         : make(Results{std::make_shared<const Values>(std::move(values))});
  return Flow::kReturn;
}

void declare_fn(Names& names, const ast::Fn& fn) {
  if (names.scope->own(fn.name.text) == nullptr) {
    names.closures.push_back(names.scope);
    names.scope->declare(fn.name.text, {.value = make(Function{.fn = &fn, .scope = names.scope}),
                                        .kind = NameKind::kFunction,
                                        .span = fn.name.span});
  }
}

void run_expression(Context& c, const ast::Expr& expr) {
  static_cast<void>(evaluate(c, expr));
}

Flow run_with_layout(Context& c, const ast::WithLayout& with) {
  const auto enter = [&c] {
    if (!c.units.recordings.empty()) {
      enter_region(c.layouts, c.units.recording());
    }
  };
  const std::optional<Layout> layout = region_layout(c.report, c.layouts, with.layout);
  Flow flow = Flow::kNext;
  {
    const Restore region(c.layouts.region, layout ? layout : c.layouts.region);
    enter();
    flow = run_block(c, with.body);
  }
  enter();
  return flow;
}

Flow run_with_precision(Context& c, const ast::WithPrecision& with) {
  const std::optional<Precision> precision = precision_of(c.report, with);
  // Outside of any block everything is as it is written, which f32 brings back.
  const bool changes = precision && (c.units.precision || precision->products != DType::kF32);
  const Restore restore(c.units.precision, changes ? precision : c.units.precision);
  return run_block(c, with.body);
}

Flow run_statement(Context& c, const ast::Stmt& statement) {
  const SourceSpan span = statement.span;
  Flow flow = Flow::kNext;
  match(
      statement.node,  //
      [&](const ast::Import&) {
        skip_misplaced(c.report, c.names, statement);
      },  // a file's own: modules.cpp
      [&](const ast::Mesh&) { skip_misplaced(c.report, c.names, statement); },
      [&](const ast::Layout&) { skip_misplaced(c.report, c.names, statement); },
      [&](const ast::UseLayout&) { skip_misplaced(c.report, c.names, statement); },
      [&](const ast::Dims& dims) { run_dims(c, dims); },
      [&](const ast::Fn& fn) { declare_fn(c.names, fn); },
      [&](const ast::Binding& binding) { run_binding(c, binding); },
      [&](const ast::Assign& assign) { run_assign(c, assign); },
      [&](const ast::Update& update) { run_update(c, update, span); },
      [&](const ast::Variable& variable) { declare_variable(c, variable, span); },
      [&](const ast::For& loop) { flow = run_for(c, loop); },
      [&](const ast::While& loop) { flow = run_while(c, loop, span); },
      [&](const ast::If& choice) { flow = run_if(c, choice); },
      [&](const ast::Leave& leave) { flow = leave.for_next_turn ? Flow::kContinue : Flow::kBreak; },
      [&](const ast::Return& value) {
        if (c.units.at_top_level()) {
          skip_misplaced(c.report, c.names, statement);
        } else {
          flow = run_return(c, value);
        }
      },
      [&](const ast::Print& print) { run_print(c, print, span); },
      [&](const ast::Assert& assertion) { run_assert(c, assertion, span); },
      [&](const ast::Minimize& minimize) { run_minimize(c, minimize, span); },
      [&](const ast::Checkpoint& checkpoint) { run_checkpoint(c, checkpoint, span); },
      [&](const ast::WithLayout& with) { flow = run_with_layout(c, with); },
      [&](const ast::WithPrecision& with) { flow = run_with_precision(c, with); },
      [&](const ast::Recompute& region) { flow = run_recompute(c, region); },
      [&](const ast::Gradient& gradient) {
        c.control.gradient = &gradient;
        c.control.gradient_scope = c.names.scope;
      },
      [&](const ast::Expect& expect) { run_expect(c, expect, span); },
      [&](const ast::Evaluate& evaluate) { run_expression(c, evaluate.value); });
  return flow;
}

// Kernels, and what plans them, take memory that no plan counts.
Flow run_within_memory(Context& c, const ast::Stmt& statement) {
  const bool is_run_here = c.units.at_top_level();
  try {
    return run_statement(c, statement);
  } catch (const std::bad_alloc&) {
    if (!is_run_here) {
      throw;
    }
    throw Failure{{.kind = DiagKind::kMemory,
                   .span = statement.span,
                   .text = "there is not enough memory for this statement"}};
  }
}

}  // namespace

Flow run_statements(Context& c, std::span<const ast::Stmt> statements) {
  for (const ast::Stmt& statement : statements) {
    if (!may_go_on(c.limits, c.units, statement.span)) {
      return Flow::kEnd;
    }
    const std::uint64_t stops = c.control.stops;
    const Flow flow = run_within_memory(c, statement);
    if (c.control.stops > stops && !c.units.at_top_level()) {
      c.control.result = unknown();
      return Flow::kReturn;
    }
    if (flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

Flow run_block(Context& c, const ast::Block& block) {
  const std::uint64_t unit = c.units.serial();
  const Restore scope(c.names.scope, std::make_shared<Scope>(c.names.scope, unit));
  return run_statements(c, block.statements);
}

}  // namespace mtf::host
