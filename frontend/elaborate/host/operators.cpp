// Arithmetic, comparison and joining of host values.

#include "frontend/elaborate/host/operators.h"

#include <array>
#include <cmath>

#include "frontend/elaborate/host/list.h"

namespace mtf::host {
namespace {

using ast::BinaryOp;

struct Site {
  Reporter& report;
  OpTable ops;
  BinaryOp op;
  const Operand& a;
  const Operand& b;
  SourceSpan span;
};

std::string number_text(const Value& value) {
  const std::optional<std::int64_t> number = as_int(value);
  return number ? std::to_string(*number) : to_string(value);
}

// As it would have to be written: `-8 ** 0.5` is the negative of a power.
std::string text_of(const Site& site) {
  const std::string a = number_text(site.a.value);
  const bool in_brackets = site.op == BinaryOp::kPower && a.starts_with('-');
  return "`" + (in_brackets ? "(" + a + ")" : a) + " " + std::string(to_string(site.op)) + " " +
         number_text(site.b.value) + "`";
}

Value overflow(const Site& site, std::string_view kind = "integers") {
  site.report.error(DiagKind::kOverflow, site.span,
                    text_of(site) + " is beyond the range of 64-bit " + std::string(kind));
  return unknown();
}

Value division_by_zero(const Site& site) {
  site.report.error(DiagKind::kDivisionByZero, site.b.span, "the divisor is 0");
  return unknown();
}

// "step " + 3
std::string joined_text(const Site& site) {
  const bool is_text = site.a.value.is<std::string>() || site.b.value.is<std::string>();
  return site.op == ast::BinaryOp::kAdd && is_text
             ? "; `text(…)` makes a string of a value, and `{x}` puts it into one"
             : "";
}

Value mismatch(const Site& site) {
  site.report.error(DiagKind::kWrongType, site.span,
                    "`" + std::string(to_string(site.op)) + "` between " + kind_of(site.a.value) +
                        " and " + kind_of(site.b.value) + joined_text(site));
  return unknown();
}

std::int64_t floor_quotient(std::int64_t x, std::int64_t y) {
  const std::int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}

Value int_power(const Site& site, std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    return base == 0 ? division_by_zero(site)
                     : make(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) {
    return make(exponent == 0 ? std::int64_t{1} : base);
  }
  if (base == -1) {
    return make(exponent % 2 == 0 ? std::int64_t{1} : std::int64_t{-1});
  }
  std::int64_t product = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {  // at most 63 turns before it overflows
    if (__builtin_mul_overflow(product, base, &product)) {
      return overflow(site);
    }
  }
  return make(product);
}

// requires: the divisor is not 0.
Value int_division(const Site& site, std::int64_t x, std::int64_t y) {
  if (site.op == BinaryOp::kDivide) {
    return make(static_cast<double>(x) / static_cast<double>(y));
  }
  const bool is_floor = site.op == BinaryOp::kFloorDivide;
  if (y == -1) {  // the smallest number has no opposite
    std::int64_t opposite = 0;
    const bool overflows = __builtin_sub_overflow(std::int64_t{0}, x, &opposite);
    return is_floor && overflows ? overflow(site) : make(is_floor ? opposite : 0);
  }
  return make(is_floor ? floor_quotient(x, y) : x - floor_quotient(x, y) * y);
}

Value int_arithmetic(const Site& site, std::int64_t x, std::int64_t y) {
  std::int64_t result = 0;
  switch (site.op) {
    case BinaryOp::kAdd:
      return __builtin_add_overflow(x, y, &result) ? overflow(site) : make(result);
    case BinaryOp::kSubtract:
      return __builtin_sub_overflow(x, y, &result) ? overflow(site) : make(result);
    case BinaryOp::kMultiply:
      return __builtin_mul_overflow(x, y, &result) ? overflow(site) : make(result);
    case BinaryOp::kDivide:
    case BinaryOp::kFloorDivide:
    case BinaryOp::kModulo:
      return y == 0 ? division_by_zero(site) : int_division(site, x, y);
    case BinaryOp::kPower:
      return int_power(site, x, y);
    default:
      return mismatch(site);
  }
}

bool divides(BinaryOp op) {
  return op == BinaryOp::kDivide || op == BinaryOp::kFloorDivide || op == BinaryOp::kModulo;
}

// requires: arithmetic, and no division by zero.
double real_result(const Site& site, double x, double y) {
  switch (site.op) {
    case BinaryOp::kAdd:
      return x + y;
    case BinaryOp::kSubtract:
      return x - y;
    case BinaryOp::kMultiply:
      return x * y;
    case BinaryOp::kDivide:
      return x / y;
    case BinaryOp::kPower:
      return std::pow(x, y);
    default:  // rounded down as tensors are
      return find_operator(site.ops, to_string(site.op))->host(std::array{x, y});
  }
}

// What is no number any more is an error where it arises; what a tensor gave may be infinite.
Value real_arithmetic(const Site& site, double x, double y) {
  if (y == 0 && divides(site.op)) {
    return division_by_zero(site);
  }
  if (x == 0 && y < 0 && site.op == BinaryOp::kPower) {
    return division_by_zero(site);
  }
  const double result = real_result(site, x, y);
  if (std::isfinite(result) || !std::isfinite(x) || !std::isfinite(y)) {
    return make(result);
  }
  if (std::isnan(result)) {
    site.report.error(DiagKind::kBadArgument, site.span, text_of(site) + " is not a real number");
    return unknown();
  }
  return overflow(site, "floats");
}

template <typename T>
Value compare(const Site& site, const T& x, const T& y) {
  switch (site.op) {
    case BinaryOp::kLess:
      return make(x < y);
    case BinaryOp::kLessEqual:
      return make(x <= y);
    case BinaryOp::kGreater:
      return make(x > y);
    case BinaryOp::kGreaterEqual:
      return make(x >= y);
    default:
      return mismatch(site);
  }
}

bool is_ordering(BinaryOp op) {
  return op == BinaryOp::kLess || op == BinaryOp::kLessEqual || op == BinaryOp::kGreater ||
         op == BinaryOp::kGreaterEqual;
}

Value join_shapes(const Site& site, Shape left, const Shape& right) {
  for (const Dim& dim : right.dims()) {
    if (left.has(dim.name)) {
      site.report.error(DiagKind::kRepeatedDim, site.b.span,
                        "the shape " + mtf::to_string(left) + " has `" + dim.name +
                            "` already; rename one of the two");
      return unknown();
    }
    left = left.with(dim);
  }
  return make(std::move(left));
}

Value remove_dims(const Site& site, Shape left, const Shape& right) {
  for (const Dim& dim : right.dims()) {
    if (!left.has(dim.name)) {
      site.report.error(
          DiagKind::kDimMissing, site.b.span,
          "the shape " + mtf::to_string(left) + " has no `" + dim.name + "` to take away");
      return unknown();
    }
    left = left.without(dim.name);
  }
  return make(std::move(left));
}

Value too_long(const Site& site, std::string_view what, std::string_view of, std::size_t most) {
  site.report.error(
      DiagKind::kOverflow, site.span,
      std::string(what) + " of more than " + std::to_string(most) + " " + std::string(of));
  return unknown();
}

std::optional<Value> joined_shapes(const Site& site) {
  const bool with_shape = site.a.value.is<Shape>() || site.b.value.is<Shape>();
  const std::optional<Shape> left = with_shape ? as_shape(site.a.value) : std::nullopt;
  const std::optional<Shape> right = left ? dims_in(site.b.value) : std::nullopt;
  if (!left || !right) {
    return std::nullopt;
  }
  return site.op == BinaryOp::kAdd        ? std::optional(join_shapes(site, *left, *right))
         : site.op == BinaryOp::kSubtract ? std::optional(remove_dims(site, *left, *right))
                                          : std::nullopt;
}

Value joined_texts(const Site& site, const std::string& a, const std::string& b) {
  return a.size() + b.size() > kMaxText ? too_long(site, "a text", "bytes", kMaxText) : make(a + b);
}

Value joined_lists(const Site& site, const Values& a, const Values& b) {
  if (a.size() + b.size() > kMaxItems) {
    return too_long(site, "a list", "elements", kMaxItems);
  }
  Values items = a;
  items.insert(items.end(), b.begin(), b.end());
  return bounded_list(site.report, std::move(items), site.span);
}

// Shapes, lists and strings; two dims are numbers.
std::optional<Value> joined(const Site& site) {
  const Value& a = site.a.value;
  const Value& b = site.b.value;
  if (std::optional<Value> shape = joined_shapes(site)) {
    return shape;
  }
  if (site.op != BinaryOp::kAdd) {
    return std::nullopt;
  }
  if (a.is<std::string>() && b.is<std::string>()) {
    return joined_texts(site, *a.get<std::string>(), *b.get<std::string>());
  }
  if (a.is<List>() && b.is<List>()) {
    return joined_lists(site, *a.get<List>()->items, *b.get<List>()->items);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> as_int(const Value& value) {
  if (const auto* dim = value.get<Dim>()) {
    return dim->size;
  }
  const auto* number = value.get<std::int64_t>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<double> as_real(const Value& value) {
  if (const auto* number = value.get<double>()) {
    return *number;
  }
  const std::optional<std::int64_t> whole = as_int(value);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<Shape> as_shape(const Value& value) {
  if (const auto* shape = value.get<Shape>()) {
    return *shape;
  }
  if (const auto* dim = value.get<Dim>()) {
    return Shape({*dim});
  }
  const auto* list = value.get<List>();
  return list != nullptr && list->items->empty() ? std::optional(Shape()) : std::nullopt;
}

std::optional<Shape> dims_in(const Value& value) {
  const auto* list = value.get<List>();
  if (list == nullptr) {
    return as_shape(value);
  }
  Shape all;
  for (const Value& item : *list->items) {
    const std::optional<Shape> part = dims_in(item);
    const bool is_apart = part && std::ranges::none_of(part->dims(), [&all](const Dim& dim) {
                            return all.has(dim.name);
                          });
    if (!is_apart) {
      return std::nullopt;
    }
    for (const Dim& dim : part->dims()) {
      all = all.with(dim);
    }
  }
  return all;
}

Value host_binary(Reporter& report, OpTable ops, BinaryOp op, const Operand& a, const Operand& b,
                  SourceSpan span) {
  if (is_unknown(a.value) || is_unknown(b.value)) {
    return unknown();
  }
  const Site site{.report = report, .ops = ops, .op = op, .a = a, .b = b, .span = span};
  if (op == BinaryOp::kEqual || op == BinaryOp::kNotEqual) {
    return make(equal(a.value, b.value) == (op == BinaryOp::kEqual));
  }
  if (std::optional<Value> result = joined(site)) {
    return *result;
  }
  const std::optional<std::int64_t> x = as_int(a.value);
  const std::optional<std::int64_t> y = as_int(b.value);
  if (x && y) {
    return is_ordering(op) ? compare(site, *x, *y) : int_arithmetic(site, *x, *y);
  }
  const std::optional<double> u = as_real(a.value);
  const std::optional<double> v = as_real(b.value);
  if (u && v) {
    return is_ordering(op) ? compare(site, *u, *v) : real_arithmetic(site, *u, *v);
  }
  const auto* s = a.value.get<std::string>();
  const auto* t = b.value.get<std::string>();
  return s != nullptr && t != nullptr && is_ordering(op) ? compare(site, *s, *t) : mismatch(site);
}

Value host_unary(Reporter& report, ast::UnaryOp op, const Operand& a, SourceSpan span) {
  if (a.value.is<Unknown>()) {
    return unknown();
  }
  if (op == ast::UnaryOp::kNot) {
    if (const bool* flag = a.value.get<bool>()) {
      return make(!*flag);
    }
  } else if (const std::optional<std::int64_t> number = as_int(a.value)) {
    const Operand zero{.value = make(std::int64_t{0}), .span = span};
    return host_binary(report, {}, BinaryOp::kSubtract, zero, a, span);
  } else if (const auto* real = a.value.get<double>()) {
    return make(-*real);
  }
  report.error(DiagKind::kWrongType, a.span,
               op == ast::UnaryOp::kNot ? "`not` of " + kind_of(a.value) + bool_of_it(a.value)
                                        : "`-` of " + kind_of(a.value));
  return unknown();
}

}  // namespace mtf::host
