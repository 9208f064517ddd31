// param and state: variables by path, each declared once and initialised by a program of its own.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/precision/precision.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

struct Declaration {
  Context& c;
  const ast::Variable& variable;
  SourceSpan span;
  std::string path;
  SourceSpan call;  // the innermost one
};

std::string_view word(bool trained) {
  return trained ? "param" : "state";
}

void bind(const Declaration& declaration, Value value) {
  const ast::Name& name = declaration.variable.name;
  declaration.c.names.scope->declare(
      name.text, {.value = std::move(value), .kind = NameKind::kVariable, .span = name.span});
}

// What a rule keeps is placed below the param, where no other name of the call comes into its path.
std::string way_out(const Declaration& declaration) {
  const Variables& variables = declaration.c.variables;
  if (variables.root->is_placed) {
    return "to keep both, name one within the rule: `fn second(p, g) { f(p, g) as \"second\" }`";
  }
  const auto before = variables.by_path.find(declaration.path);
  const auto* owner = before == variables.by_path.end() ? nullptr : before->second->owner;
  const bool is_of_two = owner != nullptr && variables.root->owner != nullptr;
  return is_of_two && owner != variables.root->owner
             ? "they call two models of one name, as of two files; rename one"
             : "give each its own name: `f(…) as \"name_{i}\"`";
}

void declared_twice(const Declaration& declaration, SourceSpan first) {
  const bool same_place = first == declaration.call;
  declaration.c.report.error(
      DiagKind::kDuplicateParameter,
      declaration.call.file.valid() ? declaration.call : declaration.variable.name.span,
      "`" + declaration.path + "` is declared " +
          (same_place ? "twice by this call, which runs more than once" : "by two calls") + "; " +
          way_out(declaration),
      same_place ? std::vector<Note>()
                 : std::vector{Note{.span = first, .text = "first declared under this call"}});
}

// A function has declared it, and then calls what does: that call has no name of its own.
void declared_by_caller(const Declaration& declaration, SourceSpan first) {
  declaration.c.report.error(
      DiagKind::kDuplicateParameter, declaration.call,
      "`" + declaration.path +
          "` is declared by this call and by the function that makes it; name the call: "
          "`let y = f(…)` or `f(…) as \"y\"`",
      {{.span = first, .text = "first declared here"}});
}

DeclaredBy declared_by(const Declaration& declaration) {
  const std::vector<CallFrame>& calls = declaration.c.report.calls;
  return {.call = declaration.call,
          .number = calls.empty() ? 0 : calls.back().number,
          .name = declaration.variable.name.span};
}

// One call has come to it before: in a loop of its body, or by another declaration there.
void declared_within_call(const Declaration& declaration, SourceSpan first) {
  const SourceSpan name = declaration.variable.name.span;
  const bool in_loop = first == name;
  const Note earlier{.span = first, .text = "first declared here"};
  declaration.c.report.error(
      DiagKind::kDuplicateParameter, name,
      "`" + declaration.path + "` is declared " +
          (in_loop
               ? "again by each turn of a loop; declare it before the loop, or, for one of each "
                 "turn, in a function that the loop calls: `f(…) as \"name_{i}\"`"
               : "twice by one call; give each its own name"),
      in_loop ? std::vector<Note>() : std::vector{earlier});
}

// The variable that this declaration stands for, if it exists. False in `fits` after an error.
std::shared_ptr<VariableRecord> find_existing(const Declaration& declaration, bool& fits) {
  Context& c = declaration.c;
  const auto found = c.variables.by_path.find(declaration.path);
  if (found == c.variables.by_path.end()) {
    return nullptr;
  }
  const std::shared_ptr<VariableRecord>& record = found->second;
  const bool same_declaration = record->variable.span == declaration.variable.name.span;
  const Root& root = *c.variables.root;
  const bool same_root = root.is_placed || (record->owner == root.owner &&
                                            (root.owner != nullptr || record->root == root.call));
  if (!same_root || !same_declaration) {
    fits = false;
    declared_twice(declaration, record->call);
  }
  return record;
}

