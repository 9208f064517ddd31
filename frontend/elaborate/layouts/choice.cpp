// The choice of the layout that is used, and when that is.

#include <algorithm>

#include "frontend/elaborate/layouts/automatic.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/layouts/mesh_text.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

const Layout* layout_named(const Layouts& layouts, std::string_view name) {
  const auto found = std::ranges::find(layouts.layouts, name, &Layout::name);
  return found == layouts.layouts.end() ? nullptr : &*found;
}

const Layout* only_layout(const Layouts& layouts) {
  return layouts.layouts.size() == 1 ? layouts.layouts.data() : nullptr;
}

// "": none.
std::string chosen_name(const Layouts& layouts) {
  if (!layouts.asked.layout.empty()) {
    return layouts.asked.layout;
  }
  if (!layouts.asked.rules.empty()) {
    return "rules";
  }
  return layouts.use ? layouts.use->text : "";
}

bool uses_one_rank(const Layouts& layouts) {
  return chosen_name(layouts) == kOneRank && layout_named(layouts, kOneRank) == nullptr &&
         !layouts.written.contains(kOneRank);
}

}  // namespace

std::span<const Layout> layouts_to_choose(const Layouts& layouts) {
  return uses_one_rank(layouts) ? std::span<const Layout>() : layouts.layouts;
}

std::string no_layout_text(const Layouts& layouts, std::string_view name,
                           const Suggestion& suggestion) {
  const std::vector<std::string> names = names_of(layouts.layouts);
  return "no layout `" + std::string(name) + "`" +
         (!suggestion.text.empty() ? suggestion.text
          : names.empty()          ? "; the file declares none"
                                   : "; there is " + quoted_list(names));
}

const Layout* choose_layout(Reporter& report, const Layouts& layouts) {
  if (layouts.in_use || layouts.is_refused || layouts.waits) {
    return layouts.chosen;
  }
  if (layouts.asked.given) {
    return &*layouts.asked.given;
  }
  if (layouts.asked.one_rank || uses_one_rank(layouts)) {
    return nullptr;
  }
  const bool by_option = !layouts.asked.layout.empty();
  const std::string name = chosen_name(layouts);
  if (name.empty()) {
    return only_layout(layouts);
  }
  const Layout* layout = layout_named(layouts, name);
  if (layout != nullptr || (!by_option && !layouts.asked.rules.empty())) {
    return layout;
  }
  // Otherwise it may be one of those that could not be declared, or one that stands too late.
  if (report.sink().ok() && !layouts.written.contains(name)) {
    report.error(DiagKind::kUnknownLayout, by_option ? SourceSpan() : layouts.use->span,
                 no_layout_text(layouts, name, suggest(name, names_of(layouts.layouts))));
  }
  report.fail();
  return nullptr;
}

namespace {

bool is_by_statement(const Layouts& layouts, const Layout& layout) {
  return layouts.asked.layout.empty() && layouts.use && layouts.use->text == layout.name;
}

// A layout with nothing to search it for: where something asks for it, that is an error; else what
// there is stays on one rank.
void put_off(Reporter& report, Layouts& layouts, const Layout& layout) {
  const bool is_by_command = !layouts.asked.layout.empty() && !layouts.asked.in_session;
  if (is_by_command || is_by_statement(layouts, layout)) {
    refuse_unsearched(report, layout, is_by_command ? layout.span : layouts.use->span);
  }
  layouts.in_use.reset();
  layouts.waits = true;
}

}  // namespace

const Layout* awaited_layout(const Layouts& layouts) {
  const LayoutsAsked& asked = layouts.asked;
  if (!asked.in_session || layouts.in_use || layouts.is_refused || asked.one_rank || asked.given) {
    return nullptr;
  }
  const std::string name = chosen_name(layouts);
  const Layout* layout = name.empty() ? only_layout(layouts) : layout_named(layouts, name);
  return layout != nullptr && layout->automatic && !is_by_statement(layouts, *layout) ? layout
                                                                                      : nullptr;
}

bool put_in_use(Reporter& report, Layouts& layouts, Execution& execution) {
  if (layouts.is_used) {
    return !layouts.is_refused;
  }
  layouts.is_used = true;
  const std::size_t before = report.sink().errors();
  declare_from_options(report, layouts);
  if (const Layout* chosen = choose_layout(report, layouts)) {
    layouts.in_use = *chosen;
    if (find_rules(report, layouts.asked, *layouts.in_use)) {
      layouts.chosen = &*layouts.in_use;
      // The only layout of a session is so for the time being.
      if (!layouts.asked.in_session || !chosen_name(layouts).empty()) {
        check_sizes_taken(report, layouts, *chosen);
      }
    } else {
      put_off(report, layouts, *chosen);
    }
  }
  const std::span<const Layout> declared =  // a check is about all of them
      execution.checks_only() ? layouts.layouts : layouts_to_choose(layouts);
  const bool usable = report.sink().errors() == before && execution.use(layouts.chosen, declared);
  layouts.is_refused = !usable;
  if (!usable) {
    report.fail();
  }
  return usable;
}

bool is_put_off(const Layouts& layouts) {
  const Layout* awaited =
      layouts.is_used || !layouts.asked.puts_off ? nullptr : awaited_layout(layouts);
  return awaited != nullptr && layouts.asked.puts_off(*awaited);
}

}  // namespace mtf::host
