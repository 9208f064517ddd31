// What one entry costs under one layout: the plan, priced.

#pragma once

#include "lowering/memory/peak.h"
#include "lowering/price/price.h"
#include "lowering/price/terms.h"

namespace mtf {

struct Cost {
  SpmdProgram program;
  Hardware hardware;
  Prices prices;
  Peak peak;
  CostTerms terms;
  std::vector<double> collective_seconds;  // for each of totals.collectives
  double useful_flops = 0;                 // that one rank alone would need

  // The steps that take longest, the longest first.
  [[nodiscard]] std::vector<std::size_t> slowest(std::size_t count) const;
  [[nodiscard]] double ranks() const { return static_cast<double>(program.mesh.ranks()); }
  [[nodiscard]] std::int64_t received_bytes() const;
  // The part of all ranks' flops, as the busiest one has them, that repeats what another rank does
  // as well or that shorter blocks lack; 0 to 1.
  [[nodiscard]] double replicated() const;
  // Useful flops over what the ranks' peak rate would do in the predicted time; 0 to 1. (What GSPMD
  // and Mesh-TensorFlow report: work repeated by the layout does not count.)
  [[nodiscard]] double utilization() const;
};

// `useful_flops`: of the program on one rank.
[[nodiscard]] Cost cost_of(SpmdProgram program, const Hardware& hardware, double useful_flops);

}  // namespace mtf
