#include "frontend/driver/commands/verify_rows.h"

#include <cmath>

#include "frontend/report/json_parts.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

// What roundings change there, where that was looked at.
std::string beside_rounding(const Difference& difference) {
  if (difference.rounding == 0 || difference.relative <= difference.tolerance) {
    return "";
  }
  return std::string(is_rounding(difference) ? ", but within " : ", and than ") +
         significant(kRoundings, 2) + " times the " + significant(difference.rounding, 2) +
         " absolute that roundings alone change there";
}

// Of a failure that may be none: what the terms were whose sum it is, nobody knows.
std::string beside_terms(const VerifyRow& row) {
  const Difference& difference = *row.apart;
  const bool is_near = difference.tolerance > 0 && std::isfinite(difference.absolute);
  return row.is_promised || tolerated(difference) || !is_near
             ? ""
             : "; a sum may differ so whose terms are larger and cancel";
}

std::string verdict(const VerifyRow& row) {
  if (!row.refused.empty()) {
    return row.refused;
  }
  if (!row.apart) {
    return "equal bits";
  }
  const Difference& difference = *row.apart;
  if (difference.only_signs) {
    return "differs in signs of zero in " + difference.where;
  }
  const std::string absolute = significant(difference.absolute, 2) + " absolute in ";
  if (std::isinf(difference.relative)) {
    return std::isinf(difference.absolute)
               ? "differs in " + difference.where
               : "differs by " + absolute + difference.where + ", which is 0 on one rank" +
                     beside_rounding(difference) + beside_terms(row);
  }
  return "differs by " + significant(difference.relative, 2) + " relative, " + absolute +
         difference.where + "; " +
         (difference.relative <= difference.tolerance ? "within " : "more than ") +
         significant(difference.tolerance, 2) + " relative" + beside_rounding(difference) +
         beside_terms(row);
}

// Why the bits may differ without `--fast`, or that they may not.
std::string reason(const VerifyRow& row) {
  if (row.endings.empty()) {
    return "equal bits are promised here: a fault of mtf, please report it";
  }
  return row.endings.front() +
         (row.endings.size() > 1 ? " and " + std::to_string(row.endings.size() - 1) + " more" : "");
}

}  // namespace

std::string verify_text(std::span<const VerifyRow> rows, bool fast) {
  std::vector<Row> lines;
  for (const VerifyRow& row : rows) {
    lines.push_back({row.layout, verdict(row)});
    if (row.apart && !fast) {
      lines.push_back({"", reason(row)});
    }
  }
  if (lines.empty()) {
    lines.push_back({"the program declares no layout"});
  }
  return in_columns(lines, {.indent = 0}) +
         (fast ? "compared with the exact bits of one rank: --fast adds in any order\n" : "");
}

std::string verify_json(std::span<const VerifyRow> rows) {
  Json layouts = Json::array();
  for (const VerifyRow& row : rows) {
    Json apart;  // null: nothing is
    if (row.apart) {
      apart = {{"where", row.apart->where},       {"relative", row.apart->relative},
               {"absolute", row.apart->absolute}, {"tolerance", row.apart->tolerance},
               {"rounding", row.apart->rounding}, {"only_signs", row.apart->only_signs}};
    }
    layouts.push_back({{"layout", row.layout},
                       {"ok", row.ok},
                       {"equal", row.refused.empty() && !row.apart},
                       {"verdict", verdict(row)},
                       {"promised", row.is_promised},
                       {"difference", std::move(apart)},
                       {"because", row.endings}});
  }
  return dump({{"layouts", std::move(layouts)}});
}

}  // namespace mtf
