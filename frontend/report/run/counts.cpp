#include "frontend/report/run/counts.h"

#include <algorithm>
#include <tuple>

namespace mtf {

void add_run(Totals& sum, const Totals& run) {
  sum.flops += run.flops;
  sum.peak_bytes = std::max(sum.peak_bytes, run.peak_bytes);
  for (const CollectiveTotal& more : run.collectives) {
    CollectiveTotal& total = sum.collectives[collective_slot(sum, more.kind, more.axes)];
    total.calls += more.calls;
    total.messages += more.messages;
    total.elements += more.elements;
    total.received += more.received;
    total.bytes += more.bytes;
    total.sent_bytes += more.sent_bytes;
    total.received_bytes += more.received_bytes;
  }
  std::ranges::sort(sum.collectives, {},
                    [](const CollectiveTotal& total) { return std::tie(total.kind, total.axes); });
}

namespace {

bool cost_alike(const Totals& a, const Totals& b) {
  const auto same = [](const CollectiveTotal& one, const CollectiveTotal& other) {
    return one.kind == other.kind && one.axes == other.axes && one.calls == other.calls &&
           one.messages == other.messages && one.elements == other.elements &&
           one.received == other.received && one.bytes == other.bytes;
  };
  return a.flops == b.flops && a.peak_bytes == b.peak_bytes && a.parameters == b.parameters &&
         std::ranges::is_permutation(a.collectives, b.collectives, same);
}

EntryCounts& counts_of(RankCounts& counts, std::string_view entry, const Totals& planned) {
  std::int64_t forms = 0;
  for (EntryCounts& known : counts.entries) {
    if (known.entry == entry) {
      ++forms;
      if (cost_alike(known.planned, planned)) {
        return known;
      }
    }
  }
  return counts.entries.emplace_back(
      EntryCounts{.entry = std::string(entry), .form = forms + 1, .planned = planned});
}

}  // namespace

void count_run(RankCounts& counts, std::string_view entry, const Totals& run,
               const Totals& planned) {
  add_run(counts.totals, run);
  if (entry.empty()) {
    return;
  }
  EntryCounts& mine = counts_of(counts, entry, planned);
  ++mine.calls;
  mine.totals.parameters = planned.parameters;
  add_run(mine.totals, run);
}

}  // namespace mtf
