// `mtf search --json`.

#include "frontend/report/json_parts.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/scale_report.h"

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
    variables.push_back({{"glob", block.glob},
                         {"let", block.lets},
                         {"rules", rules_json(block.rules, found.layout.mesh)}});
  }
  return {{"source", layout_source(found.layout)},
          {"mesh", mesh_json(found.layout.mesh)},
          {"mesh_source", mesh_source(found.written)},
          {"rules", rules_json(found.layout.rules, found.layout.mesh)},
          {"variables", std::move(variables)},
          {"infer", found.layout.infer},
          {"gather", found.layout.gather_again ? "again" : "keep"},
          {"recompute", found.layout.recompute ? "blocks" : "none"},
          {"stream", found.layout.stream},
          {"seconds", found.priced.seconds},
          {"communication_seconds", found.priced.communication},
          {"peak_bytes", found.priced.peak_bytes},
          {"received_bytes", found.priced.received_bytes},
          {"utilization", found.utilization}};
}

// As `--objective` has it.
std::string objective_word(Objective objective) {
  return objective == Objective::kBytes ? "bytes" : std::string(name_of(objective));
}

Json recomputed_json(const SearchReport& report) {
  Json recomputed = Json::array();
  for (const RecomputedBlock& block : report.recomputed) {
    Json one = {{"place", block.place}, {"possible", block.is_possible}};
    if (block.is_possible) {
      one["seconds"] = block.seconds;
      one["peak_bytes"] = block.peak_bytes;
      one["fits"] = block.fits;
    }
    recomputed.push_back(std::move(one));
  }
  return recomputed;
}

// Null where nothing is explained.
Json explained_json(const std::optional<ExplainedRule>& rule) {
  if (!rule) {
    return nullptr;
  }
  const Priced& priced = rule->with.priced;
  Json one = {{"dim", rule->dim},
              {"place", rule->place},
              {"is_answer", rule->is_answer},
              {"legal", priced.is_legal}};
  if (priced.is_legal) {
    one.update(found_json(rule->with));
    one["fits"] = rule->fits;
  } else {
    one["source"] = layout_source(rule->with.layout);
    one["obstacle"] = priced.obstacle;
  }
  return one;
}

Json tried_json(const std::vector<TriedRanks>& all) {
  Json list = Json::array();
  for (const TriedRanks& tried : all) {
    const Json says = tried.says;
    list.push_back({{"ranks", tried.ranks},
                    {"peak_bytes", tried.bytes ? Json(*tried.bytes) : Json()},
                    {"is_bound", tried.is_bound},
                    {"rules", tried.bytes && !tried.is_bound ? says : Json()},
                    {"obstacle", tried.bytes ? Json() : says}});
  }
  return list;
}

Json sensitivity_json(const SearchReport& report) {
  Json list = Json::array();
  for (const VariedHardware& varied : report.sensitivity) {
    list.push_back({{"figure", report.varied},
                    {"factor", varied.factor},
                    {"source", layout_source(varied.layout)},
                    {"seconds", varied.seconds},
                    {"peak_bytes", varied.peak_bytes}});
  }
  return list;
}

Json dims_json(const SearchReport& report) {
  Json dims = Json::array();
  for (const DimChoice& choice : report.dims) {
    Json next;
    if (!choice.there.empty()) {
      next = {{"place", choice.there}, {"value", choice.value}, {"peak_bytes", choice.bytes}};
    }
    dims.push_back({{"dim", choice.dim},
                    {"place", choice.here},
                    {"runner_up", std::move(next)},
                    {"left_out", choice.is_left_out},
                    {"refused", choice.refused.empty() ? Json() : Json(choice.refused)}});
  }
  return dims;
}

}  // namespace

std::string search_json(const SearchReport& report) {
  Json front = Json::array();
  for (const FoundLayout& found : report.front) {
    front.push_back(found_json(found));
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
  return dump({{"entries", report.entries},
               {"hardware", report.hardware},
               {"objective", objective_word(report.goal.objective)},
               {"memory", report.goal.memory},
               {"fits", report.fits},
               {"best", found_json(report.front[report.best])},
               {"front", std::move(front)},
               {"wording", report.wording},
               {"gap", report.proof.gap},
               {"least_bytes", report.proof.least_bytes},
               {"proven", report.proof.is_proven()},
               {"priced", report.priced},
               {"legal", report.legal},
               {"meshes", report.meshes},
               {"other_meshes", report.other_meshes},
               {"dims", dims_json(report)},
               {"moved", std::move(moved)},
               {"recompute", recomputed_json(report)},
               {"candidates", std::move(points)},
               {"explained", explained_json(report.explained)},
               {"fit", tried_json(report.tried)},
               {"sensitivity", sensitivity_json(report)}}) +
         "\n";
}

std::string scale_json(const ScaleReport& report) {
  Json rows = Json::array();
  for (const ScaleRow& row : report.rows) {
    Json one = {{"ranks", row.ranks}, {"size", row.size}, {"legal", row.obstacle.empty()}};
    if (row.obstacle.empty()) {
      one.update(found_json(row.found));
      one["fits"] = row.fits;
      one["gap"] = row.proof.gap;
    } else {
      one["obstacle"] = row.obstacle;
    }
    rows.push_back(std::move(one));
  }
  return dump({{"entries", report.entries},
               {"hardware", report.hardware},
               {"objective", objective_word(report.goal.objective)},
               {"memory", report.goal.memory},
               {"dim", report.dim},
               {"follow", report.follow},
               {"scale", std::move(rows)}}) +
         "\n";
}

}  // namespace mtf