// The initial value, in the unit that is open; `type` is what is declared, or null.
std::optional<ValueId> initial_value(const Declaration& declaration, const TensorType* type) {
  Context& c = declaration.c;
  const ast::Expr& initial = *declaration.variable.initial;
  Operand operand{.value = evaluate(c, initial), .span = initial.span};
  if (const auto* op = operand.value.get<const OpDef*>()) {
    operand.value = call_op(c, **op, ast::Call(), initial.span);
  }
  if (type == nullptr && is_number(operand.value)) {
    const std::optional<ValueId> id =
        lift(c.units, operand, operand.value.is<double>() ? DType::kF32 : DType::kI32);
    operand.value = id ? recorded(c.units, *id) : unknown();
  }
  const auto* tensor = operand.value.get<Tensor>();
  const TensorType wanted = type != nullptr     ? *type
                            : tensor != nullptr ? tensor->type
                                                : TensorType();
  return fitted(c.units, operand, wanted);
}

// The program of the initial value.
std::optional<mtf::Variable> build_initial(const Declaration& declaration, const TensorType* type) {
  Context& c = declaration.c;
  enter_region(c.layouts, c.units.open(UnitKind::kInitial, declaration.path));
  const Restore frame(c.units.frame, std::int32_t{-1});
  const Restore fill(c.variables.initial_type, type);
  const Restore name(c.variables.call_name, std::string());
  const Restore precision(c.units.precision,
                          c.units.precision ? std::optional(Precision{}) : std::nullopt);
  const std::optional<ValueId> id = for_each_position(
      c.units, c.variables.stacked, [&] { return initial_value(declaration, type); });
  const std::unique_ptr<Recording> unit = c.units.close();
  if (!id || c.units.failed(*unit)) {
    return std::nullopt;
  }
  const TensorType made = unit->program().at(*id).type;
  unit->program().outputs = {*id};
  unit->program().at(*id).variable = declaration.path;
  return mtf::Variable{.path = declaration.path,
                       .type = made,
                       .trained = declaration.variable.trained,
                       .span = declaration.variable.name.span,
                       .init = c.units.simplified(std::move(unit->program()))};
}

bool may_be_declared(const Declaration& declaration, const std::optional<DeclaredType>& type) {
  Context& c = declaration.c;
  const ast::Variable& variable = declaration.variable;
  if (!c.units.recordings.empty() && c.units.recording().kind == UnitKind::kInitial) {
    c.report.error(
        DiagKind::kBadArgument, declaration.span,
        "a " + std::string(word(variable.trained)) + " inside the initial value of another");
    return false;
  }
  if (type && type->open) {
    c.report.error(DiagKind::kBadArgument, variable.type->span,
                   "a variable needs all of its dims; without a type it has those of its value");
    return false;
  }
  if (!variable.initial) {
    c.report.error(DiagKind::kMissingArgument, variable.name.span,
                   "`" + variable.name.text +
                       "` has no initial value; for example `= zeros` or `= normal(stddev = 0.1)`");
    return false;
  }
  return true;
}

std::shared_ptr<VariableRecord> create(const Declaration& declaration, const TensorType* type) {
  Context& c = declaration.c;
  std::optional<mtf::Variable> variable = build_initial(declaration, type);
  if (!variable) {
    return nullptr;
  }
  if (variable->trained && !is_float(variable->type.dtype)) {
    c.report.error(DiagKind::kDtypeMismatch, declaration.variable.name.span,
                   "the param `" + declaration.path + "` is " + mtf::to_string(variable->type) +
                       "; only floats are trained; `state` keeps other values");
    return nullptr;
  }
  if (!is_put_off(c.layouts) && !put_in_use(c.report, c.layouts, c.execution)) {
    return nullptr;
  }
  auto record =
      std::make_shared<VariableRecord>(VariableRecord{.variable = variable->without_init(),
                                                      .ordinal = c.variables.by_path.size(),
                                                      .owner = c.variables.root->owner,
                                                      .root = c.variables.root->call,
                                                      .call = declaration.call});
  c.variables.by_path.emplace(declaration.path, record);
  c.execution.declare(*std::move(variable));
  return record;
}

