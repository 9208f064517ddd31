// The table of `mtf cost`: the layouts of a program side by side.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/support/diag.h"
#include "ir/support/source.h"
#include "lowering/price/cost.h"

namespace mtf {

// One layout, or one rank alone (without a name).
struct CostRow {
  std::string layout;
  Mesh mesh;
  std::optional<Cost> cost;  // none: the layout is illegal
  std::vector<Diag> errors;  // and why
  // Of a text, what is said below the table, and whether a gather goes on behind a product.
  std::string details = {};
  bool overlaps = false;
};

struct CostTable {
  std::string entry;
  CostRow one_rank;
  std::vector<CostRow> layouts;
  std::vector<std::string> entries;  // of the program, that could have been priced instead
};

// "12·batch·io·hidden/rows + 2·io·hidden"; "" for none.
[[nodiscard]] std::string formula_text(const Terms& terms);

// Says of a layout what a text says of its plan, and keeps of that the totals: plans are large.
void say_details(CostRow& row, const SourceMap& sources);

// requires: all details are said
[[nodiscard]] std::string cost_text(const CostTable& table, const SourceMap& sources);
[[nodiscard]] std::string cost_json(const CostTable& table, const SourceMap& sources);

}  // namespace mtf
