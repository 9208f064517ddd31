// `*` in paths.

#include "ir/layout/glob.h"

#include <catch2/catch.hpp>

namespace mtf::tests {

TEST_CASE("a glob names what a path begins with, up to a slash") {
  CHECK(matches_path("net/w", "net/w"));
  CHECK(matches_path("net/w", "net/w/adam/m"));
  CHECK_FALSE(matches_path("net/w", "net/w2"));
  CHECK_FALSE(matches_path("net/w", "net"));
  CHECK(matches_path("*/w", "a/b/w/adam/m"));
  CHECK(matches_path("/w", "/w"));
  CHECK_FALSE(matches_whole("net/w", "net/w/adam/m"));
  CHECK(matches_whole("*a*", "banana"));
  CHECK_FALSE(matches_whole("*ab", "banana"));
}

TEST_CASE("a path is renamed from glob to glob, with what each star stands for") {
  CHECK(renamed_path("vit/encoder/w", "vit/encoder/*", "enc/*") == "enc/w");
  CHECK(renamed_path("vit/encoder/w/adam/m", "vit/encoder", "enc") == "enc/w/adam/m");
  CHECK(renamed_path("vit/layer_3/w", "vit/layer_*/w", "model.layers.*.weight") ==
        "model.layers.3.weight");
  CHECK(renamed_path("a/b/c", "*/*/c", "*.*") == "a.b");
  CHECK(renamed_path("a/", "a/*", "b/*") == "b/");
  CHECK(renamed_path("net/w", "*", "model/*") == "model/net/w");
  CHECK_FALSE(renamed_path("net/w", "other/*", "b/*").has_value());
}

}  // namespace mtf::tests
