// Asynchronous all-reduces start where their terms are made and finish where a sum is first read.

#include "lowering/steps/async_reduces.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/loops/loops.h"
#include "tests/unit/layouts/steps/split_batch.h"

namespace mtf::tests {
namespace {

// The step that makes a value.
template <typename F>
std::size_t step_of(const SpmdProgram& plan, const F& is_meant) {
  const auto makes = [&](const Step& step) {
    return step.kind == StepKind::kKernel
               ? std::ranges::any_of(step.calls, is_meant, &LocalCall::result)
               : is_meant(step.to);
  };
  const auto found = std::ranges::find_if(plan.steps, makes);
  REQUIRE(found != plan.steps.end());
  return static_cast<std::size_t>(found - plan.steps.begin());
}
std::size_t step_named(const SpmdProgram& plan, const std::string& name) {
  return step_of(plan, [&](SpmdId id) { return id.valid() && plan.at(id).name == name; });
}

// Sums of more than a message that is packed.
constexpr const char* kTwo = R"(dim b = 16, c = 64, d = 192
fn case() {
  let x = normal([b, c], seed = 1)
  let y = normal([b, d], seed = 2)
  let first = einsum(x, y -> [c, d])
  let between = einsum(exp(y), square(y) -> [b])
  let last = exp(first) * 2
  return last, between
}
)";

TEST_CASE("a sum is in flight from where its terms are made to where it is read") {
  const SpmdProgram plan = split_plan(kTwo);
  const std::vector<AsyncReduce> found = async_reduces_of(plan);
  REQUIRE(found.size() == 1);
  const std::size_t reduced = step_named(plan, "first");
  CHECK(plan.steps[reduced].kind == StepKind::kAllReduce);
  CHECK(found[0].message.begin == reduced);
  const SpmdId terms = plan.steps[reduced].from;
  CHECK(found[0].start == step_of(plan, [&](SpmdId id) { return id == terms; }) + 1);
  CHECK(found[0].finish == step_named(plan, "last"));
  check_bits(kTwo);
}

TEST_CASE("a sum that is read at once is waited for, and so is one that others read the terms of") {
  const std::string text = R"(dim b = 16, c = 64, d = 192
fn case() {
  let x = normal([b, c], seed = 1)
  let y = normal([b, d], seed = 2)
  return exp(einsum(x, y -> [c, d]))
}
)";
  CHECK(async_reduces_of(split_plan(text)).empty());
}

TEST_CASE(
    "what goes in one message starts when all of it is there, and finishes for the first reader") {
  const std::string text = R"(dim b = 16, c = 6, d = 10
fn case() {
  let x = normal([b, c], seed = 1)
  let y = normal([b, d], seed = 2)
  let one = sum(x, over = b)
  let two = sum(y, over = b)
  let three = sum(square(x), over = [b, c])
  let between = einsum(exp(y), square(y) -> [b])
  let last = exp(two)
  return one, between, last, three
}
)";
  const SpmdProgram plan = split_plan(text);
  const std::vector<AsyncReduce> found = async_reduces_of(plan);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.size() == 3);
  CHECK(found[0].start < found[0].message.begin);
  CHECK(found[0].finish == step_named(plan, "last"));
  check_bits(text);
}

TEST_CASE("nothing is in flight at the mark of a loop") {
  const std::string text = R"(dim b = 16, c = 64, d = 192
fn case() {
  let x = normal([b, c], seed = 1)
  let y = normal([b, d], seed = 2)
  var total = zeros([c, d])
  var i = const([], 0, dtype = i32)
  while i < 3 {
    let moment = einsum(x * mean(total), y -> [c, d])
    let other = einsum(exp(y * mean(total)), y -> [d])
    total = total + moment * other
    i = i + 1
  }
  return total
}
)";
  const SpmdProgram plan = split_plan(text);
  const std::vector<std::size_t> segments = segments_of(plan);
  REQUIRE_FALSE(async_reduces_of(plan).empty());
  for (const AsyncReduce& reduce : async_reduces_of(plan)) {
    CHECK(segments[reduce.start] == segments[reduce.message.begin]);
    CHECK(segments[reduce.finish - 1] == segments[reduce.message.begin]);
  }
  check_bits(text);
}

}  // namespace
}  // namespace mtf::tests
