// The table of `mtf cost`, and below it what each layout's numbers are made of.

#include <algorithm>
#include <map>
#include <utility>

#include "frontend/report/cost/cost_table.h"
#include "frontend/report/plan/pseudo_code.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

std::string legend(bool overlaps, bool uneven) {
  const std::string overlap = overlaps ? "streamed gathers overlap" : "nothing overlaps";
  const std::string repeated =
      uneven ? "repeated: of as much compute as the busiest rank's on all ranks, what others do as "
               "well, or\nwhat shorter blocks leave undone; received: in collectives;\n"
             : "repeated: of all ranks' compute, what others do as well; received: in "
               "collectives;\n";
  return repeated + "time: predicted, " + overlap +
         "; utilization: compute of one rank alone / (ranks x peak rate x time).\n"
         "Formulas keep the leading terms: flops, and elements of what is handed over or held.\n";
}

// Whether part of a gather is predicted to go on behind a product.
bool overlaps(const Cost& cost) {
  return cost.hardware.overlap > 0 &&
         std::ranges::any_of(cost.program.values,
                             [](const SpmdValue& value) { return value.pieces > 1; });
}

std::string name_of(const CostRow& row) {
  return row.layout.empty() ? "one rank" : row.layout;
}

// Of the first error, which names the tensor and the dim.
std::string why_illegal(const CostRow& row, const SourceMap& sources) {
  if (row.errors.empty()) {
    return "illegal";
  }
  const Diag& first = row.errors.front();
  const std::string place = sources.short_place(first.span);
  return "illegal: " + first.text + (place.empty() ? "" : " (" + place + ")");
}

Row row_of(const CostRow& row) {
  const Cost& cost = *row.cost;
  const Prices& prices = cost.prices;
  const std::string flops = flops_text(cost.program.totals.flops);
  return {name_of(row),
          count_text(row.mesh.ranks()),
          flops.empty() ? "0" : flops,
          percent_text(cost.replicated()),
          bytes_text(cost.received_bytes()),
          bytes_text(cost.program.totals.peak_bytes),
          seconds_text(prices.seconds()),
          percent_text(prices.seconds() == 0 ? 0 : prices.communication / prices.seconds()),
          percent_text(cost.utilization())};
}

std::string table_text(const CostTable& table, const SourceMap& sources) {
  std::vector<Row> rows = {{"layout", "ranks", "compute", "repeated", "received", "peak memory",
                            "time", "of it moving", "utilization"}};
  const auto add = [&](const CostRow& row) {
    if (row.cost) {
      rows.push_back(row_of(row));
    } else {
      rows.push_back({name_of(row), count_text(row.mesh.ranks()), why_illegal(row, sources)});
    }
  };
  add(table.one_rank);
  std::ranges::for_each(table.layouts, add);
  return in_columns(rows, {.gap = 3, .widest = 24, .right = {1, 2, 3, 4, 5, 6, 7, 8}});
}

// "einsum (net.mtf:18)": of what the last call of a chain computes.
std::string step_name(const SpmdProgram& program, std::size_t index, const SourceMap& sources) {
  const Step& step = program.steps[index];
  const bool is_kernel = step.kind == StepKind::kKernel;
  const std::string place = sources.short_place(program.source.at(made_by(program, step)).span);
  return (is_kernel ? std::string(step.calls.back().op().name)
                    : std::string(to_string(step.kind))) +
         (place.empty() ? "" : " (" + place + ")");
}

// The largest of what is held at the peak, by name.
std::string held_text(const Cost& cost, const ValueNames& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < cost.peak.held.size() && i < kShown; ++i) {
    const Held& held = cost.peak.held[i];
    text += (i == 0 ? "" : ", ") + (held.value.valid() ? names.of(held.value) : "gaps") + " " +
            bytes_text(held.bytes);
  }
  return text;
}

// "einsum (net.mtf:18) 3.10 ms"
std::string slowest_text(const Cost& cost, const SourceMap& sources) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (const std::size_t i : cost.slowest(kShown)) {
    text += (text.empty() ? "" : ", ") + step_name(cost.program, i, sources) + " " +
            seconds_text(cost.prices.steps[i]);
  }
  return text;
}

std::string peak_place(const Cost& cost, const SourceMap& sources) {
  if (!cost.peak.step) {
    return "throughout";
  }
  return "at " + step_name(cost.program, *cost.peak.step, sources);
}

