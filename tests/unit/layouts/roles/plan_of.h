// What a small program moves under one layout.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {

struct Moves {
  std::vector<std::string> kinds;  // of collectives, in their order
  std::int64_t received = 0;       // elements
};

[[nodiscard]] inline Moves moves_of(const Program& program, const Layout& layout) {
  DiagSink diags;
  const std::optional<SpmdProgram> plan = lower(program, layout, op_table(), diags);
  REQUIRE(plan);
  Moves moves;
  for (const Step& step : plan->steps) {
    if (is_collective(step.kind)) {
      moves.kinds.emplace_back(to_string(step.kind));
      moves.received += step.received;
    }
  }
  return moves;
}

// The dim over all ranks of a mesh of one axis.
[[nodiscard]] inline Layout over_all(const std::string& dim, std::int64_t ranks,
                                     bool uneven = false) {
  Layout layout{.name = "split", .mesh = mesh_of({ranks}), .rules = {}};
  layout.mesh.uneven = uneven;
  layout.rules.push_back({.dim = dim, .axes = {0}, .span = {}});
  return layout;
}

}  // namespace mtf::tests
