#include "frontend/driver/counts.h"

#include <algorithm>
#include <tuple>

namespace mtf {

void add_run(Totals& sum, const Totals& run) {
  sum.flops += run.flops;
  sum.peak_bytes = std::max(sum.peak_bytes, run.peak_bytes);
  for (const CollectiveTotal& more : run.collectives) {
    const auto same = [&](const CollectiveTotal& total) {
      return total.kind == more.kind && total.axes == more.axes;
    };
    const auto found = std::ranges::find_if(sum.collectives, same);
    if (found == sum.collectives.end()) {
      sum.collectives.push_back(more);
      continue;
    }
    found->calls += more.calls;
    found->elements += more.elements;
    found->received += more.received;
    found->bytes += more.bytes;
  }
  std::ranges::sort(sum.collectives, {},
                    [](const CollectiveTotal& total) { return std::tie(total.kind, total.axes); });
}

void count_run(RankCounts& counts, std::string_view entry, const Totals& run,
               std::int64_t parameters) {
  add_run(counts.totals, run);
  if (entry.empty()) {
    return;
  }
  auto found = std::ranges::find(counts.entries, entry, &EntryCounts::entry);
  if (found == counts.entries.end()) {
    counts.entries.push_back({.entry = std::string(entry)});
    found = std::prev(counts.entries.end());
  }
  ++found->calls;
  found->totals.parameters = parameters;
  add_run(found->totals, run);
}

}  // namespace mtf
