// int, float, list and text of host values and, at top level, of tensors; chr and ord.
//
// What a tensor holds comes to the host by a unit of its own, which makes it whole on every rank:
// its plan says what that moves. A check does not know it.

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/list.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

// The tensor laid out so that each rank has all of it, whatever rules say of its dims.
Value made_whole(Units& units, const Operand& x) {
  return x.value.get<Tensor>()->type.shape.rank() == 0
             ? x.value
             : apply_op(units, op_of(units.ops, Primitive::kWhole), {&x, 1}, {}, x.span);
}

// While a function is built: no tensor has a value. In what looks at a top level, it is made whole.
Operand evaluate_unheld(Context& c, const HostFn& self, const ast::Expr& expr) {
  Operand x{.value = evaluate(c, expr), .span = expr.span};
  if (!x.value.is<Tensor>()) {
    return x;
  }
  if (!c.units.recording().of_top_level) {
    c.report.error(DiagKind::kWrongType, expr.span,
                   "`" + std::string(self.name) +
                       "` of a tensor, whose elements are not known while a function is built; "
                       "call it at top level, or stay with tensors: `cast`, "
                       "`where`, `gather`");
  } else {
    Value whole = made_whole(c.units, x);
    if (auto* tensor = std::get_if<Tensor>(&whole.node)) {
      c.units.recording().add_output(*tensor);
    }
  }
  x.value = unknown();
  return x;
}

// False after an error: the tensor has too many elements or, but for `list`, dims.
bool fits_host(Reporter& report, const HostFn& self, const Shape& shape, const Operand& x) {
  const bool takes_dims = self.name == "list";
  const std::int64_t volume = shape.checked_volume().value_or(INT64_MAX);
  const bool is_long = volume > static_cast<std::int64_t>(kMaxItems);
  if (!is_long && (shape.rank() == 0 || takes_dims)) {
    return true;
  }
  const std::string hint = takes_dims ? ", which is more than " + std::to_string(kMaxItems) +
                                            " elements; pick some first, as x[" + shape[0].name +
                                            ": 0..10]"
                                      : "; it takes a scalar. `list(x)` has all elements, x[" +
                                            shape[0].name + ": 0] picks one";
  report.error(
      takes_dims ? DiagKind::kOverflow : DiagKind::kWrongType, x.span,
      "`" + std::string(self.name) + "` of " + mtf::to_string(x.value.get<Tensor>()->type) + hint);
  return false;
}

// Of host values as they are; of tensors what the device holds, whole on every rank.
Operand evaluate_here(Context& c, const HostFn& self, const ast::Expr& expr) {
  if (!c.units.calls_are_units()) {
    return evaluate_unheld(c, self, expr);
  }
  const auto whole = [&]() -> Values {
    const Operand x{.value = evaluate(c, expr), .span = expr.span};
    const auto* tensor = x.value.get<Tensor>();
    if (tensor == nullptr) {
      return {x.value};
    }
    return {fits_host(c.report, self, tensor->type.shape, x) ? made_whole(c.units, x) : unknown()};
  };
  return {.value = compute(c, whole).front(), .span = expr.span};
}

struct Elements {
  const HostTensor& tensor;
  std::size_t next = 0;

  Value take() {
    const DType dtype = tensor.type.dtype;
    const std::byte* data = tensor.data.data() + bytes_of(dtype) * next++;
    return with_stored(dtype, [&](auto element) {
      std::memcpy(&element, data, sizeof(element));
      if constexpr (std::is_integral_v<decltype(element)>) {
        return dtype == DType::kBool ? make(element != 0)
                                     : make(static_cast<std::int64_t>(element));
      } else {
        return make(static_cast<double>(element));
      }
    });
  }

  Value nested(std::size_t dim) {
    if (dim == tensor.type.shape.rank()) {
      return take();
    }
    Values items;
    for (std::int64_t i = 0; i < tensor.type.shape[dim].size; ++i) {
      items.push_back(nested(dim + 1));
    }
    return make_list(std::move(items));
  }
};

// A tensor as numbers, in lists as deep as it has dims.
Value elements_of(Execution& execution, const Tensor& tensor, SourceSpan span) {
  const std::optional<HostTensor> all = execution.value(tensor.handle);
  if (!all && !execution.asked.file.valid()) {
    execution.asked = span;
  }
  return all ? Elements{.tensor = *all}.nested(0) : unknown();
}

Operand host_argument(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const ast::Expr* expr = only_argument(c, self, call, span);
  if (expr == nullptr) {
    return {.value = unknown(), .span = span};
  }
  Operand x = evaluate_here(c, self, *expr);
  if (const auto* tensor = x.value.get<Tensor>()) {
    x.value = elements_of(c.execution, Tensor(*tensor), x.span);
  }
  return x;
}

}  // namespace

