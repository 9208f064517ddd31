// How much less there might be than what a search found.

#include <limits>

#include <catch2/catch.hpp>

#include "frontend/report/search/search_report.h"

namespace mtf {
namespace {

TEST_CASE("how much less is possible has as many digits as tell it from all") {
  const auto text = [](double gap) { return gap_text({.gap = gap, .fits = true}); };
  CHECK(text(0) == "proven");
  CHECK(text(0.07) == "at most 6.5 % less is possible");
  CHECK(text(8) == "at most 89 % less is possible");
  CHECK(text(300) == "at most 99.7 % less is possible");
  CHECK(text(40000) == "at most 99.998 % less is possible");
  CHECK(text(std::numeric_limits<double>::infinity()) == "how much less is possible is not known");
}

}  // namespace
}  // namespace mtf
