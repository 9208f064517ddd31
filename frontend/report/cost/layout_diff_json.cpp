#include "frontend/report/cost/layout_diff.h"
#include "frontend/report/json_parts.h"

namespace mtf {
namespace {

Json side_json(const Cost& cost) {
  return {{"layout", cost.program.layout},
          {"mesh", mesh_json(cost.program.mesh)},
          {"totals", totals_json(cost.program.totals, cost.program.mesh)},
          {"hardware", cost.hardware.name},
          {"seconds", cost.prices.seconds()}};
}

Json collective_json(const std::optional<PlannedCollective>& one, const SourceMap& sources) {
  if (!one) {
    return nullptr;
  }
  return {{"kind", to_string(one->kind)},
          {"axes", one->axes},
          {"value", one->value},
          {"elements", one->elements},
          {"received", one->received},
          {"bytes", one->bytes},
          {"why", one->why},
          {"line", line_of(sources, one->span)}};
}

Json entry_json(const LayoutDiff& diff, const SourceMap& sources) {
  Json collectives = Json::array();
  for (const CollectiveChange& change : diff.collectives) {
    const std::string_view what = !change.before  ? "appears"
                                  : !change.after ? "disappears"
                                                  : "changes";
    collectives.push_back({{"change", what},
                           {"count", change.count},
                           {"before", collective_json(change.before, sources)},
                           {"after", collective_json(change.after, sources)}});
  }
  Json variables = Json::array();
  for (const VariableChange& change : diff.variables) {
    variables.push_back({{"name", change.name},
                         {"before", {{"layout", change.before}, {"bytes", change.bytes_before}}},
                         {"after", {{"layout", change.after}, {"bytes", change.bytes_after}}}});
  }
  return {{"entry", diff.entry},
          {"before", side_json(*diff.before)},
          {"after", side_json(*diff.after)},
          {"collectives", std::move(collectives)},
          {"unchanged", diff.unchanged},
          {"variables", std::move(variables)}};
}

}  // namespace

std::string diff_json(const std::vector<LayoutDiff>& diffs, const SourceMap& sources) {
  Json entries = Json::array();
  for (const LayoutDiff& diff : diffs) {
    entries.push_back(entry_json(diff, sources));
  }
  return dump({{"entries", std::move(entries)}}) + "\n";
}

}  // namespace mtf
