#include "frontend/driver/counts.h"

#include <algorithm>
#include <tuple>

namespace mtf {

void add_run(Totals& sum, const Totals& run) {
  sum.flops += run.flops;
  sum.peak_bytes = std::max(sum.peak_bytes, run.peak_bytes);
  for (const CollectiveTotal& more : run.collectives) {
    CollectiveTotal& total = sum.collectives[collective_slot(sum, more.kind, more.axes)];
    total.calls += more.calls;
    total.elements += more.elements;
    total.received += more.received;
    total.bytes += more.bytes;
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
