// How tensors print.

#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

#include "ir/host_tensor.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

std::string shown(TensorType type, const std::vector<double>& numbers) {
  return format(tensor_of(std::move(type), numbers));
}

std::string scalar(DType dtype, double value) {
  return shown({.dtype = dtype, .shape = Shape()}, {value});
}

TEST_CASE("a scalar prints as its number") {
  CHECK(scalar(DType::kF32, 0.1) == "0.1");
  CHECK(scalar(DType::kF32, 1.0 / 3) == "0.333333");
  CHECK(scalar(DType::kF32, 1e10) == "1e+10");
  CHECK(scalar(DType::kF64, 1.0 / 3) == "0.333333333333");
  CHECK(scalar(DType::kI64, -3) == "-3");
  CHECK(scalar(DType::kU8, 200) == "200");
  CHECK(scalar(DType::kBool, 1) == "true");
  CHECK(scalar(DType::kF32, -std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(scalar(DType::kF64, std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("a tensor prints as NumPy prints an array, under its type") {
  CHECK(shown(f32({{"batch", 2}, {"io", 3}}), {1, 2.5, 3, -4, 5, 6}) ==
        "f32[batch 2, io 3]\n"
        "[[ 1.0  2.5  3.0]\n"
        " [-4.0  5.0  6.0]]");
  CHECK(shown(i32({{"a", 2}, {"b", 1}, {"c", 2}}), {1, -20, 3, 4}) ==
        "i32[a 2, b 1, c 2]\n"
        "[[[  1 -20]]\n"
        "\n"
        " [[  3   4]]]");
  CHECK(shown({.dtype = DType::kBool, .shape = shape({{"a", 2}})}, {1, 0}) ==
        "bool[a 2]\n[ true false]");
}

TEST_CASE("numbers get as many decimals as they need, up to four, or powers of ten") {
  CHECK(shown(f32({{"a", 3}}), {1.0 / 3, 2, 0.25}) == "f32[a 3]\n[0.3333 2.0000 0.2500]");
  CHECK(shown(f32({{"a", 2}}), {1e-6, 2}) == "f32[a 2]\n[1.0e-06 2.0e+00]");
  CHECK(shown(f64({{"a", 2}}), {1.25e12, -2}) == "f64[a 2]\n[ 1.25e+12 -2.00e+00]");
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(shown(f32({{"a", 3}}), {inf, nan, 1}) == "f32[a 3]\n[inf nan 1.0]");
  CHECK(shown(f32({{"a", 2}}), {-0.0, 0}) == "f32[a 2]\n[-0.0  0.0]");
}

TEST_CASE("long lines are broken") {
  std::vector<double> numbers(40);
  std::iota(numbers.begin(), numbers.end(), 0);
  CHECK(shown(i32({{"a", 40}}), numbers) ==
        "i32[a 40]\n"
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
}

TEST_CASE("more than 1000 elements are summarised") {
  std::vector<double> numbers(20 * 60);
  std::iota(numbers.begin(), numbers.end(), 0);
  CHECK(shown(i32({{"a", 20}, {"b", 60}}), numbers) ==
        "i32[a 20, b 60]\n"
        "[[   0    1    2 ...   57   58   59]\n"
        " [  60   61   62 ...  117  118  119]\n"
        " [ 120  121  122 ...  177  178  179]\n"
        " ...\n"
        " [1020 1021 1022 ... 1077 1078 1079]\n"
        " [1080 1081 1082 ... 1137 1138 1139]\n"
        " [1140 1141 1142 ... 1197 1198 1199]]");
}

TEST_CASE("print fills its places, and assert fails with its message") {
  Sketch s;
  const ValueId x = s.input(f32({}), {1.5});
  const ValueId v = s.input(i32({{"a", 2}}), {1, 2});
  s.call("print", {x, v}, args("text", std::string("{{loss}} {}: {}")));
  const ValueId holds = s.call("less", {x, s.builder().scalar(1, DType::kF32)});
  s.call("assert", {holds, x}, args("text", std::string("x is {}")));
  const Evaluation done = s.run();
  CHECK(done.printed == std::vector<std::string>{"{loss} 1.5: i32[a 2]\n[1 2]"});
  REQUIRE(done.failure);
  CHECK(done.failure->first == DiagKind::kAssertion);
  CHECK(done.failure->second == "x is 1.5");
}

}  // namespace
}  // namespace mtf::tests
