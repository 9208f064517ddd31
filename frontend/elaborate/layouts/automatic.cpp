#include "frontend/elaborate/layouts/automatic.h"

#include <optional>
#include <utility>

#include "frontend/elaborate/report.h"

namespace mtf::host {

void find_rules(Reporter& report, const LayoutsAsked& asked, Layout& layout) {
  const bool is_other = !asked.layout.empty() && asked.layout != layout.name;
  const bool runs_no_more = !asked.searches_all && report.failures() > 0;
  if (!layout.automatic || !asked.search || asked.one_rank || asked.given || is_other ||
      runs_no_more) {
    return;
  }
  DiagSink diags;
  std::optional<Layout> found = asked.search(layout, diags);
  report.forward(diags, false);
  if (found) {
    layout = *std::move(found);
    layout.automatic = false;
  }
}

}  // namespace mtf::host
