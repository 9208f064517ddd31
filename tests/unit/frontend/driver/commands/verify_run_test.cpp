#include "frontend/driver/commands/verify_run.h"

#include <algorithm>
#include <chrono>

#include <catch2/catch.hpp>

#include "ir/support/stop.h"

namespace mtf {
namespace {

SourceFile program() {
  return {.name = "a.mtf", .path = "", .text = R"(dim a = 4
fn twice(x: f32[a]) {
  return x + x
}
let x = normal([a], seed = 1)
print twice(x)
)"};
}

TEST_CASE("what roundings change is not known once the time is over", "[verify]") {
  Options options;
  SECTION("in time") {
    Workspace workspace(options);
    const RoundedRuns runs = rounded_runs(workspace, workspace.sources.add(program()));
    CHECK_FALSE(runs.ended);
    CHECK_FALSE(runs.traces.empty());
  }
  SECTION("too late") {
    options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    Workspace workspace(options);
    const RoundedRuns runs = rounded_runs(workspace, workspace.sources.add(program()));
    REQUIRE(runs.ended);
    CHECK(runs.traces.empty());
    CHECK(std::ranges::any_of(runs.ended->told,
                              [](const Diag& diag) { return diag.text == kTimeIsOver; }));
  }
}

}  // namespace
}  // namespace mtf