std::string details_text(const CostRow& row, const SourceMap& sources) {
  const Cost& cost = *row.cost;
  const SpmdProgram& program = cost.program;
  const ValueNames names(program);
  std::vector<Row> rows = {{"compute", flops_text(program.totals.flops),
                            seconds_text(cost.prices.compute), "", formula_text(cost.terms.flops)}};
  for (std::size_t i = 0; i < program.totals.collectives.size(); ++i) {
    const CollectiveTotal& total = program.totals.collectives[i];
    rows.push_back(
        {std::string(to_string(total.kind)) + " over " + to_string(program.mesh, total.axes),
         bytes_text(total.bytes), seconds_text(cost.collective_seconds[i]),
         calls_text(total) + ", " + count_text(total.elements, "element"),
         formula_text(cost.terms.collectives[i])});
  }
  rows.push_back({"peak memory", bytes_text(program.totals.peak_bytes), "",
                  peak_place(cost, sources), formula_text(cost.terms.elements)});
  std::string text = name_of(row) + (row.layout.empty() ? "" : " on " + to_string(row.mesh)) +
                     ", " + cost.hardware.name + "\n" +
                     in_columns(rows, {.gap = 3, .widest = 40, .right = {1, 2}});
  text += "  held then: " + held_text(cost, names) + "\n";
  text += "  slowest: " + slowest_text(cost, sources) + "\n";
  const auto capacity = static_cast<std::int64_t>(cost.hardware.capacity);
  if (capacity > 0 && program.totals.peak_bytes > capacity) {
    text +=
        "  does not fit: a rank of " + cost.hardware.name + " has " + bytes_text(capacity) + "\n";
  }
  return text;
}

std::string parameters_text(const CostTable& table) {
  const std::int64_t parameters =
      table.one_rank.cost ? table.one_rank.cost->program.totals.parameters : 0;
  return parameters == 0 ? "" : ", " + count_text(parameters, "parameter");
}

std::string loops_text(const CostTable& table) {
  const std::int64_t loops = table.one_rank.cost ? table.one_rank.cost->program.totals.loops : 0;
  return loops == 0 ? ""
                    : ", with one trip of " + std::string(loops == 1 ? "its loop" : "each loop");
}

std::string product(const std::map<std::string, int>& factors) {
  std::string text;
  for (const auto& [name, power] : factors) {
    text += (text.empty() ? "" : "·") + name + (power > 1 ? "^" + std::to_string(power) : "");
  }
  return text;
}

std::string term_text(const Term& term) {
  const std::string number = significant(term.coefficient, 6);
  const std::string dims = product(term.dims);
  const std::string axes = product(term.axes);
  std::string text = term.coefficient == 1 && !dims.empty() ? dims
                     : dims.empty()                         ? number
                                                            : number + ("·" + dims);
  if (!axes.empty()) {
    text += axes.find("·") == std::string::npos ? "/" + axes : "/(" + axes + ")";
  }
  return text;
}

bool is_uneven(const CostRow& row) {
  return row.mesh.uneven;
}

}  // namespace

void say_details(CostRow& row, const SourceMap& sources) {
  if (!row.cost) {
    return;
  }
  row.overlaps = overlaps(*row.cost);
  row.details = row.layout.empty() ? "" : details_text(row, sources);
  SpmdProgram& plan = row.cost->program;
  SpmdProgram totals;
  totals.mesh = std::move(plan.mesh);
  totals.totals = std::move(plan.totals);
  plan = std::move(totals);
}

std::string cost_text(const CostTable& table, const SourceMap& sources) {
  std::string text = table.entry + parameters_text(table) + "; per rank and run" +
                     loops_text(table) + "\n\n" + table_text(table, sources);
  for (const CostRow& row : table.layouts) {
    if (row.cost) {
      text += "\n" + row.details;
    }
  }
  return text + "\n" +
         legend(std::ranges::any_of(table.layouts, &CostRow::overlaps),
                std::ranges::any_of(table.layouts, is_uneven));
}

std::string formula_text(const Terms& terms) {
  std::string text;
  for (const Term& term : terms) {
    text += (text.empty() ? "" : " + ") + term_text(term);
  }
  return text;
}

}  // namespace mtf