// Whether the variable is of the declared type, for each position of the dims of `each`.
bool is_same_type(const Shape& stacked, const TensorType& declared, const TensorType& type) {
  std::vector<Dim> dims(stacked.dims().begin(), stacked.dims().end());
  dims.insert(dims.end(), declared.shape.dims().begin(), declared.shape.dims().end());
  return type == TensorType{.dtype = declared.dtype, .shape = Shape(std::move(dims))};
}

Value declared_value(const Declaration& declaration, const std::optional<DeclaredType>& type) {
  Context& c = declaration.c;
  const auto earlier = c.variables.root->declared.find(declaration.path);
  if (earlier != c.variables.root->declared.end()) {
    const DeclaredBy& first = earlier->second;
    const std::vector<CallFrame>& calls = c.report.calls;
    if (!calls.empty() && first.number == calls.back().number) {
      declared_within_call(declaration, first.name);
    } else if (std::ranges::find(calls, first.number, &CallFrame::number) != calls.end()) {
      declared_by_caller(declaration, first.name);
    } else {
      declared_twice(declaration, first.call);
    }
    return unknown();
  }
  c.variables.root->declared.emplace(declaration.path, declared_by(declaration));
  bool fits = true;
  std::shared_ptr<VariableRecord> record = find_existing(declaration, fits);
  if (!fits) {
    return unknown();
  }
  if (record == nullptr) {
    record = create(declaration, type ? &type->type : nullptr);
  } else if (type && !is_same_type(c.variables.stacked, type->type, record->variable.type)) {
    c.report.error(DiagKind::kDuplicateParameter, declaration.variable.name.span,
                   "`" + declaration.path + "` is " + mtf::to_string(type->type) +
                       " here and was " + mtf::to_string(record->variable.type) + " before");
    return unknown();
  }
  return record == nullptr ? unknown() : variable_value(record, declaration.variable.name.text);
}

// Whether the call says whose the variable is, once and no more; each call is told of it once.
bool has_one_name(const Declaration& declaration) {
  Context& c = declaration.c;
  Root& root = *c.variables.root;
  const bool is_owned = root.owner != nullptr;
  if (is_owned ? !root.as.file.valid() : root.is_named) {
    return true;
  }
  if (root.is_refused) {
    return false;
  }
  root.is_refused = true;
  const ast::Name& name = declaration.variable.name;
  std::vector<Note> notes{{.span = name.span, .text = "declared here"}};
  if (is_owned) {
    const std::string& owner = root.owner->name.text;
    c.report.error(
        DiagKind::kBadArgument, root.as,
        "all calls of `" + owner + "` use the same `" + declaration.path + "`, because " +
            (root.owner->is_model ? "a model owns it" : "all of its parameters have types") +
            "; `as` names those of a function with an untyped parameter",
        std::move(notes));
  } else {
    const std::string callee = c.report.calls.empty() ? "f" : c.report.calls.front().function;
    c.report.error(DiagKind::kBadArgument, root.call,
                   "this call of `" + callee + "` has no name for the " +
                       std::string(word(declaration.variable.trained)) + " `" + name.text +
                       "`; write `" + callee +
                       "(…) as \"name\"`, or call it in a `model`, which owns "
                       "its variables",
                   std::move(notes));
  }
  return false;
}

}  // namespace

namespace {

void report_misfit(Units& units, const Operand& operand, DiagKind kind, const std::string& is,
                   const TensorType& type, std::string_view hint = "") {
  units.report.error(
      kind, operand.span,
      "this is " + is + "; " + mtf::to_string(type) + " is needed" + std::string(hint));
}

std::string_view way_to_tensor(const Value& value) {
  return value.is<List>()      ? "; `const([…], […])` makes one of the numbers in a list"
         : value.is<Nothing>() ? "; what is called here returns no value"
                               : "";
}

// The number as a scalar tensor; unknown after an error.
Value number_for(Units& units, const Operand& number, const TensorType& type) {
  if (number.value.is<double>() && !is_float(type.dtype)) {
    report_misfit(units, number, DiagKind::kDtypeMismatch, "a float", type);
    return unknown();
  }
  const std::optional<ValueId> id = lift(units, number, type.dtype);
  return id ? recorded(units, *id) : unknown();
}

}  // namespace

