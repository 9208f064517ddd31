// What stands above and below the lines of a plan: its title, and the totals.

#include "frontend/report/plan/pseudo_code.h"

#include "frontend/report/quantity.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

std::string coordinates_text(const Mesh& mesh, std::int64_t rank) {
  const std::vector<std::int64_t> at = mesh.coordinates(rank);
  std::string text;
  for (std::size_t i = 0; i < at.size(); ++i) {
    text += (text.empty() ? "" : ", ") + mesh.axes[i].name + " " + std::to_string(at[i]);
  }
  return text;
}

}  // namespace

std::string plan_title(const SpmdProgram& program, std::int64_t rank) {
  const Mesh& mesh = program.mesh;
  std::string title = program.source.name;
  if (mesh.axes.empty()) {
    return title + " on one rank";
  }
  title += program.layout.empty() ? "" : " under " + program.layout;
  return title + " on " + to_string(mesh) + ", rank " + std::to_string(rank) + " of " +
         std::to_string(mesh.ranks()) + " at (" + coordinates_text(mesh, rank) + ")";
}

std::string calls_text(const CollectiveTotal& total) {
  const std::string calls = count_text(total.calls, "call");
  return total.messages == total.calls ? calls
                                       : calls + " in " + count_text(total.messages, "message");
}

std::string totals_text(const Totals& totals, const Mesh& mesh) {
  const std::string flops = flops_text(totals.flops);
  std::vector<Row> rows = {{"compute", flops.empty() ? "none" : flops},
                           {"memory", bytes_text(totals.peak_bytes) + " at peak"},
                           {"parameters", count_text(totals.parameters)}};
  if (totals.loops > 0) {
    rows.push_back({count_text(totals.loops, "loop"), totals.loops == 1
                                                          ? "one trip of it is counted"
                                                          : "one trip of each is counted"});
  }
  for (const CollectiveTotal& total : totals.collectives) {
    rows.push_back({std::string(to_string(total.kind)) + " over " + to_string(mesh, total.axes),
                    calls_text(total), count_text(total.elements) + " elements in",
                    bytes_text(total.bytes) + " received"});
  }
  return in_columns(rows);
}

}  // namespace mtf
