#include <algorithm>
#include <cmath>

#include "frontend/elaborate/host/numbers.h"
#include "frontend/elaborate/tensors/arguments/arguments.h"

namespace mtf::host {
namespace {

std::string extents_text(const std::vector<std::size_t>& extents) {
  std::string text;
  for (const std::size_t extent : extents) {
    text += (text.empty() ? "" : " by ") + std::to_string(extent);
  }
  return text;
}

bool is_nested_as(const std::vector<std::size_t>& extents, const Shape& shape) {
  return std::ranges::equal(shape.dims(), extents, [](const Dim& dim, std::size_t extent) {
    return dim.size == static_cast<std::int64_t>(extent);
  });
}

// The shape among `args` that lists nested so cannot fill, if there is one.
const Shape* unlike_shape(const OpArgs& args, const std::vector<std::size_t>& extents) {
  for (const auto& [name, arg] : args.entries()) {
    const auto* shape = std::get_if<Shape>(&arg);
    if (shape != nullptr && extents.size() > 1 && !is_nested_as(extents, *shape)) {
      return shape;
    }
  }
  return nullptr;
}

bool are_whole(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == std::floor(x); });
}

// Whether an operation can count with them; false after an error.
bool are_countable(const OpCallSite& site, const OpParam& param, SourceSpan span,
                   const std::vector<double>& numbers) {
  constexpr double kExact = 0x1p53;
  const auto beyond = std::ranges::find_if(numbers, [](double x) { return std::abs(x) >= kExact; });
  if (beyond == numbers.end()) {
    return true;
  }
  site.c.report.error(DiagKind::kOverflow, span,
                      "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                          "` takes whole numbers below 2^53");
  return false;
}

}  // namespace

std::optional<ArgValue> data_argument(OpCallSite& site, const OpParam& param, const ast::Expr& expr,
                                      const OpArgs& args) {
  const Value value = evaluate(site.c, expr);
  if (is_unknown(value)) {
    return std::nullopt;
  }
  NumberRow row;
  if (!flatten(site.c.report, {.value = value, .span = expr.span}, row)) {
    return std::nullopt;
  }
  if (!row.long_number.empty()) {
    site.long_numbers = {
        .param = param.name, .numbers = std::move(row.whole), .first = row.long_number};
  }
  site.written = row.only_flags ? DType::kBool : row.only_ints ? DType::kI32 : DType::kF32;
  if (const Shape* shape = unlike_shape(args, row.extents)) {
    site.c.report.error(
        DiagKind::kBadArgument, expr.span,
        "data of " + extents_text(row.extents) + " for the shape " + mtf::to_string(*shape));
    return std::nullopt;
  }
  return std::move(row.numbers);
}

std::optional<ArgValue> ints_argument(OpCallSite& site, const OpParam& param,
                                      const ast::Expr& expr) {
  const Value value = evaluate(site.c, expr);
  if (const std::optional<std::int64_t> number = as_int(value)) {
    return *number;
  }
  if (const auto* text = value.get<std::string>(); text != nullptr && !param.choices.empty()) {
    return checked_choice(site, param, *text, expr.span);
  }
  if (value.is<List>()) {
    NumberRow row;
    if (!flatten(site.c.report, {.value = value, .span = expr.span}, row)) {
      return std::nullopt;
    }
    if (are_whole(row.numbers)) {
      return are_countable(site, param, expr.span, row.numbers)
                 ? std::optional<ArgValue>(std::move(row.numbers))
                 : std::nullopt;
    }
  }
  std::string wanted = "a whole number, or a list of one for each dim";
  for (const std::string_view word : param.choices) {
    wanted += ", or \"" + std::string(word) + "\"";
  }
  wrong_kind(site, param, expr.span, wanted, value);
  return std::nullopt;
}

}  // namespace mtf::host
