// Planning can be ended from outside: it asks at every operation, and at every step of the plan.

#include "ir/support/stop.h"

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

struct Stopped {};

int left = 0;
std::int64_t before_now = 0;  // parts that were done
int ends = 0;

void count_down(std::int64_t done, std::int64_t of) {
  CHECK((done == 0 || done == before_now + 1));
  CHECK(done <= of);
  before_now = done;
  ends += done == of ? 1 : 0;
  if (--left < 0) {
    throw Stopped{};
  }
}

const std::string kChain =
    "dim n = 4\nmesh m = [x: 2]\nfn case() {\n  var y = normal([n], seed = 1)\n"
    "  for i in 0..100 { y = relu(sum(y) + y) }\n  return y\n}\n";

// Plans while it may ask so often. Whether it came to the end.
bool plans(int questions) {
  const Program program = program_of(kChain);
  const Layout layout{.name = "none", .mesh = mesh_of({2}), .rules = {}};
  left = questions;
  ends = 0;
  const StopQuestion before = ask_at_stop_points(count_down);
  DiagSink diags;
  bool done = false;
  try {
    done = lower(program, layout, op_table(), diags).has_value();
  } catch (const Stopped&) {
    done = false;
  }
  ask_at_stop_points(before);
  return done;
}

TEST_CASE("planning ends wherever it is told to") {
  CHECK_FALSE(plans(0));
  CHECK_FALSE(plans(250));  // of 300 operations
  CHECK_FALSE(plans(400));  // when they have become steps
  CHECK(plans(10'000));
  CHECK(ends == 2);  // all operations, all steps
}

}  // namespace
}  // namespace mtf::tests
