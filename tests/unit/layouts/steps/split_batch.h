// Programs whose dim b is split over an axis, so that their sums over it are all-reduces.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {

// b over the first axis and, where there is a second, c over that.
inline SpmdProgram split_plan(const std::string& text,
                              const std::vector<std::int64_t>& mesh = {4}) {
  Layout layout{.name = "l", .mesh = mesh_of(mesh)};
  layout.rules.push_back({.dim = "b", .axes = {0}, .span = {}});
  if (mesh.size() > 1) {
    layout.rules.push_back({.dim = "c", .axes = {1}, .span = {}});
  }
  DiagSink diags;
  std::optional<SpmdProgram> plan = lower(program_of(text), layout, op_table(), diags);
  REQUIRE(plan);
  return *std::move(plan);
}

// One rank's bits under every layout.
inline void check_bits(const std::string& text) {
  const Report report = compare_all(program_of(text), {{2}, {4}, {2, 2}});
  CHECK(report.legal > 3);
  CHECK(report.first_difference == "");
}

}  // namespace mtf::tests
