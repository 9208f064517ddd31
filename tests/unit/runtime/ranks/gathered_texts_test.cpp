// Where the texts of ranks lie, and how many bytes of them there may be.

#include "runtime/ranks/gathered_texts.h"

#include <array>
#include <limits>

#include <catch2/catch.hpp>

#include "ir/support/diag.h"

namespace mtf {
namespace {

TEST_CASE("the texts of ranks lie one behind the other, empty ones too") {
  const std::array<std::int64_t, 4> lengths = {2, 0, 3, 1};
  const TextPlaces places = text_places(lengths);
  CHECK(places.bytes == 6);
  CHECK(places.begins == std::vector<int>{0, 2, 2, 5});
  CHECK(texts_at(places, "abcdef") == std::vector<std::string>{"ab", "", "cde", "f"});
}

TEST_CASE("texts are refused that are longer together than MPI counts") {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::array<std::int64_t, 2> most = {kMost - 5, 5};
  CHECK(text_places(most).bytes == static_cast<std::size_t>(kMost));
  const std::array<std::int64_t, 2> more = {kMost - 5, 6};
  CHECK_THROWS_AS(text_places(more), Failure);
  const std::array<std::int64_t, 3> far_more = {kMost, kMost, std::int64_t{1} << 40};
  CHECK_THROWS_AS(text_places(far_more), Failure);
}

}  // namespace
}  // namespace mtf
