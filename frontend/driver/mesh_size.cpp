#include "frontend/driver/mesh_size.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/elaborate/context.h"
#include "ir/support/number.h"
#include "ir/support/text/lists.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostSimulated = 4096;

std::string started(std::int64_t ranks) {
  return plural(ranks, "rank") + (ranks == 1 ? " was started" : " were started");
}

// Whether the rules split every size of their dims evenly over a mesh of the layout's axes.
bool divides(const Layout& layout, const Mesh& mesh, const DimSizesSeen& seen) {
  const auto splits_evenly = [&](const Rule& rule) {
    const auto sizes = seen.find(rule.dim);
    std::int64_t ways = 1;
    for (const AxisId axis : rule.axes) {
      ways *= mesh.axes[axis].size;
    }
    return sizes == seen.end() || std::ranges::all_of(sizes->second, [ways](std::int64_t size) {
             return size % ways == 0;
           });
  };
  return layout.mesh.uneven ||
         (std::ranges::all_of(layout.rules, splits_evenly) &&
          std::ranges::all_of(layout.variables, [&](const VariableRules& block) {
            return std::ranges::all_of(block.rules, splits_evenly);
          }));
}

std::vector<std::string> fitting(std::span<const Layout> declared, std::int64_t ranks,
                                 const DimSizesSeen& seen) {
  std::vector<std::string> names;
  for (const Layout& layout : declared) {
    if (layout.mesh.ranks() == ranks && divides(layout, layout.mesh, seen)) {
      names.push_back("`--layout " + layout.name + "`");
    }
  }
  return names;
}

// All sizes of the axes from this one on that make so many ranks; the first axis takes most first.
// `divisors`: of the ranks, the largest first.
template <typename Take>
void for_each_size(Mesh& mesh, std::size_t axis, std::int64_t ranks,
                   std::span<const std::int64_t> divisors, const Take& take) {
  if (axis + 1 >= mesh.axes.size()) {
    if (axis < mesh.axes.size()) {
      mesh.axes[axis].size = ranks;
    }
    take(mesh);
    return;
  }
  for (const std::int64_t size : divisors) {
    if (ranks % size == 0) {
      mesh.axes[axis].size = size;
      for_each_size(mesh, axis + 1, ranks / size, divisors, take);
    }
  }
}

// Sizes that make the mesh fit, with as many axes as can be left as they are; empty: none do.
std::string resized(const Layout& layout, std::int64_t ranks, const DimSizesSeen& seen) {
  const Mesh& declared = layout.mesh;
  std::vector<std::int64_t> divisors;
  for (std::int64_t size = ranks; size >= 1; --size) {
    if (ranks % size == 0) {
      divisors.push_back(size);
    }
  }
  Mesh tried = declared;
  std::string best;
  std::size_t fewest = declared.axes.size() + 1;
  for_each_size(tried, 0, ranks, divisors, [&](const Mesh& mesh) {
    std::string text;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
      if (mesh.axes[i].size != declared.axes[i].size) {
        text +=
            (changed == 0 ? "" : ",") + mesh.axes[i].name + "=" + std::to_string(mesh.axes[i].size);
        ++changed;
      }
    }
    if (changed > 0 && changed < fewest && divides(layout, mesh, seen)) {
      fewest = changed;
      best = std::move(text);
    }
  });
  return best;
}

void chosen_does_not_fit(const Layout& chosen, std::span<const Layout> declared, std::int64_t ranks,
                         const DimSizesSeen& seen, DiagSink& diags) {
  std::vector<std::string> ways = {"`-n " + std::to_string(chosen.mesh.ranks()) + "`"};
  for (std::string& way : fitting(declared, ranks, seen)) {
    ways.push_back(std::move(way));
  }
  if (const std::string sizes = resized(chosen, ranks, seen); !sizes.empty()) {
    ways.push_back("`--mesh \"" + sizes + "\"`");
  }
  diags.error(DiagKind::kMeshSize, {},
              "layout `" + chosen.name + "` is for " + plural(chosen.mesh.ranks(), "rank") +
                  ", and " + started(ranks) + "; " + alternatives(ways) + " would do",
              {{.span = chosen.mesh.span, .text = "its mesh is `" + to_string(chosen.mesh) + "`"}});
}

