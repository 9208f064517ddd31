// What the folder of `mtf verify` says of the files that it keeps.

#include "frontend/driver/originals/original.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

TEST_CASE(
    "a list of originals is read as it was written, but for what was not written to its end") {
  const Original replaced{.path = "/home/a b\n.npy", .size = 12, .kept_as = "/tmp/m/0"};
  const Original longer{.path = "/log new", .size = 0, .gets_lines = true};
  const Original made{.path = "/made", .size = std::nullopt};
  const std::string list = to_text(replaced) + to_text(longer) + to_text(made);
  const std::vector<Original> read = originals_in(list);
  REQUIRE(read.size() == 3);
  CHECK((read[0].path == replaced.path && read[0].kept_as == replaced.kept_as));
  CHECK((read[0].size == replaced.size && !read[0].gets_lines));
  CHECK((read[1].path == longer.path && read[1].size == longer.size && read[1].gets_lines));
  CHECK((read[2].path == made.path && !read[2].size && !read[2].gets_lines));
  CHECK(originals_in(std::string_view(list).substr(0, list.size() - 1)).size() == 2);
}

}  // namespace
}  // namespace mtf
