// Slugs, the sink, and the search for a misspelt name.

#include "ir/support/diag.h"

#include <set>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

TEST_CASE("every kind has a slug of its own, in lower case") {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(DiagKind::kAssertion); ++i) {
    const std::string_view text = slug(static_cast<DiagKind>(i));
    CHECK_FALSE(text.empty());
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(seen.insert(text).second);
  }
  CHECK(slug(DiagKind::kUnknownDim) == "unknown-dim");
}

TEST_CASE("warnings are kept but are not errors") {
  DiagSink diags;
  diags.warning(DiagKind::kUnusedAxis, {}, "w");
  CHECK(diags.ok());
  diags.error(DiagKind::kSyntax, {}, "e");
  CHECK_FALSE(diags.ok());
  CHECK(diags.errors() == 1);
  CHECK(diags.diags().size() == 2);
}

TEST_CASE("a misspelt name finds the closest one") {
  const std::vector<std::string> names = {"batch", "hidden", "io", "heads", "d_model", "two_layer"};
  CHECK(closest("bacth", names) == "batch");    // neighbours swapped
  CHECK(closest("batc", names) == "batch");     // one missing
  CHECK(closest("batchh", names) == "batch");   // one too many
  CHECK(closest("bitch", names) == "batch");    // another one
  CHECK(closest("HIDDEN", names) == "hidden");  // letter case
  CHECK(closest("hiden", names) == "hidden");
  CHECK(closest("head", names) == "heads");
  CHECK(closest("dmodel", names) == "d_model");
  CHECK(closest("twolayer", names) == "two_layer");
  CHECK(closest("IO", names) == "io");
}

TEST_CASE("what is not close is not suggested") {
  const std::vector<std::string> names = {"batch", "hidden", "io", "x", "y"};
  CHECK(closest("rows", names).empty());
  CHECK(closest("oi", names).empty());  // of two letters, any two are close
  CHECK(closest("z", names).empty());
  CHECK(closest("catches", names).empty());
  CHECK(closest("batch", names).empty());  // itself is no suggestion
  CHECK(closest("", names).empty());
  CHECK(closest("x", {}).empty());
  CHECK(closest(std::string(1000, 'a'), std::vector<std::string>{std::string(1000, 'b')}).empty());
}

TEST_CASE("of several close names the nearest wins, then the first") {
  CHECK(closest("layer", std::vector<std::string>{"lawyers", "layers", "layes"}) == "layers");
}

TEST_CASE("a suggestion, or what there is instead") {
  const std::vector<std::string> names = {"rows", "cols"};
  CHECK(did_you_mean("rwos", names) == "; did you mean `rows`?");
  CHECK(did_you_mean("batch", names).empty());
  const std::vector<std::string> near = {"sqrt", "square", "sort", "sqrt", "srs", "art"};
  CHECK(did_you_mean("srt", near) == "; did you mean `sqrt`, `sort` or `srs`?");
  CHECK(did_you_mean("srot", near) == "; did you mean `sort`?");
  CHECK(did_you_mean("sr", near).empty());
  CHECK(did_you_mean("batch", names, "; there are two") == "; there are two");
}

}  // namespace
}  // namespace mtf
