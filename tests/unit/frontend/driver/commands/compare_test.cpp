// How far two runs are apart.

#include "frontend/driver/commands/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

HostTensor tensor(const std::vector<float>& values) {
  HostTensor result{.type = {.dtype = DType::kF32,
                             .shape = Shape({{"a", static_cast<std::int64_t>(values.size())}})}};
  result.data.resize(values.size() * sizeof(float));
  std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}

}  // namespace

TEST_CASE("equal bits are no difference") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(difference(tensor({1, nan}), tensor({1, nan})));
}

TEST_CASE("one NaN is as good as another, one zero is not") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(difference(tensor({1, nan}), tensor({1, std::copysign(nan, -1.0F)})));
  const auto found = difference(tensor({0, 1}), tensor({-0.0F, 1}));
  REQUIRE(found);
  CHECK(found->only_signs);
  CHECK(found->absolute == 0);
}

TEST_CASE("what an entry gives and what it writes are compared, printed or not") {
  Trace one;
  one.results.push_back({.tensor = tensor({1}), .where = "what `f` gives"});
  one.files["out.npy"] = tensor({0});
  Trace many = one;
  CHECK_FALSE(difference(one, many));
  many.files["out.npy"] = tensor({-0.0F});
  CHECK(difference(one, many)->where == "`out.npy`");
  many.results.front().tensor = tensor({2});
  CHECK(difference(one, many)->where == "what `f` gives");
}

TEST_CASE("a difference is relative to the largest element") {
  const auto found = difference(tensor({0, 100}), tensor({1, 100}));
  REQUIRE(found);
  CHECK(found->absolute == 1);
  CHECK(found->relative == 0.01);
  CHECK(found->tolerance == 1e-5);
}

TEST_CASE("what is computed with narrow floats may be as far apart as they are exact") {
  Trace one;
  one.variables.emplace("m/w", tensor({1, 100}));
  Trace many;
  many.variables.emplace("m/w", tensor({1.1F, 100}));
  CHECK_FALSE(tolerated(*difference(one, many)));
  many.narrow = tolerance_of(DType::kF16);
  CHECK(tolerated(*difference(one, many)));
  many.variables.at("m/w") = tensor({2, 100});
  CHECK_FALSE(tolerated(*difference(one, many)));
  many.narrow = tolerance_of(DType::kBF16);
  CHECK(tolerated(*difference(one, many)));
  one.lines = many.lines = {"loss 3"};
  many.variables = one.variables;
  many.lines.front() = "gain 3";
  CHECK_FALSE(tolerated(*difference(one, many)));
}

TEST_CASE("a number against none, or another shape, is an infinite difference") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(difference(tensor({nan}), tensor({1}))->relative == infinite);
  CHECK(difference(tensor({1, 2}), tensor({1}))->relative == infinite);
}

TEST_CASE("of two runs, the worst place is named") {
  Trace a;
  a.seen.push_back({.tensor = tensor({1}), .where = "printed line 3"});
  a.variables.emplace("m/w", tensor({1, 2}));
  Trace b = a;
  CHECK_FALSE(difference(a, b));
  b.seen.front().tensor = tensor({1.0000001F});
  CHECK(difference(a, b)->where == "printed line 3");
  b.variables.at("m/w") = tensor({1, 3});
  CHECK(difference(a, b)->where == "`m/w`");
}

TEST_CASE("what is no more than roundings make of it is tolerated, a wrong gradient is not") {
  Trace one;
  one.variables.emplace("net/bias", tensor({3e-9F, -1e-9F}));  // of a gradient that is 0
  one.variables.emplace("net/w", tensor({1, 2}));
  std::vector<Trace> rounded(2, one);
  rounded.front().variables.at("net/bias") = tensor({1e-9F, -1e-9F});
  rounded.front().variables.at("net/w") = tensor({1, 2.0000005F});

  Trace many = one;
  many.variables.at("net/bias") = tensor({-5e-9F, 2e-9F});
  CHECK_FALSE(tolerated(*difference(one, many)));
  const auto found = difference(one, many, rounded);
  CHECK(found->rounding == Approx(2e-9));
  CHECK(tolerated(*found));

  many.variables.at("net/bias") = tensor({3e-9F, 1e-6F});  // one rank's terms were left out
  CHECK_FALSE(tolerated(*difference(one, many, rounded)));
  many.variables.at("net/bias") = one.variables.at("net/bias");
  many.variables.at("net/w") = tensor({1, 2.0001F});
  CHECK(difference(one, many, rounded)->where == "`net/w`");
  CHECK_FALSE(tolerated(*difference(one, many, rounded)));
}

TEST_CASE("a run that fell out otherwise, or has other whole numbers, is no measure of roundings") {
  Trace one;
  one.variables.emplace("w", tensor({1}));
  Trace many = one;
  many.variables.at("w") = tensor({2});
  std::vector<Trace> rounded(2, one);
  rounded[0].variables.at("w") = tensor({std::numeric_limits<float>::quiet_NaN()});
  rounded[1].variables.clear();
  CHECK(difference(one, many, rounded)->rounding == 0);

  HostTensor three = tensor({0});
  three.type.dtype = DType::kI32;
  HostTensor four = three;
  four.data.front() = std::byte{1};
  one.variables = {{"n", three}};
  many.variables = {{"n", four}};
  CHECK_FALSE(tolerated(*difference(one, many, std::vector{many})));
}

TEST_CASE("the same numbers with another text are a difference") {
  Trace a;
  a.lines = {"one", "two"};
  Trace b;
  b.lines = {"one", "three"};
  CHECK(difference(a, b)->where == "printed line 2");
  CHECK_FALSE(tolerated(*difference(a, b)));
}

TEST_CASE("numbers in text differ by what their last digits do not hide") {
  const auto apart = [](const std::string& x, const std::string& y) {
    Trace a;
    a.lines = {x};
    Trace b;
    b.lines = {y};
    return difference(a, b).value();
  };
  CHECK(tolerated(apart("[0.5 1.00000]", "[0.5 1.00001]")));
  CHECK(tolerated(apart("1.17521e-07", "1.17522e-07")));
  CHECK_FALSE(tolerated(apart("1.17521e-07", "1.17541e-07")));
  CHECK_FALSE(tolerated(apart("[0.5 1.0000]", "[0.5 1.0010]")));
  CHECK_FALSE(tolerated(apart("loss 0.5", "cost 0.5")));
  CHECK_FALSE(tolerated(apart("loss 0.5", "loss nan")));
}

}  // namespace mtf
