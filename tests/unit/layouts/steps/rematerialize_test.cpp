// Cheap values are computed again in the chains that read them; dear ones are kept.

#include "lowering/steps/rematerialize.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// How often the plan computes what the user calls by the name.
std::int64_t times_computed(const SpmdProgram& plan, const std::string& name) {
  std::int64_t times = 0;
  for (const Step& step : plan.steps) {
    times += std::ranges::count_if(step.calls, [&](const LocalCall& call) {
      return call.origin.valid() && plan.source.at(call.origin).name == name;
    });
  }
  return times;
}

bool is_kept(const SpmdProgram& plan, const std::string& name) {
  return std::ranges::any_of(plan.values, [&](const SpmdValue& value) {
    return value.home == Home::kArena && plan.source.at(value.origin).name == name;
  });
}

SpmdProgram plan_of(const std::string& body) {
  return lowered(
      program_of("dim a = 64, b = 32, c = 4\nfn case(x: f32[a, b], y: f32[b]) {\n" + body + "}\n"),
      one_rank());
}

TEST_CASE("what is cheap is computed in each chain that reads it") {
  const SpmdProgram plan = plan_of(
      "  let z = x - y\n"
      "  let before = cumsum(z * 2, over = a)\n"
      "  return before * z\n");
  CHECK(times_computed(plan, "z") == 2);
  CHECK(!is_kept(plan, "z"));
}

TEST_CASE("what is cheap from something narrow is, too") {
  const SpmdProgram plan = plan_of(
      "  let narrow = cast(cumsum(x, over = b), bf16)\n"
      "  let z = cast(narrow, f32) - y\n"
      "  let before = cumsum(z * 2, over = a)\n"
      "  return before * z\n");
  CHECK(times_computed(plan, "z") == 2);
  CHECK(!is_kept(plan, "z"));
}

TEST_CASE("of what is wide and its narrow cast the narrow one is kept") {
  const SpmdProgram plan = plan_of(
      "  let narrow = cast(cumsum(x, over = b), bf16)\n"
      "  let z = cast(narrow, f32)\n"
      "  let top = max(z, over = a)\n"
      "  let before = cumsum((z - top) * 2, over = a)\n"
      "  return before * z\n");
  CHECK(times_computed(plan, "narrow") == 1);
  CHECK(is_kept(plan, "narrow"));
  CHECK(times_computed(plan, "z") == 3);
}

TEST_CASE("what is dear, or made of two such, or read by more than chains is kept") {
  const SpmdProgram dear = plan_of(
      "  let z = exp(x)\n"
      "  return cumsum(z * 2, over = a) * z\n");
  CHECK(times_computed(dear, "z") == 1);
  const SpmdProgram two = plan_of(
      "  let z = x * exp(x)\n"
      "  return cumsum(z * 2, over = a) * z\n");
  CHECK(times_computed(two, "z") == 1);
  const SpmdProgram read = plan_of(
      "  let z = x - y\n"
      "  return cumsum(z, over = a) * z\n");
  CHECK(times_computed(read, "z") == 1);
  CHECK(is_kept(read, "z"));
}

TEST_CASE("no bit depends on it") {
  const Report report = compare_all(program_of(R"(
dim a = 64, b = 32
fn case() {
  let x = normal([a, b], seed = 1)
  let narrow = cast(x, bf16)
  let z = cast(narrow, f32) - mean(x -> [b])
  let before = cumsum(z * 2, over = a)
  return before * z, sum(z * before -> [b]), sum(z * z)
}
)"),
                                    {{2}, {4}, {2, 2}});
  CHECK(report.legal > 3);
  INFO(report.first_difference);
  CHECK(report.first_difference.empty());
}

}  // namespace
}  // namespace mtf::tests
