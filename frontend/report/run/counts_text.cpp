#include "frontend/report/run/counts_text.h"

#include <algorithm>
#include <string_view>

#include "frontend/report/json.h"
#include "frontend/report/plan/pseudo_code.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

// What a rank did, without which rank it is.
std::string_view deeds(std::string_view json) {
  const std::size_t at = json.find("\"entries\"");
  return at == std::string_view::npos ? json : json.substr(at);
}

}  // namespace

std::string rank_text(const RankCounts& counts, const Mesh& mesh) {
  std::string text;
  for (const EntryCounts& entry : counts.entries) {
    const std::string form =
        entry.form == 1 ? "" : " called in another way (" + std::to_string(entry.form) + ")";
    text += "\n" + entry.entry + form + ", " + count_text(entry.calls, "call") + "\n" +
            totals_text(entry.totals, mesh);
  }
  return text + "\n" + (counts.entries.empty() ? "the program" : "the whole program") + "\n" +
         totals_text(counts.totals, mesh);
}

std::string counts_text(std::span<const std::string> texts, std::span<const std::string> jsons) {
  if (jsons.size() == 1) {
    return "counted on one rank\n" + texts.front();
  }
  const bool alike = std::ranges::all_of(
      jsons, [&](const std::string& json) { return deeds(json) == deeds(jsons.front()); });
  if (alike) {
    return "counted on each of " + count_text(static_cast<std::int64_t>(jsons.size()), "rank") +
           "\n" + texts.front();
  }
  const auto busiest = std::ranges::max_element(jsons, {}, bytes_received) - jsons.begin();
  return "counted on rank " + std::to_string(busiest) +
         ", of all the one that receives most; the others differ, `--json` shows them\n" +
         texts[static_cast<std::size_t>(busiest)];
}

}  // namespace mtf
