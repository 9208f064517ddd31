#include "frontend/elaborate/layouts/automatic.h"

#include <optional>
#include <utility>

#include "frontend/elaborate/report.h"

namespace mtf::host {

bool find_rules(Reporter& report, const LayoutsAsked& asked, Layout& layout) {
  const bool is_other = !asked.layout.empty() && asked.layout != layout.name;
  const bool runs_no_more = !asked.searches_all && report.failures() > 0;
  if (!layout.automatic || !asked.search || asked.one_rank || asked.given || is_other ||
      runs_no_more) {
    return true;
  }
  DiagSink diags;
  std::optional<Layout> found = asked.search(layout, diags);
  report.forward(diags, false);
  const bool is_known = found || !diags.ok();
  if (found) {
    layout = *std::move(found);
    layout.automatic = false;
  }
  return is_known;
}

void refuse_unsearched(Reporter& report, const Layout& layout, SourceSpan asking) {
  report.error(DiagKind::kUnknownEntry, asking,
               "layout `" + layout.name +
                   "` is `auto`, and there is no function yet whose parameters all have tensor "
                   "types, for which it could be searched; use it when there is one");
}

}  // namespace mtf::host
