// `mtf search --json`.

#include "frontend/report/json_parts.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/search_report.h"

namespace mtf {
namespace {

Json rules_json(const std::vector<Rule>& rules, const Mesh& mesh) {
  Json list = Json::array();
  for (const Rule& rule : rules) {
    list.push_back({{"dim", rule.dim}, {"axes", axes_json(mesh, rule.axes)}, {"rest", rule.rest}});
  }
  return list;
}

Json found_json(const FoundLayout& found) {
  Json variables = Json::array();
  for (const VariableRules& block : found.layout.variables) {
    variables.push_back(
        {{"glob", block.glob}, {"rules", rules_json(block.rules, found.layout.mesh)}});
  }
  return {{"source", layout_source(found.layout)},
          {"mesh", mesh_json(found.layout.mesh)},
          {"mesh_source", mesh_source(found.layout.mesh)},
          {"rules", rules_json(found.layout.rules, found.layout.mesh)},
          {"variables", std::move(variables)},
          {"gather", found.layout.gather_again ? "again" : "keep"},
          {"stream", found.layout.stream},
          {"seconds", found.priced.seconds},
          {"communication_seconds", found.communication},
          {"peak_bytes", found.priced.peak_bytes},
          {"received_bytes", found.priced.received_bytes},
          {"utilization", found.utilization}};
}

}  // namespace

std::string search_json(const SearchReport& report) {
  Json front = Json::array();
  for (const FoundLayout& found : report.front) {
    front.push_back(found_json(found));
  }
  Json dims = Json::array();
  for (const DimChoice& choice : report.dims) {
    Json next;
    if (!choice.there.empty()) {
      next = {{"place", choice.there}, {"value", choice.value}, {"peak_bytes", choice.bytes}};
    }
    dims.push_back({{"dim", choice.dim}, {"place", choice.here}, {"runner_up", std::move(next)}});
  }
  Json moved = Json::array();
  for (const MovedFor& one : report.moved) {
    moved.push_back({{"what", one.what},
                     {"calls", one.calls},
                     {"bytes", one.bytes},
                     {"seconds", one.seconds},
                     {"why", one.why}});
  }
  Json points = Json::array();
  for (const CandidatePoint& point : report.points) {
    points.push_back(Json::array({point.seconds, point.peak_bytes, point.fits}));
  }
  const Objective objective = report.goal.objective;
  return dump({{"entries", report.entries},
               {"hardware", report.hardware},
               {"objective", objective == Objective::kTime     ? "time"
                             : objective == Objective::kMemory ? "memory"
                                                               : "bytes"},
               {"memory", report.goal.memory},
               {"fits", report.fits},
               {"best", found_json(report.front[report.best])},
               {"front", std::move(front)},
               {"gap", report.gap},
               {"proven", report.is_proven || report.gap == 0},
               {"priced", report.priced},
               {"legal", report.legal},
               {"meshes", report.meshes},
               {"dims", std::move(dims)},
               {"moved", std::move(moved)},
               {"candidates", std::move(points)}}) +
         "\n";
}

}  // namespace mtf
