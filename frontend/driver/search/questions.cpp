#include "frontend/driver/search/questions.h"

#include <cmath>
#include <vector>

#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {

std::optional<std::string> fit_ranks(Workspace& workspace, FileId file) {
  constexpr std::int64_t kMostRanks = 65'536;
  SearchOptions& asked = workspace.options.search;
  std::vector<Row> rows;
  for (asked.ranks = 1; asked.ranks <= kMostRanks; asked.ranks *= 2) {
    const auto program = SearchedProgram::read(workspace, file, std::nullopt, workspace.diags);
    if (program == nullptr) {
      return std::nullopt;
    }
    Searching searching(workspace, *program);
    if (searching.goal().memory <= 0) {
      workspace.diags.error(DiagKind::kMissingArgument, {},
                            "`--fit` needs `--memory SIZE`: the hardware does not say what a rank "
                            "may hold");
      return std::nullopt;
    }
    if (!searching.find(workspace.diags)) {
      return std::nullopt;
    }
    const Priced found = searching.whole();
    rows.push_back({count_text(asked.ranks, "rank"), bytes_text(found.peak_bytes),
                    rules_source(searching.answer())});
    if (static_cast<double>(found.peak_bytes) <= searching.goal().memory) {
      return "what the best layout takes on a rank, which holds " +
             bytes_text(static_cast<std::int64_t>(searching.goal().memory)) + "\n" +
             in_columns(rows, {.gap = 3, .right = {0, 1}}) + "\n";
    }
  }
  workspace.diags.error(DiagKind::kMemory, {},
                        "no layout was found that fits the memory of a rank, on up to " +
                            count_text(kMostRanks) + " ranks");
  return std::nullopt;
}

std::string sensitivity_text(Workspace& workspace, SearchedProgram& program) {
  constexpr int kMostTwofold = 6;  // 1/64 … 64
  SearchOptions& asked = workspace.options.search;
  const double budget = asked.budget;
  asked.budget = budget / (2 * kMostTwofold + 1);
  std::vector<Row> rows = {{asked.sensitivity, "time", "peak memory", "rules"}};
  std::string last;
  for (int power = -kMostTwofold; power <= kMostTwofold; ++power) {
    asked.factor = std::ldexp(1.0, power);
    Searching searching(workspace, program);
    DiagSink known;  // the search for the hardware as it is has told
    if (!searching.find(known)) {
      continue;
    }
    const Priced found = searching.whole();
    const std::string rules = rules_source(searching.answer());
    rows.push_back({power < 0 ? "1/" + shortest(1 / asked.factor) : shortest(asked.factor) + "x",
                    seconds_text(found.seconds), bytes_text(found.peak_bytes),
                    rules == last ? "the same" : rules});
    last = rules;
  }
  asked.factor = 1;
  asked.budget = budget;
  return "\nthe best layout where the " + asked.sensitivity + " of " +
         program.hardware(program.limits().fixed.mesh).name + " is another\n" +
         in_columns(rows, {.gap = 3, .right = {0, 1, 2}});
}

}  // namespace mtf
