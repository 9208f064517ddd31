#include "frontend/report/run/counts_text.h"

#include <algorithm>
#include <string_view>

#include "frontend/report/plan/pseudo_code.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

// What a rank did, without which rank it is.
std::string_view deeds(std::string_view json) {
  const std::size_t at = json.find("\"entries\"");
  return at == std::string_view::npos ? json : json.substr(at);
}

std::string title(std::span<const std::string> ranks) {
  if (ranks.size() == 1) {
    return "counted on one rank";
  }
  const bool alike = std::ranges::all_of(
      ranks, [&](const std::string& rank) { return deeds(rank) == deeds(ranks.front()); });
  return alike ? "counted on each of " + count_text(static_cast<std::int64_t>(ranks.size()), "rank")
               : "counted on rank 0; the others differ, `--json` shows them";
}

}  // namespace

std::string counts_text(const RankCounts& first, const Mesh& mesh,
                        std::span<const std::string> ranks) {
  std::string text = title(ranks) + "\n";
  for (const EntryCounts& entry : first.entries) {
    const std::string form =
        entry.form == 1 ? "" : " called in another way (" + std::to_string(entry.form) + ")";
    text += "\n" + entry.entry + form + ", " + count_text(entry.calls, "call") + "\n" +
            totals_text(entry.totals, mesh);
  }
  return text + "\n" + (first.entries.empty() ? "the program" : "the whole program") + "\n" +
         totals_text(first.totals, mesh);
}

}  // namespace mtf
