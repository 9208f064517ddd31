// What ranks did, added up over a run: `mtf run --count`.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// An entry that is called in several ways (a default given or left out, a number that its body
// reads of another size) is several programs: those that cost alike are counted together.
struct EntryCounts {
  std::string entry;      // a function called at top level
  std::int64_t form = 1;  // which of its programs, in the order of their first calls
  Totals planned;         // of one call
  std::int64_t calls = 0;
  Totals totals;  // over all its calls
};

struct RankCounts {
  std::int64_t rank = 0;
  std::vector<EntryCounts> entries;  // in the order of their first calls
  Totals totals;                     // of everything that ran
};

// Adds one run: its peak is a peak, everything else adds up. `parameters` stays as it is.
void add_run(Totals& sum, const Totals& run);

// `entry`: empty for a statement at top level. `planned`: what the plan says of the run.
void count_run(RankCounts& counts, std::string_view entry, const Totals& run,
               const Totals& planned);

}  // namespace mtf
