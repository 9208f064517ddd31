// The built-in functions on host values.

#include "frontend/elaborate/host/builtin.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/call.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

// The one argument, `x`; unknown after an error.
Operand one_argument(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}};
  const std::optional<Bound> bound = bind_arguments(c.report, c.names, self.name, formals, call);
  if (bound && bound->front().empty()) {
    report_missing(c.report, self.name, formals, 0, span);
  }
  if (!bound || bound->front().empty()) {
    return {.value = unknown(), .span = span};
  }
  const ast::Expr& expr = *bound->front().front();
  return {.value = evaluate(c, expr), .span = expr.span};
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
  const std::optional<Shape> shape = tensor != nullptr ? tensor->type.shape : as_shape(x.value);
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

Value dtype_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = one_argument(c, self, call, span);
  const auto* tensor = x.value.get<Tensor>();
  return tensor != nullptr ? make(tensor->type.dtype)
                           : wrong_argument(c.report, self, x, "a tensor");
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

Value part_of(Units& units, const Operand& x, const Dim& dim, std::int64_t index, std::int64_t size,
              SourceSpan span) {
  OpArgs args;
  args.set("dim", std::vector{dim});
  args.set("begin", index * size);
  args.set("end", (index + 1) * size);
  return apply_op(units, op_of(units.ops, Primitive::kSlice), {&x, 1}, std::move(args), span);
}

// split(x, over = io, parts = 2): a list of equal ranges.
Value split_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}, {.name = "over"}, {.name = "parts"}};
  const std::optional<Bound> bound = bind_arguments(c.report, c.names, self.name, formals, call);
  for (std::size_t i = 0; bound && i < formals.size(); ++i) {
    if ((*bound)[i].empty()) {
      report_missing(c.report, self.name, formals, i, span);
      return unknown();
    }
  }
  if (!bound) {
    return unknown();
  }
  const ast::Expr& expr = *(*bound)[0].front();
  const Operand x{.value = evaluate(c, expr), .span = expr.span};
  const auto* tensor = x.value.get<Tensor>();
  if (tensor == nullptr) {
    return wrong_argument(c.report, self, x, "a tensor");
  }
  const Shape shape = tensor->type.shape;
  const ast::Expr& over = *(*bound)[1].front();
  const auto dims = evaluate_dims(c, over, {&shape, 1}, false);
  const ast::Expr& count = *(*bound)[2].front();
  const auto parts = checked_size(c.report, evaluate(c, count), "the list of parts", count.span);
  if (!dims || !parts) {
    return unknown();
  }
  const Dim* dim = dims->size() == 1 ? shape.find(dims->front().name) : nullptr;
  if (dim == nullptr || dim->size % *parts != 0) {
    c.report.error(dim == nullptr ? DiagKind::kUnknownDim : DiagKind::kBadArgument, over.span,
                   dim == nullptr ? "`split` over one dim of " + mtf::to_string(shape)
                                  : "`split` of " + dim->name + " " + std::to_string(dim->size) +
                                        " into " + std::to_string(*parts) + " equal parts");
    return unknown();
  }
  Values values;
  for (std::int64_t i = 0; i < *parts; ++i) {
    values.push_back(part_of(c.units, x, *dim, i, dim->size / *parts, span));
  }
  return std::ranges::any_of(values, is_unknown) ? unknown() : make_list(std::move(values));
}

constexpr std::array kFunctions{
    HostFn{.name = "shape", .summary = "the shape of a tensor", .call = shape_call},
    HostFn{.name = "size",
           .summary = "how many elements a tensor, shape or dim has",
           .call = size_call},
    HostFn{.name = "dtype", .summary = "the dtype of a tensor", .call = dtype_call},
    HostFn{
        .name = "len", .summary = "how many items a list, shape or string has", .call = len_call},
    HostFn{.name = "int",
           .summary = "a number, or at top level a scalar tensor, without its fraction",
           .call = int_call},
    HostFn{.name = "float",
           .summary = "a number, or at top level a scalar tensor, as a float",
           .call = float_call},
    HostFn{.name = "list",
           .summary = "at top level the elements of a tensor, nested by dims; of a string, too",
           .call = list_call},
    HostFn{.name = "text", .summary = "a value as `print` shows it", .call = text_call},
    HostFn{.name = "chr", .summary = "the character of a number (Unicode)", .call = chr_call},
    HostFn{.name = "ord", .summary = "the number of a character (Unicode)", .call = ord_call},
    HostFn{.name = "split", .summary = "equal ranges along a dim, as a list", .call = split_call},
    HostFn{.name = "exists", .summary = "whether a file is there", .call = exists_call},
    HostFn{.name = "read_text", .summary = "a file as a string", .call = read_text_call},
    HostFn{.name = "setting",
           .summary = "what `--set NAME=TEXT` says, or the second argument",
           .call = setting_call},
    HostFn{.name = "hardware_profile",
           .summary = "rates of a machine, for `mesh … of`; stdlib/hardware.mtf has examples",
           .call = hardware_call},
    HostFn{.name = "scan",
           .summary = "carries a value through `f(carry, x)` along a dim, and stacks the outputs",
           .call = scan_call},
    HostFn{.name = "grad", .summary = "gradients of a loss by tensors", .call = grad_call},
};

}  // namespace

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