void none_chosen(std::span<const Layout> declared, std::int64_t ranks, const DimSizesSeen& seen,
                 DiagSink& diags) {
  if (declared.empty()) {
    diags.error(DiagKind::kMeshSize, {},
                started(ranks) +
                    ", and the program uses no layout; `-n 1` or "
                    "`--mesh` with `--rules` would do");
    return;
  }
  std::vector<std::string> ways = fitting(declared, ranks, seen);
  if (ways.empty()) {
    std::set<std::int64_t> sizes;
    for (const Layout& layout : declared) {
      sizes.insert(layout.mesh.ranks());
    }
    for (const std::int64_t size : sizes) {
      if (const std::vector<std::string> fit = fitting(declared, size, seen); !fit.empty()) {
        ways.push_back("`-n " + std::to_string(size) + "` with " + alternatives(fit));
      }
    }
  }
  diags.error(DiagKind::kMeshSize, {},
              started(ranks) + ", and the program has " + std::to_string(declared.size()) +
                  " layouts, none of them chosen" +
                  (ways.empty() ? "" : "; " + alternatives(ways) + " would do"));
}

}  // namespace

DimSizesSeen sizes_of_dims(std::span<const Unit* const> units) {
  DimSizesSeen seen;
  for (const Unit* unit : units) {
    for (const Value& value : unit->program.values) {
      for (const Dim& dim : value.type.shape.dims()) {
        seen[dim.name].insert(dim.size);
      }
    }
  }
  return seen;
}

bool check_mesh_size(const Layout* chosen, std::span<const Layout> declared, std::int64_t ranks,
                     const DimSizesSeen& seen, DiagSink& diags) {
  if (chosen != nullptr && chosen->mesh.ranks() != ranks) {
    chosen_does_not_fit(*chosen, declared, ranks, seen, diags);
    return false;
  }
  if (chosen == nullptr && (ranks > 1 || !declared.empty())) {
    none_chosen(declared, ranks, seen, diags);
    return false;
  }
  return true;
}

bool check_simulated_size(const Layout& layout, std::string_view sizes, DiagSink& diags) {
  if (layout.mesh.ranks() <= kMostSimulated) {
    return true;
  }
  const bool is_resized = !sizes.empty();  // so that the file has nothing to do with it
  diags.error(DiagKind::kMeshSize, is_resized ? SourceSpan() : layout.mesh.span,
              (is_resized ? "`--mesh " + std::string(sizes) + "`: " : std::string()) + "`" +
                  to_string(layout.mesh) + "` has " + std::to_string(layout.mesh.ranks()) +
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

std::span<const Layout> not_chosen(const Session& session) {
  return session.layout() == nullptr ? session.layouts_to_choose() : std::span<const Layout>();
}

std::optional<Diag> missing_rank(std::int64_t rank, const Mesh& mesh,
                                 std::span<const Layout> others) {
  if (rank < mesh.ranks()) {
    return std::nullopt;
  }
  std::vector<std::string> with_it;
  for (const Layout& other : others) {
    if (rank < other.mesh.ranks()) {
      with_it.push_back("`--layout " + other.name + "`");
    }
  }
  std::string why = "; the ranks are 0 to " + std::to_string(mesh.ranks() - 1);
  if (!with_it.empty()) {
    why = ", as no layout is chosen; " + alternatives(with_it) + " has it";
  } else if (mesh.ranks() == 1) {
    why = "; the only one is 0";
  }
  return Diag{.kind = DiagKind::kMeshSize,
              .text = "there is no rank " + std::to_string(rank) + why};
}

}  // namespace mtf
