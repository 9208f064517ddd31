// Short all-reduces go in one message where nobody waits longer for it, and no bit depends on it.

#include "lowering/steps/bucket.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/price/price.h"
#include "tests/unit/layouts/steps/split_batch.h"

namespace mtf::tests {
namespace {

using Catch::Matchers::Contains;

// How many tensors go in each message of all-reduces, in order.
std::vector<std::size_t> messages_of(const SpmdProgram& plan) {
  std::vector<std::size_t> sizes;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].kind == StepKind::kAllReduce && !plan.steps[s].with_next) {
      sizes.push_back(message_of(plan, s).size());
    }
  }
  return sizes;
}

constexpr const char* kThree = R"(dim b = 16, c = 6, d = 10
fn case() {
  let x = normal([b, c], seed = 1)
  let y = normal([b, d], seed = 2)
  let one = sum(x, over = b)
  let two = sum(y, over = b)
  let three = sum(square(x), over = [b, c])
  return exp(one), exp(two), three * 2
}
)";

TEST_CASE("sums that are read at the end go in one message") {
  const SpmdProgram plan = split_plan(kThree);
  CHECK(messages_of(plan) == std::vector<std::size_t>{3});
  const CollectiveTotal& total = plan.totals.collectives.front();
  CHECK(total.calls == 3);
  CHECK(total.messages == 1);
  check_bits(kThree);
}

TEST_CASE("a sum does not wait for one that is yet to be computed from it") {
  const std::string text = R"(dim b = 16, c = 6
fn case() {
  let x = normal([b, c], seed = 1)
  let one = sum(x, over = b)
  let two = sum(square(x - one), over = b)
  let three = sum(exp(x), over = b)
  return one, two, three
}
)";
  const std::vector<std::size_t> sizes = messages_of(split_plan(text));
  CHECK(sizes.size() == 2);
  check_bits(text);
}

TEST_CASE("sums over other axes, of another dtype or joined otherwise go apart") {
  const std::string text = R"(dim b = 16, c = 6
fn case() {
  let x = normal([b, c], seed = 1)
  let n = range(b)
  let one = sum(x, over = b)
  let two = sum(x, over = c)
  let three = sum(n, over = b)
  let four = max(x, over = b)
  let five = sum(square(x), over = b)
  return one + 1, two + 1, three + 1, four + 1, five + 1
}
)";
  std::vector<std::size_t> sizes = messages_of(split_plan(text, {2, 2}));
  std::ranges::sort(sizes);
  CHECK(sizes == std::vector<std::size_t>{1, 1, 1, 2});
  check_bits(text);
}

TEST_CASE("a message is no longer than what goes in few exchanges, and of short tensors alone") {
  const std::int64_t full = kMostPacked / (4 * 4096);  // of 16 KiB
  const auto text = [](std::int64_t count, std::int64_t size) {
    std::string made = "dim b = 2, c = " + std::to_string(size) + "\nfn case() {\n";
    std::string results;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      made += "  let s" + number + " = sum(normal([b, c], seed = " + number + "), over = b)\n";
      results += (results.empty() ? "exp(s" : ", exp(s") + number + ")";
    }
    return made + "  return " + results + "\n}\n";
  };
  const std::vector<std::size_t> sizes = messages_of(split_plan(text(full + 3, 4096), {2}));
  CHECK(sizes == std::vector<std::size_t>{static_cast<std::size_t>(full), 3});
  CHECK(messages_of(split_plan(text(3, 8192), {2})) == std::vector<std::size_t>{3});
  CHECK(messages_of(split_plan(text(3, 8193), {2})) == std::vector<std::size_t>{1, 1, 1});
}

TEST_CASE("what a trip of a loop sums up goes with what the same trip sums up") {
  const std::string text = R"(dim b = 16, c = 6
fn case() {
  let x = normal([b, c], seed = 1)
  var i = const([], 0, dtype = i32)
  var one = zeros([c])
  var two = zeros([])
  let before = sum(x, over = b)
  while i < 3 {
    one = one + sum(x * two, over = b)
    two = two + sum(exp(x))
    i = i + 1
  }
  return before, one, two
}
)";
  const SpmdProgram plan = split_plan(text);
  std::vector<std::size_t> sizes = messages_of(plan);
  std::ranges::sort(sizes);
  CHECK(sizes.back() <= 2);
  check_bits(text);
}

TEST_CASE("of a message the latency is paid once, and its copies") {
  Hardware hardware{.name = "test", .flops = 1e12, .memory = {{1, 1e11}}};
  hardware.link = {.latency = 1e-3, .bandwidth = 1e9};
  const SpmdProgram plan = split_plan(kThree);
  SpmdProgram apart = plan;
  double packed = 0;
  for (Step& step : apart.steps) {
    packed += step.kind == StepKind::kAllReduce
                  ? static_cast<double>(plan.at(step.from).local.bytes())
                  : 0.0;
    step.with_next = false;
  }
  const double latencies =
      2 * collective_seconds(StepKind::kAllReduce, 0, plan.mesh, Axes{0}, hardware);
  CHECK(price(apart, hardware).seconds() - price(plan, hardware).seconds() ==
        Approx(latencies - 4 * packed / 1e11));
}

TEST_CASE("a plan with a message of what does not fit is refused") {
  const auto broken = [](const std::function<void(SpmdProgram&, std::size_t)>& breaks) {
    SpmdProgram plan = split_plan(kThree);
    const auto found = std::ranges::find(plan.steps, true, &Step::with_next);
    REQUIRE(found != plan.steps.end());
    breaks(plan, static_cast<std::size_t>(found - plan.steps.begin()));
    return verify(plan);
  };
  CHECK(broken([](SpmdProgram&, std::size_t) {}) == "");
  CHECK_THAT(broken([](SpmdProgram& plan, std::size_t first) {
               plan.steps[message_of(plan, first).end - 1].with_next = true;
             }),
             Contains("is nothing that goes in one message with others"));
}

TEST_CASE("a plan that joins sums and maxima in one message is refused") {
  SpmdProgram plan = split_plan(R"(dim b = 16, c = 6
fn case() {
  let x = normal([b, c], seed = 1)
  return sum(x, over = b), max(x, over = b)
}
)");
  const auto is_sum = [](const Step& step) { return step.kind == StepKind::kAllReduce; };
  const auto first = std::ranges::find_if(plan.steps, is_sum);
  const auto second = std::find_if(std::next(first), plan.steps.end(), is_sum);
  REQUIRE(second != plan.steps.end());
  REQUIRE(first->combine != second->combine);
  std::rotate(first, std::next(first), second);
  CHECK(verify(plan) == "");
  REQUIRE(is_sum(plan.steps.back()));
  plan.steps.back().with_next = true;
  CHECK_THAT(verify(plan), Contains("goes in one message with a step that is not there"));
  plan.steps.back().with_next = false;
  std::prev(second)->with_next = true;
  CHECK_THAT(verify(plan), Contains("goes in one message with what it does not fit"));
}

}  // namespace
}  // namespace mtf::tests
