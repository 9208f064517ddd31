#include "frontend/elaborate/layouts/conditions.h"

#include <limits>

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
      const ast::Name& left = written.coordinates[i - 1];
      const ast::Name& right = written.coordinates[i];
      if (is_number(left) && is_number(right)) {
        report.error(DiagKind::kLayoutConflict, written.span,
                     "a condition names an axis, as `where r == 0` or `where y == z`");
        return std::nullopt;
      }
      const bool first = is_number(right);
      const ast::Name& other = first ? right : left;
      NamedCondition& condition = conditions.emplace_back();
      condition.axis = first ? left.text : right.text;
      if (is_number(other)) {
        condition.at = number_of(other);
      } else {
        condition.same = other.text;
      }
    }
  }
  return conditions;
}

}  // namespace mtf::host
