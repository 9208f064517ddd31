#include "frontend/driver/mesh_size.h"

#include <set>
#include <string>
#include <vector>

#include "frontend/elaborate/context.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostSimulated = 4096;

std::string started(std::int64_t ranks) {
  return plural(ranks, "rank") + (ranks == 1 ? " was started" : " were started");
}

std::vector<std::string> fitting(std::span<const Layout> declared, std::int64_t ranks) {
  std::vector<std::string> names;
  for (const Layout& layout : declared) {
    if (layout.mesh.ranks() == ranks) {
      names.push_back("`--layout " + layout.name + "`");
    }
  }
  return names;
}

// "a", "a or b", "a, b or c"
std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + names[i];
  }
  return text;
}

// Sizes that make the mesh fit: the first axis takes what is over. Empty if it does not divide.
std::string resized(const Mesh& mesh, std::int64_t ranks) {
  if (mesh.axes.empty()) {
    return "";
  }
  const std::int64_t others = mesh.ranks() / mesh.axes.front().size;
  if (others > 0 && ranks % others == 0) {
    return mesh.axes.front().name + "=" + std::to_string(ranks / others);
  }
  std::string text = mesh.axes.front().name + "=" + std::to_string(ranks);
  for (std::size_t i = 1; i < mesh.axes.size(); ++i) {
    text += "," + mesh.axes[i].name + "=1";
  }
  return text;
}

void chosen_does_not_fit(const Layout& chosen, std::span<const Layout> declared, std::int64_t ranks,
                         DiagSink& diags) {
  std::vector<std::string> ways = {"`-n " + std::to_string(chosen.mesh.ranks()) + "`"};
  for (std::string& way : fitting(declared, ranks)) {
    ways.push_back(std::move(way));
  }
  ways.push_back("`--mesh \"" + resized(chosen.mesh, ranks) + "\"`");
  diags.error(DiagKind::kMeshSize, {},
              "layout `" + chosen.name + "` is for " + plural(chosen.mesh.ranks(), "rank") +
                  ", and " + started(ranks) + "; " + alternatives(ways) + " would do",
              {{.span = chosen.mesh.span, .text = "its mesh is `" + to_string(chosen.mesh) + "`"}});
}

void none_chosen(std::span<const Layout> declared, std::int64_t ranks, DiagSink& diags) {
  if (declared.empty()) {
    diags.error(DiagKind::kMeshSize, {},
                started(ranks) +
                    ", and the program has no layout; `-n 1` or "
                    "`--mesh` with `--rules` would do");
    return;
  }
  std::vector<std::string> ways = fitting(declared, ranks);
  if (ways.empty()) {
    std::set<std::int64_t> sizes;
    for (const Layout& layout : declared) {
      sizes.insert(layout.mesh.ranks());
    }
    for (const std::int64_t size : sizes) {
      ways.push_back("`-n " + std::to_string(size) + "` with " +
                     alternatives(fitting(declared, size)));
    }
  }
  diags.error(DiagKind::kMeshSize, {},
              started(ranks) + ", and the program has " + std::to_string(declared.size()) +
                  " layouts, none of them chosen; " + alternatives(ways) + " would do");
}

}  // namespace

bool check_mesh_size(const Layout* chosen, std::span<const Layout> declared, std::int64_t ranks,
                     DiagSink& diags) {
  if (chosen != nullptr && chosen->mesh.ranks() != ranks) {
    chosen_does_not_fit(*chosen, declared, ranks, diags);
    return false;
  }
  if (chosen == nullptr && (ranks > 1 || !declared.empty())) {
    none_chosen(declared, ranks, diags);
    return false;
  }
  return true;
}

bool check_simulated_size(const Layout& layout, DiagSink& diags) {
  if (layout.mesh.ranks() <= kMostSimulated) {
    return true;
  }
  diags.error(DiagKind::kMeshSize, layout.mesh.span,
              "`" + to_string(layout.mesh) + "` has " + std::to_string(layout.mesh.ranks()) +
                  " ranks, more than the " + std::to_string(kMostSimulated) +
                  " that one process simulates; `mtf plan` takes any number");
  return false;
}

void warn_of_idle_mesh(std::string_view sizes, const Session& session, DiagSink& diags) {
  if (sizes.empty() || session.layout() != nullptr ||
      !session.context().layouts.in_regions.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (const Layout& layout : session.layouts()) {
    names.push_back("`--layout " + layout.name + "`");
  }
  diags.warning(DiagKind::kMeshSize, {},
                "`--mesh " + std::string(sizes) + "` changes nothing, as no layout is chosen; " +
                    (names.empty() ? "`--rules \"batch:rows\"` makes one"
                                   : alternatives(names) + " would do"));
}

std::optional<Diag> missing_rank(std::int64_t rank, const Mesh& mesh) {
  if (rank < mesh.ranks()) {
    return std::nullopt;
  }
  return Diag{.kind = DiagKind::kMeshSize,
              .text = "there is no rank " + std::to_string(rank) + "; the ranks are 0 to " +
                      std::to_string(mesh.ranks() - 1)};
}

}  // namespace mtf
