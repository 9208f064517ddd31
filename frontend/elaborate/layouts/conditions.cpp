#include "frontend/elaborate/layouts/conditions.h"

#include <limits>
#include <utility>

#include "frontend/elaborate/report.h"
#include "ir/support/text/parse_number.h"

namespace mtf::host {
namespace {

bool is_number(const ast::Name& coordinate) {
  return coordinate.text.front() >= '0' && coordinate.text.front() <= '9';
}

// No mesh has as many ranks as what does not fit.
std::int64_t number_of(const ast::Name& coordinate) {
  std::string digits = coordinate.text;
  std::erase(digits, '_');
  return parse_number<std::int64_t>(digits).value_or(std::numeric_limits<std::int64_t>::max());
}

// nullopt: neither is an axis.
std::optional<NamedCondition> condition_of(const ast::Name& left, const ast::Name& right) {
  if (is_number(left) && is_number(right)) {
    return std::nullopt;
  }
  const bool first = is_number(right);
  const ast::Name& other = first ? right : left;
  NamedCondition condition;
  condition.axis = first ? left.text : right.text;
  if (is_number(other)) {
    condition.at = number_of(other);
  } else {
    condition.same = other.text;
  }
  return condition;
}

}  // namespace

std::optional<std::vector<NamedCondition>> conditions_of(Reporter& report, const ast::Rule& rule,
                                                         const AxisCheck& exists) {
  std::vector<NamedCondition> conditions;
  for (const ast::Condition& written : rule.where) {
    for (const ast::Name& coordinate : written.coordinates) {
      if (!is_number(coordinate) && !exists(coordinate)) {
        return std::nullopt;
      }
    }
    for (std::size_t i = 1; i < written.coordinates.size(); ++i) {
      std::optional<NamedCondition> condition =
          condition_of(written.coordinates[i - 1], written.coordinates[i]);
      if (!condition) {
        report.error(DiagKind::kLayoutConflict, written.span,
                     "a condition names an axis, as `where r == 0` or `where y == z`");
        return std::nullopt;
      }
      conditions.push_back(*std::move(condition));
    }
  }
  return conditions;
}

}  // namespace mtf::host
