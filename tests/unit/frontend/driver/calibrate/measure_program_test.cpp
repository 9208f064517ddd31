// The programs whose times `mtf calibrate` takes do what their figures say.

#include "frontend/driver/calibrate/measure_program.h"

#include <array>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/layout/layout.h"
#include "lowering/lower.h"
#include "lowering/price/conversions.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

SpmdProgram plan_of(const Program& program) {
  DiagSink diags;
  std::optional<SpmdProgram> lowered = lower(program, one_rank(), op_table(), diags);
  REQUIRE(lowered);
  return *std::move(lowered);
}

}  // namespace

TEST_CASE("a chain of products has as many as it says, none of them left out as known already") {
  for (const std::int64_t side : {8, 64}) {
    const double one = 2.0 * static_cast<double>(side * side * side);
    for (const int length : {1, 2, 3, 17}) {
      CHECK(plan_of(chain_of_products(op_table(), side, length)).totals.flops == length * one);
    }
  }
}

TEST_CASE("a cast that is timed takes what it measures, and nothing else") {
  for (const auto& [narrow, widening, rounding] : kConversions) {
    const std::array pair = {narrow, wide_of(narrow)};
    for (const std::size_t from : {0U, 1U}) {
      const Program program = cast_program(op_table(), pair[from], pair[1 - from]);
      const SpmdProgram plan = plan_of(program);
      REQUIRE(plan.steps.size() == 1);
      REQUIRE(plan.steps.front().calls.size() == 1);
      const LocalCall& call = plan.steps.front().calls.front();
      const bool in_registers = narrow == DType::kBF16;
      const auto figure = from == 0 ? widening : rounding;
      CHECK(conversions_of(call.split->call) ==
            (in_registers ? std::vector<std::string_view>() : std::vector{figure}));
    }
  }
}

TEST_CASE("each small kernel of a chain is a step of its own") {
  for (const std::size_t length : {1U, 2U, 17U}) {
    CHECK(plan_of(chain_of_small_kernels(op_table(), static_cast<int>(length))).steps.size() ==
          2 * length);
  }
}

}  // namespace mtf
