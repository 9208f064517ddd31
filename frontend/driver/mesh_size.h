// The number of ranks that were started against the layouts of the file.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "frontend/elaborate.h"
#include "ir/layout/layout.h"

namespace mtf {

// Of dims, by name, all sizes that tensors of a program have.
using DimSizesSeen = std::map<std::string, std::set<std::int64_t>>;
[[nodiscard]] DimSizesSeen sizes_of_dims(std::span<const Unit* const> units);

// False: the program cannot run on so many ranks; the error says what to change, as far as that
// splits all sizes that were seen.
[[nodiscard]] bool check_mesh_size(const Layout* chosen, std::span<const Layout> declared,
                                   std::int64_t ranks, const DimSizesSeen& seen, DiagSink& diags);

// False: the mesh, which may have its sizes from `--mesh`, has more ranks than one process
// simulates.
[[nodiscard]] bool check_simulated_size(const Layout& layout, std::string_view sizes,
                                        DiagSink& diags);

// Sizes of a mesh (`--mesh`) where no layout is in use, and no part of the program has one.
void warn_of_idle_mesh(std::string_view sizes, const Session& session, DiagSink& diags);

// Those that a program may be run under, where it is under none.
[[nodiscard]] std::span<const Layout> not_chosen(const Session& session);

// What is said of a rank that the mesh does not have. `others`: layouts that may be chosen instead.
[[nodiscard]] std::optional<Diag> missing_rank(std::int64_t rank, const Mesh& mesh,
                                               std::span<const Layout> others = {});

}  // namespace mtf
