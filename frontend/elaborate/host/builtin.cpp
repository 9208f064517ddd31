// The built-in functions on host values.

#include "frontend/elaborate/host/builtin.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/operators.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

// Unknown after an error.
Operand one_argument(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const ast::Expr* expr = only_argument(c, self, call, span);
  return expr == nullptr ? Operand{.value = unknown(), .span = span}
                         : Operand{.value = evaluate(c, *expr), .span = expr->span};
}

Value shape_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = one_argument(c, self, call, span);
  if (const auto* tensor = x.value.get<Tensor>()) {
    return make(tensor->type.shape);
  }
  if (is_number(x.value)) {
    return make(Shape());
  }
  const std::optional<Shape> shape = as_shape(x.value);
  return shape ? make(*shape) : wrong_argument(c.report, self, x, "a tensor");
}

Value size_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = one_argument(c, self, call, span);
  const auto* tensor = x.value.get<Tensor>();
  const std::optional<Shape> shape = tensor != nullptr ? tensor->type.shape : dims_in(x.value);
  if (!shape) {
    return wrong_argument(c.report, self, x, "a tensor, a shape or a dim");
  }
  const std::optional<std::int64_t> volume = shape->checked_volume();
  if (!volume) {
    c.report.error(DiagKind::kOverflow, span,
                   mtf::to_string(*shape) + " has more than 2^62 elements");
  }
  return volume ? make(*volume) : unknown();
}

// Host numbers have 64 bits. Nullopt after an error.
std::optional<DType> dtype_of_argument(Context& c, const HostFn& self, const ast::Call& call,
                                       SourceSpan span) {
  const Operand x = one_argument(c, self, call, span);
  if (const auto* tensor = x.value.get<Tensor>()) {
    return tensor->type.dtype;
  }
  if (x.value.is<bool>()) {
    return DType::kBool;
  }
  if (is_number(x.value)) {
    return x.value.is<double>() ? DType::kF64 : DType::kI64;
  }
  static_cast<void>(wrong_argument(c.report, self, x, "a tensor or a number"));
  return std::nullopt;
}

Value dtype_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::optional<DType> dtype = dtype_of_argument(c, self, call, span);
  // Variables are f32 in a block of `with precision`, also those declared like an activation.
  const bool is_initial = !c.units.at_top_level() && c.units.precision &&
                          c.units.recording().kind == UnitKind::kInitial;
  return dtype ? make(is_initial ? wide_of(*dtype) : *dtype) : unknown();
}

Value wide_dtype_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::optional<DType> dtype = dtype_of_argument(c, self, call, span);
  return dtype ? make(wide_of(*dtype)) : unknown();
}

Value len_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = one_argument(c, self, call, span);
  if (const auto* list = x.value.get<List>()) {
    return make(static_cast<std::int64_t>(list->items->size()));
  }
  if (const auto* shape = x.value.get<Shape>()) {
    return make(static_cast<std::int64_t>(shape->rank()));
  }
  if (const auto* text = x.value.get<std::string>()) {
    return make(static_cast<std::int64_t>(code_points(*text)));
  }
  return wrong_argument(c.report, self, x, "a list, a shape or a string");
}

Value contains_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "list"}, {.name = "item"}};
  const auto operands = evaluated_arguments(c, self, formals, call, span);
  if (!operands) {
    return unknown();
  }
  const Operand& list = operands->front();
  const Value& item = operands->back().value;
  if (const auto* text = list.value.get<std::string>(); text != nullptr && item.is<std::string>()) {
    return make(text->find(*item.get<std::string>()) != std::string::npos);
  }
  const auto is_item = [&item](const Value& one) { return equal(one, item); };
  if (const auto* items = list.value.get<List>()) {
    return make(std::ranges::any_of(*items->items, is_item));
  }
  if (const auto* shape = list.value.get<Shape>()) {
    return make(
        std::ranges::any_of(shape->dims(), [&](const Dim& dim) { return is_item(make(dim)); }));
  }
  return wrong_argument(c.report, self, list, "a list, a shape or, with a string, a string");
}

