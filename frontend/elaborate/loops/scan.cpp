// scan(f, init, xs, over = d): one call of f for each position of a dim, all in the unit under
// construction, so that what each position does is planned, and differentiated, like all else.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/loops/loops.h"
#include "frontend/elaborate/precision/precision.h"

namespace mtf::host {
namespace {

struct Scan {
  Context& c;
  const Function& function;
  SourceSpan span;
  SourceSpan init_span;
  CallSite site;
  Dim over;
};

// The tensors of a value, from the left.
std::vector<Tensor> tensors_of(const Value& value) {
  std::vector<Tensor> tensors;
  static_cast<void>(map_tensors(value, [&](Tensor& tensor) { tensors.push_back(tensor); }));
  return tensors;
}

// The one dim of the call, which all of the tensors have; nullopt after an error.
std::optional<Dim> dim_of(Context& c, const ast::Expr& over, const Value& xs, SourceSpan xs_span) {
  const std::vector<Tensor> tensors = tensors_of(xs);
  if (tensors.empty()) {
    c.report.error(DiagKind::kWrongType, xs_span,
                   "`scan` goes along a tensor, or a list of them; this is " + kind_of(xs));
    return std::nullopt;
  }
  std::vector<Shape> shapes;
  std::ranges::transform(tensors, std::back_inserter(shapes),
                         [](const Tensor& tensor) { return tensor.type.shape; });
  const auto dims = evaluate_dims(c, over, shapes, false);
  if (!dims) {
    return std::nullopt;
  }
  if (dims->size() != 1) {
    c.report.error(DiagKind::kBadArgument, over.span,
                   "`scan` goes over one dim, not " + std::to_string(dims->size()));
    return std::nullopt;
  }
  for (const Tensor& tensor : tensors) {
    const Dim* dim = tensor.type.shape.find(dims->front().name);
    if (dim == nullptr || dim->size != dims->front().size) {
      c.report.error(DiagKind::kDimMissing, over.span,
                     "`scan` over `" + dims->front().name + "`, which is not in " +
                         mtf::to_string(tensor.type));
      return std::nullopt;
    }
  }
  return dims->front();
}

// What lies at a position of each tensor; `parts` collects the ids, position by position.
Value position_of(const Scan& scan, const Value& xs, std::int64_t at,
                  std::vector<std::vector<ValueId>>& parts) {
  std::size_t next = 0;
  return map_tensors(xs, [&](Tensor& tensor) {
    OpArgs args;
    args.set("dim", std::vector{scan.over});
    args.set("at", at);
    const Operand x{.value = make(tensor), .span = scan.span};
    const Value part = apply_op(scan.c.units, op_of(scan.c.units.ops, Primitive::kIndex), {&x, 1},
                                std::move(args), scan.span);
    if (const auto* made = part.get<Tensor>()) {
      parts[next++].push_back(ValueId{made->index});
      const std::string name = tensor.name;
      tensor = *made;
      tensor.name = name;
    }
  });
}

// Whether a carry can go on as it came; numbers may become scalars.
bool same_form(const Value& before, const Value& after) {
  const auto* list = before.get<List>();
  const auto* other = after.get<List>();
  if (list != nullptr || other != nullptr) {
    return list != nullptr && other != nullptr && list->items->size() == other->items->size() &&
           std::ranges::equal(*list->items, *other->items, same_form);
  }
  const auto* tensor = before.get<Tensor>();
  const auto* now = after.get<Tensor>();
  if (tensor != nullptr && now != nullptr) {
    return tensor->type.dtype == now->type.dtype && same_dims(tensor->type.shape, now->type.shape);
  }
  return is_number(before) && (now != nullptr || is_number(after));
}

std::string form_text(const Value& value) {
  const auto* list = value.get<List>();
  return list == nullptr ? kind_of(value) : "a list of " + std::to_string(list->items->size());
}

// What of a carry does not stay what it is, and how it changes in a call of the function.
std::string change_of(const std::string& what, const Value& before, const Value& after,
                      const std::string& function) {
  const auto* list = before.get<List>();
  const auto* other = after.get<List>();
  if (list != nullptr && other != nullptr && list->items->size() == other->items->size()) {
    const auto [item, now] = std::ranges::mismatch(*list->items, *other->items, same_form);
    const auto place = std::to_string(item - list->items->begin());
    return change_of("item " + place + " of " + what, *item, *now, function);
  }
  return what + " goes into " + function + " as " + form_text(before) + " and comes out as " +
         form_text(after) + "; it must stay what it is";
}

// The carry and the output of one call; nullopt after an error.
std::optional<std::pair<Value, Value>> step(const Scan& scan, const Value& carry, const Value& x) {
  Context& c = scan.c;
  Arguments arguments{Operand{.value = carry, .span = scan.init_span},
                      Operand{.value = x, .span = scan.span}};
  arguments.resize(scan.function.fn->parameters.size());
  const Value result = call_inline(c, scan.function, arguments, scan.site);
  if (is_unknown(result)) {
    return std::nullopt;
  }
  const auto* results = result.get<Results>();
  const std::string name = "`" + scan.function.fn->name.text + "`";
  if (results == nullptr || results->items->size() != 2) {
    c.report.error(DiagKind::kWrongType, scan.span,
                   name + " returns " +
                       (result.is<Nothing>() ? "nothing"
                        : results == nullptr ? "one value"
                                             : std::to_string(results->items->size()) + " values") +
                       "; `scan` needs two, as `return carry, y`: the next carry, and the output "
                       "of the position");
    return std::nullopt;
  }
  const Value next = as_before(c.units, carry, results->items->front(), scan.span);
  if (!same_form(carry, next)) {
    c.report.error(DiagKind::kWrongType, scan.init_span, change_of("the carry", carry, next, name));
    return std::nullopt;
  }
  return std::pair(next, results->items->back());
}

// Whether the outputs of all positions can lie behind each other along the scan's dim.
bool are_alike(const Scan& scan, const Values& outputs) {
  const std::string name = "`" + scan.function.fn->name.text + "`";
  const auto refuse = [&](DiagKind kind, const std::string& text) {
    scan.c.report.error(kind, scan.span, text);
    return false;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* tensor = outputs[i].get<Tensor>();
    if (tensor == nullptr && !is_number(outputs[i]) && !outputs[i].is<bool>()) {
      return refuse(DiagKind::kWrongType, "the output of " + name + " is " + form_text(outputs[i]) +
                                              "; `scan` puts tensors together, or lists of them");
    }
    if (tensor != nullptr && tensor->type.shape.has(scan.over.name)) {
      return refuse(DiagKind::kRepeatedDim,
                    "the output of " + name + " is " + form_text(outputs[i]) + ", and has `" +
                        scan.over.name + "`, along which `scan` puts the outputs together; " +
                        "`rename` it in " + name);
    }
    const bool is_alike =
        same_form(outputs.front(), outputs[i]) &&
        (tensor == nullptr || tensor->type.shape.rank() == 0 || !is_number(outputs.front()));
    if (!is_alike) {
      return refuse(DiagKind::kWrongType,
                    "the output of " + name + " is " + form_text(outputs.front()) +
                        " at position 0 and " + form_text(outputs[i]) + " at position " +
                        std::to_string(i) + "; `scan` needs the same of all positions");
    }
  }
  return true;
}

// One tensor for the outputs of all positions; lists of them part by part.
Value stacked(const Scan& scan, const Values& outputs) {
  Context& c = scan.c;
  if (const auto* first = outputs.front().get<List>()) {
    Values lists;
    for (std::size_t i = 0; i < first->items->size(); ++i) {
      Values parts;
      for (const Value& output : outputs) {
        const auto* list = output.get<List>();
        if (list == nullptr || list->items->size() != first->items->size()) {
          c.report.error(DiagKind::kWrongType, scan.span,
                         "the outputs of `" + scan.function.fn->name.text +
                             "` are lists of different lengths");
          return unknown();
        }
        parts.push_back((*list->items)[i]);
      }
      lists.push_back(stacked(scan, parts));
    }
    return std::ranges::any_of(lists, is_unknown) ? unknown() : make_list(std::move(lists));
  }
  if (!are_alike(scan, outputs)) {
    return unknown();
  }
  std::vector<Operand> operands;
  for (const Value& output : outputs) {
    operands.push_back({.value = output, .span = scan.span});
  }
  OpArgs args;
  args.set("dim", std::vector{scan.over});
  return apply_op(c.units, op_of(c.units.ops, Primitive::kStack), operands, std::move(args),
                  scan.span);
}

Value run_scan(const Scan& scan, Value carry, const Value& xs) {
  Context& c = scan.c;
  std::vector<std::vector<ValueId>> parts(tensors_of(xs).size());
  Values outputs;
  const Declared declared = declared_so_far(c);
  for (std::int64_t i = 0; i < scan.over.size; ++i) {
    if (!may_go_on(c.limits, c.units, scan.span)) {
      return unknown();
    }
    declare_again(c, declared);  // all positions use the same variables
    const Value x = position_of(scan, xs, i, parts);
    auto next = is_unknown(x) ? std::nullopt : step(scan, carry, x);
    if (!next) {
      return unknown();
    }
    carry = std::move(next->first);
    outputs.push_back(std::move(next->second));
  }
  const std::vector<Tensor> wholes = tensors_of(xs);
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    join_gradients(c, wholes[i], std::move(parts[i]), scan.span, stacked_along(scan.over));
  }
  Value all = stacked(scan, outputs);
  if (is_unknown(all)) {
    return unknown();
  }
  Values results{std::move(carry), std::move(all)};
  return make(Results{std::make_shared<const Values>(std::move(results))});
}

// A function that can be called with a carry and a position; null after an error.
const Function* callee_of(Reporter& report, const Value& value, SourceSpan span) {
  const auto* function = value.get<Function>();
  bool fits = function != nullptr && function->fn->parameters.size() >= 2;
  for (std::size_t i = 2; fits && i < function->fn->parameters.size(); ++i) {
    fits = function->fn->parameters[i].initial.has_value();
  }
  if (!fits && !is_unknown(value)) {
    report.error(DiagKind::kWrongType, span,
                 "`scan` calls a function of a carry and a position, as `fn cell(h, x) { … return "
                 "h, y }`; this is " +
                     (function == nullptr ? kind_of(value)
                                          : "`" + function->fn->name.text + "`, which takes " +
                                                std::to_string(function->fn->parameters.size())));
  }
  return fits ? function : nullptr;
}

}  // namespace

Value scan_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{
      {.name = "f"}, {.name = "init"}, {.name = "xs"}, {.name = "over"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return unknown();
  }
  const auto expr = [&](std::size_t i) -> const ast::Expr& { return *(*bound)[i].front(); };
  CallSite site = bound_site(c, span);
  const Restore outer(c.variables.call_name, std::string());
  if (!name_site(c, call, site)) {
    return unknown();
  }
  const Value f = evaluate(c, expr(0));
  const Value init = evaluate(c, expr(1));
  const Value xs = evaluate(c, expr(2));
  const Function* function = callee_of(c.report, f, expr(0).span);
  if (function == nullptr || is_unknown(init) || is_unknown(xs)) {
    return unknown();
  }
  const std::optional<Dim> over = dim_of(c, expr(3), xs, expr(2).span);
  if (!over) {
    return unknown();
  }
  return run_scan({.c = c,
                   .function = *function,
                   .span = span,
                   .init_span = expr(1).span,
                   .site = site,
                   .over = *over},
                  init, xs);
}

}  // namespace mtf::host