Operand number_here(Context& c, const HostFn& self, const ast::Expr& expr) {
  return evaluate_here(c, self, expr);
}

namespace {

Values characters_of(std::string_view text) {
  Values items;
  while (!text.empty()) {
    const auto length = std::max<std::size_t>(first_code_point(text).length, 1);
    items.push_back(make(std::string(text.substr(0, length))));
    text.remove_prefix(length);
  }
  return items;
}

}  // namespace

namespace {

// As it is written in the language, with a sign and blanks around it; unknown after an error.
template <typename Number>
Value number_in_text(Context& c, const HostFn& self, const Operand& x) {
  const std::string& all = *x.value.get<std::string>();
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(all.find_first_not_of(kBlanks), all.size());
  std::string_view text = std::string_view(all).substr(begin);
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  text.remove_prefix(text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && std::isfinite(static_cast<double>(number))) {
    return make(number);
  }
  c.report.error(DiagKind::kBadArgument, x.span,
                 "`" + std::string(self.name) + "` of \"" + all + "\", which is no " +
                     (std::is_integral_v<Number> ? "whole number" : "number") +
                     (error == std::errc::result_out_of_range ? " of 64 bits" : ""));
  return unknown();
}

}  // namespace

Value int_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = host_argument(c, self, call, span);
  if (x.value.is<std::string>()) {
    return number_in_text<std::int64_t>(c, self, x);
  }
  if (const std::optional<std::int64_t> number = as_int(x.value)) {
    return make(*number);
  }
  if (const bool* flag = x.value.get<bool>()) {
    return make(std::int64_t{*flag ? 1 : 0});
  }
  const auto* number = x.value.get<double>();
  if (number == nullptr) {
    return wrong_argument(c.report, self, x, "a number, a string or a scalar tensor");
  }
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(*number > -kLimit && *number < kLimit)) {
    c.report.error(DiagKind::kOverflow, x.span,
                   to_text(*number) + " is beyond the range of 64-bit integers");
    return unknown();
  }
  return make(static_cast<std::int64_t>(*number));
}

Value float_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = host_argument(c, self, call, span);
  if (x.value.is<std::string>()) {
    return number_in_text<double>(c, self, x);
  }
  const bool* flag = x.value.get<bool>();
  const std::optional<double> number = flag != nullptr ? (*flag ? 1.0 : 0.0) : as_real(x.value);
  return number ? make(*number)
                : wrong_argument(c.report, self, x, "a number, a string or a scalar tensor");
}

Value list_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = host_argument(c, self, call, span);
  if (x.value.is<List>()) {
    return x.value;
  }
  Values items;
  if (const auto* shape = x.value.get<Shape>()) {
    items = dim_values(*shape);
  } else if (const auto* text = x.value.get<std::string>()) {
    items = characters_of(*text);
  } else {
    return wrong_argument(c.report, self, x,
                          is_number(x.value) ? "a tensor with dims; `[x]` is a list of one number"
                                             : "a tensor, a shape or a string");
  }
  return bounded_list(c.report, std::move(items), x.span);
}

Value text_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const ast::Expr* expr = only_argument(c, self, call, span);
  return expr == nullptr ? unknown() : evaluate_string(c, *expr);
}

Value chr_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = host_argument(c, self, call, span);
  const std::optional<std::int64_t> code = as_int(x.value);
  if (!code) {
    return wrong_argument(c.report, self, x, "the number of a character, an int");
  }
  const bool is_half = *code >= 0xD800 && *code <= 0xDFFF;  // of a pair, in UTF-16
  if (*code < 0 || *code > 0x10FFFF || is_half) {
    c.report.error(DiagKind::kBadArgument, x.span,
                   "no character has the number " + std::to_string(*code) +
                       "; they go from 0 to 1114111" + (is_half ? ", without 55296 to 57343" : ""));
    return unknown();
  }
  return make(to_utf8(static_cast<char32_t>(*code)));
}

Value ord_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const Operand x = host_argument(c, self, call, span);
  const auto* text = x.value.get<std::string>();
  if (text == nullptr) {
    return wrong_argument(c.report, self, x, "a string of one character");
  }
  const CodePoint code = text->empty() ? CodePoint() : first_code_point(*text);
  if (code.length == 0 || code.length != text->size()) {
    c.report.error(DiagKind::kBadArgument, x.span,
                   "`ord` takes a string of one character; this has " +
                       std::to_string(code_points(*text)) + "; `list(text)` has them one by one");
    return unknown();
  }
  return make(static_cast<std::int64_t>(code.value));
}

}  // namespace mtf::host
