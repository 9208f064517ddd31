// What is asked beside the best layout: on how few ranks the program fits, how it fares as ranks
// grow, and how the answer depends on the hardware.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "frontend/driver/search/searching.h"
#include "frontend/report/search/scale_report.h"

namespace mtf {

// `--fit`: a search on the smallest number of ranks on which a layout fits the memory of a rank,
// which the program is about from then on; and what each number that was looked at takes.
struct Fitted {
  std::vector<TriedRanks> tried;
  std::unique_ptr<Searching> searching;
};
// nullopt after an error.
[[nodiscard]] std::optional<Fitted> fit_ranks(Workspace& workspace, SearchedProgram& program);

// `--scale`: the best layout on each number of ranks, a dim growing with them; nullopt after an
// error.
[[nodiscard]] std::optional<ScaleReport> scaled(Workspace& workspace, SearchedProgram& program);

// What the program would take under the answer without each of its `recompute` blocks. The programs
// are built anew: nothing is to be searched behind it.
void add_recomputed(const Workspace& workspace, SearchedProgram& program, Searching& searching,
                    SearchReport& report);

// `--sensitivity`: the best layout where a figure of the hardware is some times what it is.
void add_sensitivity(Workspace& workspace, SearchedProgram& program, Searching& searching,
                     SearchReport& report);

}  // namespace mtf
