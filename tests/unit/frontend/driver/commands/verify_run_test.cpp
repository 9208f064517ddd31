#include "frontend/driver/commands/verify_run.h"

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
    CHECK_FALSE(rounded_runs(workspace, workspace.sources.add(program())).empty());
  }
  SECTION("too late") {
    options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    Workspace workspace(options);
    const FileId file = workspace.sources.add(program());
    const auto is_said = Catch::Matchers::Predicate<Failure>(
        [](const Failure& failure) { return failure.diag.text == kTimeIsOver; }, "it says so");
    CHECK_THROWS_MATCHES(rounded_runs(workspace, file), Failure, is_said);
    CHECK_THROWS_MATCHES(run_to_verify(workspace, file, {}), Failure, is_said);
  }
}

}  // namespace
}  // namespace mtf