std::optional<ValueId> fitted(Units& units, const Operand& operand, const TensorType& type) {
  if (is_unknown(operand.value)) {
    return std::nullopt;
  }
  Value value = is_number(operand.value) ? number_for(units, operand, type) : operand.value;
  if (is_unknown(value)) {
    return std::nullopt;
  }
  value = as_declared(units, std::move(value), type.dtype, operand.span);
  const auto* tensor = value.get<Tensor>();
  if (tensor == nullptr) {
    report_misfit(units, operand, DiagKind::kWrongType, kind_of(operand.value), type,
                  way_to_tensor(value));
    return std::nullopt;
  }
  if (tensor->type == type) {
    return record(units, *tensor, operand.span);
  }
  const Shape& shape = tensor->type.shape;
  const bool has_dims = shape.rank() == 0 || same_dims(shape, type.shape);
  if (tensor->type.dtype != type.dtype || !has_dims) {
    const bool is_dtype = tensor->type.dtype != type.dtype;
    const std::string cast = "; `cast(…, " + std::string(to_string(type.dtype)) + ")` converts it";
    report_misfit(units, operand, is_dtype ? DiagKind::kDtypeMismatch : DiagKind::kDimSize,
                  mtf::to_string(tensor->type), type, has_dims ? cast : "");
    return std::nullopt;
  }
  OpArgs args;
  args.set("to", type.shape);
  const Algebra op = shape.rank() == 0 ? Algebra::kBroadcast : Algebra::kTranspose;
  const Operand from{.value = value, .span = operand.span};
  const Value result =
      apply_op(units, op_of(units.ops, op), {&from, 1}, std::move(args), operand.span);
  const auto* moved = result.get<Tensor>();
  return moved == nullptr ? std::nullopt : std::optional(ValueId{moved->index});
}

namespace {

// The tensor type that a declaration says; nullopt: it says none, or after an error.
std::optional<DeclaredType> written_type(Context& c, const ast::Variable& variable) {
  std::optional<DeclaredType> type;
  const bool is_tensor_type =
      variable.type && variable.type->dims && find_dtype(variable.type->name.text);
  if (!is_tensor_type) {
    return type;
  }
  if (!c.units.at_top_level()) {
    return evaluate_type(c, *variable.type);
  }
  // Sizes may be computed, though never by tensors.
  static_cast<void>(compute(c, [&] {
    type = evaluate_type(c, *variable.type);
    return Values();
  }));
  return type;
}

}  // namespace

void declare_variable(Context& c, const ast::Variable& variable, SourceSpan span) {
  const Binding* twin = c.names.scope->own(variable.name.text);
  if (twin != nullptr && twin->kind == NameKind::kVariable && !(twin->span == variable.name.span)) {
    return;  // the resolver has said so
  }
  Root at_top{.call = span};
  const Restore root(c.variables.root, c.variables.root == nullptr ? &at_top : c.variables.root);
  const std::vector<CallFrame>& calls = c.report.calls;
  const Declaration declaration{.c = c,
                                .variable = variable,
                                .span = span,
                                .path = c.variables.path.empty()
                                            ? variable.name.text
                                            : c.variables.path + "/" + variable.name.text,
                                .call = calls.empty() ? variable.name.span : calls.back().call};
  const std::optional<DeclaredType> type = written_type(c, variable);
  if ((variable.type && !type) || !may_be_declared(declaration, type)) {
    bind(declaration, unknown());
    return;
  }
  if (c.variables.root->owner == nullptr) {
    for (const std::unique_ptr<Recording>& unit : c.units.recordings) {
      unit->rooted = true;
    }
  }
  Value value = has_one_name(declaration) ? declared_value(declaration, type) : unknown();
  if (!c.variables.picked.empty() && !is_unknown(value)) {
    value = picked_variable(c, {.value = std::move(value), .span = variable.name.span});
  }
  bind(declaration, std::move(value));
}

}  // namespace mtf::host
