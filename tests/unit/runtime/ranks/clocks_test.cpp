// Clocks of ranks.

#include "runtime/ranks/clocks.h"

#include <catch2/catch.hpp>

namespace mtf {

TEST_CASE("the quickest exchange tells how far a clock is ahead") {
  // 1000 ahead; the slow exchange was held up on its way back.
  const ClockReading reading =
      reading_of({{.sent = 0, .received = 1010, .answered = 1011, .returned = 91},
                  {.sent = 200, .received = 1204, .answered = 1206, .returned = 210}});
  CHECK(reading.at == 1204);
  CHECK(reading.ahead == 1000);
}

TEST_CASE("clocks closer than an exchange can tell are left alone") {
  CHECK(reading_of({{.sent = 0, .received = 30, .answered = 31, .returned = 50}}).ahead == 0);
}

TEST_CASE("a clock drifts evenly between two readings") {
  const ClockReading before{.at = 1000, .ahead = 100};
  const ClockReading after{.at = 3000, .ahead = 300};
  CHECK(on_first_clock(before, after, 1000) == 900);
  CHECK(on_first_clock(before, after, 2000) == 1800);
  CHECK(on_first_clock(before, after, 3000) == 2700);
  CHECK(on_first_clock({}, {}, 77) == 77);
}

}  // namespace mtf
