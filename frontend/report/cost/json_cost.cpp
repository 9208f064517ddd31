// `mtf cost --json`.

#include "frontend/report/cost/cost_table.h"
#include "frontend/report/json_parts.h"
#include "frontend/report/plan/step_text.h"

namespace mtf {
namespace {

Json terms_json(const Terms& terms) {
  Json list = Json::array();
  for (const Term& term : terms) {
    list.push_back({{"coefficient", term.coefficient}, {"dims", term.dims}, {"over", term.axes}});
  }
  return list;
}

Json peak_json(const Cost& cost, const SourceMap& sources) {
  const ValueNames names(cost.program);
  Json held = Json::array();
  for (const Held& item : cost.peak.held) {
    held.push_back({{"value", item.value.valid() ? names.of(item.value) : ""},
                    {"what", to_string(item.what)},
                    {"bytes", item.bytes},
                    {"line", line_of(sources, item.span)}});
  }
  return {{"step", cost.peak.step ? Json(*cost.peak.step) : Json()},
          {"line", line_of(sources, cost.peak.span)},
          {"held", std::move(held)},
          {"terms", terms_json(cost.terms.elements)}};
}

Json slowest_json(const Cost& cost, const SourceMap& sources) {
  constexpr std::size_t kShown = 10;
  Json list = Json::array();
  for (const std::size_t i : cost.slowest(kShown)) {
    const Step& step = cost.program.steps[i];
    const bool is_kernel = step.kind == StepKind::kKernel;
    const ValueId made = made_by(cost.program, step);
    list.push_back({{"step", i},
                    {"kind", to_string(step.kind)},
                    {"op", is_kernel ? step.calls.back().op().name : ""},
                    {"line", line_of(sources, cost.program.source.at(made).span)},
                    {"seconds", cost.prices.steps[i]}});
  }
  return list;
}

Json errors_json(const std::vector<Diag>& errors, const SourceMap& sources) {
  Json list = Json::array();
  for (const Diag& error : errors) {
    list.push_back(
        {{"text", error.text}, {"slug", slug(error.kind)}, {"line", line_of(sources, error.span)}});
  }
  return list;
}

Json row_json(const CostRow& row, const SourceMap& sources) {
  Json json = {{"layout", row.layout},
               {"legal", row.cost.has_value()},
               {"mesh", mesh_json(row.mesh)},
               {"errors", errors_json(row.errors, sources)}};
  if (!row.cost) {
    return json;
  }
  const Cost& cost = *row.cost;
  Json totals = totals_json(cost.program.totals, cost.program.mesh);
  for (std::size_t i = 0; i < cost.collective_seconds.size(); ++i) {
    totals["collectives"][i]["seconds"] = cost.collective_seconds[i];
    totals["collectives"][i]["terms"] = terms_json(cost.terms.collectives[i]);
  }
  json.update({{"totals", std::move(totals)},
               {"seconds", cost.prices.seconds()},
               {"compute_seconds", cost.prices.compute},
               {"communication_seconds", cost.prices.communication},
               {"communication_over_compute",
                cost.prices.compute == 0 ? 0.0 : cost.prices.communication / cost.prices.compute},
               {"received_bytes", cost.received_bytes()},
               {"utilization", cost.utilization()},
               {"replicated", cost.replicated()},
               {"hardware", cost.hardware.name},
               {"flops_terms", terms_json(cost.terms.flops)},
               {"peak", peak_json(cost, sources)},
               {"slowest", slowest_json(cost, sources)}});
  return json;
}

}  // namespace

std::string cost_json(const CostTable& table, const SourceMap& sources) {
  Json layouts = Json::array();
  for (const CostRow& row : table.layouts) {
    layouts.push_back(row_json(row, sources));
  }
  return dump({{"entry", table.entry},
               {"mesh",
                table.layouts.empty() ? Json::array() : mesh_json(table.layouts.front().mesh)},
               {"one_rank", row_json(table.one_rank, sources)},
               {"layouts", std::move(layouts)},
               {"entries", table.entries}}) +
         "\n";
}

}  // namespace mtf