constexpr std::array kFunctions{
    HostFn{.name = "shape", .summary = "the shape of a tensor", .call = shape_call},
    HostFn{.name = "size",
           .summary = "how many elements a tensor, shape or dim has",
           .call = size_call},
    HostFn{.name = "dtype", .summary = "the dtype of a tensor or a number", .call = dtype_call},
    HostFn{.name = "wide_dtype",
           .summary = "the dtype that a tensor is summed in: f32 for bf16 and f16, else its own",
           .call = wide_dtype_call},
    HostFn{
        .name = "len", .summary = "how many items a list, shape or string has", .call = len_call},
    HostFn{.name = "contains",
           .summary = "whether a list has an item, a shape a dim, or a string another one",
           .call = contains_call},
    HostFn{.name = "int",
           .summary =
               "a number, that in a string, or at top level a scalar tensor, without its fraction",
           .call = int_call},
    HostFn{.name = "float",
           .summary = "a number, that in a string, or at top level a scalar tensor, as a float",
           .call = float_call},
    HostFn{.name = "list",
           .summary = "at top level the elements of a tensor, nested by dims; of a string, too",
           .call = list_call},
    HostFn{.name = "text", .summary = "a value as `print` shows it", .call = text_call},
    HostFn{.name = "chr", .summary = "the character of a number (Unicode)", .call = chr_call},
    HostFn{.name = "ord", .summary = "the number of a character (Unicode)", .call = ord_call},
    HostFn{.name = "split", .summary = "ranges along a dim, as a list", .call = split_call},
    HostFn{.name = "unstack",
           .summary = "what lies at each position of a dim, as a list",
           .call = unstack_call},
    HostFn{.name = "exists",
           .summary = "whether a file, or a checkpoint, is there",
           .call = exists_call},
    HostFn{.name = "metric",
           .summary = "a number for who follows the training: metric(name, x)",
           .call = metric_call,
           .effect = true},
    HostFn{.name = "byte_pairs",
           .summary = "a vocabulary of so many pairs of bytes and pairs, learned from a text",
           .call = byte_pairs_call},
    HostFn{.name = "learn_pairs",
           .summary = "the same, learned from a file, as long as it likes",
           .call = learn_pairs_call},
    HostFn{
        .name = "count_pairs",
        .summary = "how many pairs such a vocabulary has, which may be fewer than were asked for",
        .call = count_pairs_call},
    HostFn{.name = "encode_pairs",
           .summary = "a text as a list of tokens of such a vocabulary",
           .call = encode_pairs_call},
    HostFn{.name = "decode_pairs",
           .summary = "the text of a list of tokens",
           .call = decode_pairs_call},
    HostFn{.name = "read_text", .summary = "a file as a string", .call = read_text_call},
    HostFn{.name = "saved_note",
           .summary = "the text that a checkpoint was saved with: save PATH, note = TEXT",
           .call = saved_note_call},
    HostFn{.name = "setting",
           .summary = "what `--set NAME=TEXT` says, or the second argument",
           .call = setting_call,
           .effect = true},
    HostFn{.name = "hardware_profile",
           .summary = "rates of a machine, for `mesh … of`; stdlib/hardware.mtf has examples",
           .call = hardware_call},
    HostFn{.name = "scan",
           .summary = "carries a value through `f(carry, x)` along a dim, and stacks the outputs",
           .call = scan_call,
           .effect = true},
    HostFn{.name = "each",
           .summary = "one call of `f(x)` for all positions of a dim: params have the dim as well",
           .call = each_call,
           .effect = true},
    HostFn{.name = "params",
           .summary = "the params of a model, or those that globs of paths name, as a list",
           .call = params_call},
    HostFn{.name = "path", .summary = "the path of a param or state", .call = path_call},
    HostFn{.name = "is_named",
           .summary = "whether a param or state is one that a glob, or a list of them, names",
           .call = is_named_call},
    HostFn{.name = "partial_sums",
           .summary = "what blocks of a summed dim add to a tensor, each on its own",
           .call = partial_sums_call},
    HostFn{.name = "grad", .summary = "gradients of a loss by tensors", .call = grad_call},
};

}  // namespace

std::optional<std::vector<Operand>> evaluated_arguments(Context& c, const HostFn& self,
                                                        const std::vector<Formal>& formals,
                                                        const ast::Call& call, SourceSpan span) {
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return std::nullopt;
  }
  std::vector<Operand> operands;
  for (const auto& exprs : *bound) {
    const ast::Expr& expr = *exprs.front();
    operands.push_back({.value = evaluate(c, expr), .span = expr.span});
    if (is_unknown(operands.back().value)) {
      return std::nullopt;
    }
  }
  return operands;
}

const ast::Expr* only_argument(Context& c, const HostFn& self, const ast::Call& call,
                               SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  return bound ? bound->front().front() : nullptr;
}

Value wrong_argument(Reporter& report, const HostFn& self, const Operand& x,
                     std::string_view wanted) {
  if (!is_unknown(x.value)) {
    report.error(DiagKind::kWrongType, x.span,
                 "`" + std::string(self.name) + "` takes " + std::string(wanted) + "; this is " +
                     kind_of(x.value));
  }
  return unknown();
}

std::span<const HostFn> host_functions() {
  return kFunctions;
}

const HostFn* find_host_fn(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &HostFn::name);
  return found == kFunctions.end() ? nullptr : found;
}

}  // namespace mtf::host
