// Arithmetic, comparison and joining of host values.

#include "frontend/elaborate/host/operators.h"

#include <cmath>

#include "frontend/elaborate/host/list.h"

namespace mtf::host {
namespace {

using ast::BinaryOp;

struct Site {
  Reporter& report;
  BinaryOp op;
  const Operand& a;
  const Operand& b;
  SourceSpan span;
};

std::string number_text(const Value& value) {
  const std::optional<std::int64_t> number = as_int(value);
  return number ? std::to_string(*number) : to_string(value);
}

Value overflow(const Site& site) {
  site.report.error(DiagKind::kOverflow, site.span,
                    "`" + number_text(site.a.value) + " " + std::string(to_string(site.op)) + " " +
                        number_text(site.b.value) + "` is beyond the range of 64-bit integers");
  return unknown();
}

Value division_by_zero(const Site& site) {
  site.report.error(DiagKind::kDivisionByZero, site.b.span, "the divisor is 0");
  return unknown();
}

Value mismatch(const Site& site) {
  site.report.error(DiagKind::kWrongType, site.span,
                    "`" + std::string(to_string(site.op)) + "` between " + kind_of(site.a.value) +
                        " and " + kind_of(site.b.value));
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
      return y == 0 ? division_by_zero(site)
                    : make(static_cast<double>(x) / static_cast<double>(y));
    case BinaryOp::kFloorDivide:
    case BinaryOp::kModulo:
      if (y == 0) {
        return division_by_zero(site);
      }
      if (y == -1) {  // the smallest number has no opposite
        return site.op == BinaryOp::kModulo                          ? make(std::int64_t{0})
               : __builtin_sub_overflow(std::int64_t{0}, x, &result) ? overflow(site)
                                                                     : make(result);
      }
      return make(site.op == BinaryOp::kFloorDivide ? floor_quotient(x, y)
                                                    : x - floor_quotient(x, y) * y);
    case BinaryOp::kPower:
      return int_power(site, x, y);
    default:
      return mismatch(site);
  }
}

Value real_arithmetic(const Site& site, double x, double y) {
  switch (site.op) {
    case BinaryOp::kAdd:
      return make(x + y);
    case BinaryOp::kSubtract:
      return make(x - y);
    case BinaryOp::kMultiply:
      return make(x * y);
    case BinaryOp::kDivide:
      return y == 0 ? division_by_zero(site) : make(x / y);
    case BinaryOp::kFloorDivide:
      return y == 0 ? division_by_zero(site) : make(std::floor(x / y));
    case BinaryOp::kModulo:
      return y == 0 ? division_by_zero(site) : make(x - std::floor(x / y) * y);
    case BinaryOp::kPower:
      return x == 0 && y < 0 ? division_by_zero(site) : make(std::pow(x, y));
    default:
      return mismatch(site);
  }
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
                        "the shape " + mtf::to_string(left) + " has `" + dim.name + "` already");
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

// Shapes, lists and strings; two dims are numbers.
std::optional<Value> joined(const Site& site) {
  const Value& a = site.a.value;
  const Value& b = site.b.value;
  const bool with_shape = a.is<Shape>() || b.is<Shape>();
  if (with_shape && (site.op == BinaryOp::kAdd || site.op == BinaryOp::kSubtract)) {
    const std::optional<Shape> left = as_shape(a);
    const std::optional<Shape> right = as_shape(b);
    if (left && right) {
      return site.op == BinaryOp::kAdd ? join_shapes(site, *left, *right)
                                       : remove_dims(site, *left, *right);
    }
  }
  if (site.op != BinaryOp::kAdd) {
    return std::nullopt;
  }
  if (a.is<std::string>() && b.is<std::string>()) {
    if (a.get<std::string>()->size() + b.get<std::string>()->size() > kMaxText) {
      return too_long(site, "a text", "bytes", kMaxText);
    }
    return make(*a.get<std::string>() + *b.get<std::string>());
  }
  if (a.is<List>() && b.is<List>()) {
    if (a.get<List>()->items->size() + b.get<List>()->items->size() > kMaxItems) {
      return too_long(site, "a list", "elements", kMaxItems);
    }
    Values items = *a.get<List>()->items;
    items.insert(items.end(), b.get<List>()->items->begin(), b.get<List>()->items->end());
    return bounded_list(site.report, std::move(items), site.span);
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

Value host_binary(Reporter& report, BinaryOp op, const Operand& a, const Operand& b,
                  SourceSpan span) {
  if (is_unknown(a.value) || is_unknown(b.value)) {
    return unknown();
  }
  const Site site{.report = report, .op = op, .a = a, .b = b, .span = span};
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
    return host_binary(report, BinaryOp::kSubtract, zero, a, span);
  } else if (const double* real = a.value.get<double>()) {
    return make(-*real);
  }
  report.error(DiagKind::kWrongType, a.span,
               std::string(op == ast::UnaryOp::kNot ? "`not`" : "`-`") + " of " + kind_of(a.value));
  return unknown();
}

}  // namespace mtf::host
