// Results on one rank against numbers worked out by hand or by a straightforward loop.

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include "stdlib/ops/table.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

using List = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The result of one operation on vectors of a dtype along one dim.
List apply(std::string_view op, DType dtype, const std::vector<List>& operands, OpArgs more = {}) {
  Sketch s;
  std::vector<ValueId> x;
  for (const List& numbers : operands) {
    const auto n = static_cast<std::int64_t>(numbers.size());
    x.push_back(s.input({.dtype = dtype, .shape = shape({{"a", n}})}, numbers));
  }
  return s.numbers(s.call(op, x, std::move(more)));
}

void check_same(const List& found, const List& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i);
    if (std::isnan(wanted[i])) {
      CHECK(std::isnan(found[i]));
    } else {
      CHECK(found[i] == Approx(wanted[i]).epsilon(1e-6));
      CHECK(std::signbit(found[i]) == std::signbit(wanted[i]));
    }
  }
}

TEST_CASE("whole numbers divide as in Python, and by zero give 0") {
  const List a = {7, -7, 7, -7, 5, 0, -2147483648.0};
  const List b = {3, 3, -3, -3, 0, 4, -1};
  CHECK(apply("floordiv", DType::kI32, {a, b}) == List{2, -3, -3, 2, 0, 0, -2147483648.0});
  CHECK(apply("mod", DType::kI32, {a, b}) == List{1, 2, -2, -1, 0, 0, 0});
  CHECK(apply("floordiv", DType::kI64, {{-1}, {2}}) == List{-1});
}

TEST_CASE("floats divide down as in Python") {
  check_same(apply("floordiv", DType::kF64, {{7, -7, 7.5, -0.0, 1, -1}, {3, 3, -2, 2, 0, 0}}),
             {2, -3, -4, -0.0, kInf, -kInf});
  check_same(apply("mod", DType::kF32, {{7, -7, 7.5, -4, 1}, {3, 3, -2, 2, 0}}),
             {1, 2, -0.5, 0, kNaN});
  check_same(
      apply("floordiv", DType::kF32, {{-1, 1, -1, 1e30, -1e-20}, {kInf, -kInf, -kInf, 3, 3}}),
      {-1, -1, 0, 3.3333334e29, -1});
}

// Of x to a power that is known when the program is built.
List powers(DType dtype, const List& x, double exponent) {
  Sketch s;
  const auto n = static_cast<std::int64_t>(x.size());
  const ValueId base = s.input({.dtype = dtype, .shape = shape({{"a", n}})}, x);
  const ValueId y = s.call("pow", {base, s.builder().scalar(exponent, dtype)});
  CHECK(s.type_of(y).dtype == dtype);
  return s.numbers(y);
}

TEST_CASE("a power that is known has the limits of any other") {
  const List x = {-2, 1.5, 0, -kInf, kInf, kNaN, 3};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    for (const double exponent : {2.0, 3.0, 4.0, -1.0, 5.0, 1.0, 0.0}) {
      INFO(to_string(dtype) << " ** " << exponent);
      List wanted;
      for (const double each : x) {
        wanted.push_back(std::pow(each, exponent));
      }
      const List found = powers(dtype, x, exponent);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double rounding = dtype == DType::kBF16 ? 4e-3 : 1e-6;
        CHECK((std::isnan(wanted[i]) ? std::isnan(found[i])
                                     : found[i] == Approx(wanted[i]).epsilon(rounding)));
      }
    }
  }
  check_same(powers(DType::kF64, {4, 0, 2}, 0.5), {2, 0, std::sqrt(2.0)});
  CHECK(powers(DType::kI32, {-3, 70000, 2}, 2) == List{9, 605032704.0, 4});
  CHECK(powers(DType::kI64, {-3, 2000000, 2}, 3) == List{-27, 8e18, 8});
  CHECK(powers(DType::kI32, {-1, 5, 1}, -1) == List{-1, 0, 1});
}

TEST_CASE("a square that is written as a power is one") {
  Sketch s;
  const ValueId x = s.input({.dtype = DType::kF32, .shape = shape({{"a", 2}})}, {1, 2});
  const ValueId y = s.call("pow", {x, s.builder().scalar(2, DType::kF32)});
  CHECK(s.program().at(y).op->name == "square");
  const ValueId exponents = s.input({.dtype = DType::kF32, .shape = shape({{"a", 2}})}, {2, 2});
  CHECK(s.program().at(s.call("pow", {x, exponents})).op->name == "pow");
}

TEST_CASE("whole numbers wrap") {
  CHECK(apply("add", DType::kI32, {{2147483647}, {1}}) == List{-2147483648.0});
  CHECK(apply("sub", DType::kI32, {{-2147483648.0}, {1}}) == List{2147483647});
  CHECK(apply("mul", DType::kI32, {{65536}, {65536}}) == List{0});
  CHECK(apply("neg", DType::kI32, {{-2147483648.0}}) == List{-2147483648.0});
  CHECK(apply("abs", DType::kI32, {{-2147483648.0, -3}}) == List{-2147483648.0, 3});
}

TEST_CASE("powers") {
  check_same(apply("pow", DType::kF64, {{-2, 4, 0, 2, -8}, {3, 0.5, 0, -1, 1.0 / 3}}),
             {-8, 2, 1, 0.5, kNaN});
  CHECK(apply("pow", DType::kI64, {{-2, 3, 2, 1, -1, 0}, {3, 0, -1, -5, -3, 0}}) ==
        List{-8, 1, 0, 1, -1, 1});
}

TEST_CASE("NaN wins in minimum, maximum, max and min") {
  check_same(apply("minimum", DType::kF64, {{1, kNaN, 3, 0.0}, {2, 2, kNaN, -0.0}}),
             {1, kNaN, kNaN, -0.0});
  check_same(apply("maximum", DType::kF32, {{1, kNaN, 3, -0.0}, {2, 2, kNaN, 0.0}}),
             {2, kNaN, kNaN, 0.0});
  check_same(apply("max", DType::kF64, {{1, kNaN, 3}}), {kNaN});
  check_same(apply("min", DType::kF64, {{1, kNaN, 3}}), {kNaN});
  check_same(apply("max", DType::kF64, {{-kInf, -kInf}}), {-kInf});
}

TEST_CASE("comparisons with NaN are false, but for `!=`") {
  const std::vector<List> x = {{1, 2, kNaN, kNaN}, {2, 2, 2, kNaN}};
  CHECK(apply("less", DType::kF64, x) == List{1, 0, 0, 0});
  CHECK(apply("less_equal", DType::kF64, x) == List{1, 1, 0, 0});
  CHECK(apply("greater", DType::kF64, x) == List{0, 0, 0, 0});
  CHECK(apply("greater_equal", DType::kF64, x) == List{0, 1, 0, 0});
  CHECK(apply("equal", DType::kF64, x) == List{0, 1, 0, 0});
  CHECK(apply("not_equal", DType::kF64, x) == List{1, 0, 1, 1});
  CHECK(apply("less", DType::kU8, {{200, 3}, {100, 4}}) == List{0, 1});
}

TEST_CASE("logic") {
  CHECK(apply("logical_and", DType::kBool, {{0, 0, 1, 1}, {0, 1, 0, 1}}) == List{0, 0, 0, 1});
  CHECK(apply("logical_or", DType::kBool, {{0, 0, 1, 1}, {0, 1, 0, 1}}) == List{0, 1, 1, 1});
  CHECK(apply("logical_not", DType::kBool, {{0, 1}}) == List{1, 0});
  CHECK(apply("any", DType::kBool, {{0, 1, 0}}) == List{1});
  CHECK(apply("all", DType::kBool, {{1, 1, 0}}) == List{0});
}

TEST_CASE("element-wise functions have the values of the C library") {
  const List x = {-1.5, -0.2, 0.0, 0.7, 3.0};
  const auto same = [&](std::string_view op, double (*f)(double), const List& at) {
    INFO(op);
    List wanted;
    for (const double value : at) {
      wanted.push_back(f(value));
    }
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const List found = apply(op, dtype, {at});
      for (std::size_t i = 0; i < at.size(); ++i) {
        CHECK(found[i] == Approx(wanted[i]).epsilon(dtype == DType::kF32 ? 1e-6 : 1e-13));
      }
    }
  };
  same(
      "exp", [](double v) { return std::exp(v); }, x);
  same(
      "expm1", [](double v) { return std::expm1(v); }, x);
  same(
      "sin", [](double v) { return std::sin(v); }, x);
  same(
      "cos", [](double v) { return std::cos(v); }, x);
  same(
      "tanh", [](double v) { return std::tanh(v); }, x);
  same(
      "sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }, x);
  same(
      "silu", [](double v) { return v / (1 + std::exp(-v)); }, x);
  same(
      "softplus", [](double v) { return std::log1p(std::exp(v)); }, x);
  same(
      "relu", [](double v) { return v > 0 ? v : 0.0; }, x);
  same("log", [](double v) { return std::log(v); }, {0.1, 1, 2, 700});
  same("log1p", [](double v) { return std::log1p(v); }, {-0.5, 1e-9, 2, 700});
  same("sqrt", [](double v) { return std::sqrt(v); }, {0, 0.1, 1, 2, 700});
  same("rsqrt", [](double v) { return 1 / std::sqrt(v); }, {0.1, 1, 2, 700});
  same("reciprocal", [](double v) { return 1 / v; }, {0.1, -1, 2, 700});
  check_same(apply("gelu", DType::kF32, {{-1, 0, 2}}), {-0.158808, 0, 1.954598});
  check_same(apply("sign", DType::kF32, {{-3, 0, 2, kNaN}}), {-1, 0, 1, kNaN});
}

// The table's own check of values: for plain numbers an operation asks the C library.
TEST_CASE("every function of one number is on tensors what it is on plain numbers") {
  List points = {-1000, -30, -6, 6, 30, 1000};
  for (double x = -4; x <= 4; x += 0.125) {
    points.push_back(x);
  }
  for (const OpDef* op : op_table()) {
    if (op->host == nullptr || op->params.size() != 1 || op->symbol == "not") {
      continue;
    }
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const List found = apply(op->name, dtype, {points});
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double wanted = op->host(std::span(&points[i], 1));
        INFO(op->name << "(" << points[i] << ")");
        CHECK((std::isnan(wanted) ? std::isnan(found[i])
               : dtype == DType::kF32
                   ? static_cast<float>(found[i]) ==
                         Approx(static_cast<float>(wanted)).epsilon(1e-6).margin(1e-7)
                   : found[i] == Approx(wanted).epsilon(1e-14).margin(1e-14)));
      }
    }
  }
}

TEST_CASE("casts cut off towards zero, stop at the end of the range, and take NaN for 0") {
  const auto cast = [](DType from, DType to, const List& x) {
    return apply("cast", from, {x}, args("dtype", to));
  };
  const List x = {1.9, -1.9, 3e9, -3e9, kNaN, kInf, -2147483648.0};
  const List wanted = {1, -1, 2147483647, -2147483648.0, 0, 2147483647, -2147483648.0};
  CHECK(cast(DType::kF64, DType::kI32, x) == wanted);
  CHECK(cast(DType::kF32, DType::kI32, x) == wanted);
  CHECK(cast(DType::kF32, DType::kU8, {300, -4, 255.5, -0.5}) == List{255, 0, 255, 0});
  CHECK(cast(DType::kF32, DType::kBool, {0, -0.0, 0.1, kNaN}) == List{0, 0, 1, 1});
  CHECK(cast(DType::kI32, DType::kU8, {257}) == List{1});
  CHECK(cast(DType::kBool, DType::kF32, {0, 1}) == List{0, 1});
  CHECK(cast(DType::kF64, DType::kI64, {1e30, -1e30})[0] == 0x1p63);
  CHECK(cast(DType::kF32, DType::kI8, {300, -300, 127.9, kNaN}) == List{127, -128, 127, 0});
  CHECK(cast(DType::kBF16, DType::kI16, {1e9, -1e9, -2.5, kInf}) == List{32767, -32768, -2, 32767});
  CHECK(cast(DType::kI32, DType::kI8, {128, -129, 256}) == List{-128, 127, 0});
  CHECK(cast(DType::kI8, DType::kU8, {-1}) == List{255});
}

TEST_CASE("casts to bf16 and f16 round once") {
  const auto cast = [](DType from, DType to, const List& x) {
    return apply("cast", from, {x}, args("dtype", to));
  };
  // Through f32 each of these would become a tie, and that an even number.
  CHECK(cast(DType::kF64, DType::kBF16, {1 + 0x1p-8 + 0x1p-40}) == List{1 + 0x1p-7});
  CHECK(cast(DType::kF64, DType::kF16, {1 + 0x1p-11 + 0x1p-40}) == List{1 + 0x1p-10});
  CHECK(cast(DType::kI64, DType::kBF16, {0x1p40 + 0x1p32 + 1}) == List{0x1p40 + 0x1p33});
  CHECK(cast(DType::kI64, DType::kBF16, {-(0x1p62 + 0x1p54 + 1024)}) == List{-(0x1p62 + 0x1p55)});
  CHECK(cast(DType::kI32, DType::kBF16, {0x1p30 + 0x1p22 + 1}) == List{0x1p30 + 0x1p23});
  CHECK(cast(DType::kI32, DType::kF16, {65519, 65520, -2049}) == List{65504, kInf, -2048});
  CHECK(cast(DType::kF16, DType::kBF16, {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-10}) == List{1, 1 + 0x1p-7});
}

TEST_CASE("narrow floats compute as f32, and round each result") {
  constexpr double kStep = 0x1p-7;  // of bf16 above 1
  CHECK(apply("add", DType::kBF16, {{256}, {1}}) == List{256});
  CHECK(apply("mul", DType::kBF16, {{1 + kStep}, {1 + kStep}}) == List{1 + 2 * kStep});
  CHECK(apply("exp", DType::kF16, {{0, 12}}) == List{1, kInf});
  CHECK(apply("less", DType::kBF16, {{1, kNaN}, {2, 2}}) == List{1, 0});
  // 1 + 300 x 2^-9: each term alone would be lost.
  List terms(301, 0x1p-9);
  terms[0] = 1;
  CHECK(apply("sum", DType::kBF16, {terms}) == List{1.5859375});
  CHECK(apply("mean", DType::kBF16, {List(1000, 3)}) == List{3});
  CHECK(apply("sum", DType::kF16, {List(100, 1000)}) == List{kInf});
  CHECK(apply("mean", DType::kF16, {List(100, 1000)}) == List{1000});
  CHECK(apply("sum", DType::kF16, {List(100, 1000)}, args("dtype", DType::kF32)) == List{100000});
}

TEST_CASE("narrow integers wrap around") {
  CHECK(apply("add", DType::kI8, {{127}, {1}}) == List{-128});
  CHECK(apply("mul", DType::kI16, {{256}, {256}}) == List{0});
  CHECK(apply("abs", DType::kI8, {{-128}}) == List{-128});
  CHECK(apply("floordiv", DType::kI8, {{-128, 7}, {-1, 0}}) == List{-128, 0});
  CHECK(apply("sum", DType::kI8, {List(200, 1)}) == List{-56});
  CHECK(apply("sum", DType::kI8, {List(200, 1)}, args("dtype", DType::kI32)) == List{200});
  CHECK(apply("left_shift", DType::kI8, {{1, 1, 3}, {7, 8, 6}}) == List{-128, 0, -64});
}

TEST_CASE("`where` picks elements, and never mixes them") {
  Sketch s;
  const ValueId c = s.input({.dtype = DType::kBool, .shape = shape({{"a", 2}})}, {1, 0});
  const ValueId x = s.input(f32({{"a", 2}}), {1, kNaN});
  const ValueId y = s.input(f32({{"b", 2}, {"a", 2}}), {kInf, 3, kNaN, 4});
  const ValueId z = s.call("where", {c, x, y});
  CHECK(s.type_of(z) == f32({{"b", 2}, {"a", 2}}));
  CHECK(s.numbers(z) == List{1, 3, 1, 4});
}

TEST_CASE("operands match by name, whatever the order of their dims") {
  Sketch s;
  const ValueId x = s.input(f32({{"a", 2}, {"b", 3}}), {1, 2, 3, 4, 5, 6});
  const ValueId y = s.input(f32({{"b", 3}, {"a", 2}}), {10, 40, 20, 50, 30, 60});
  CHECK(s.numbers(s.call("add", {x, y})) == List{11, 22, 33, 44, 55, 66});
  const ValueId v = s.input(f32({{"c", 2}}), {100, 200});
  const ValueId w = s.call("add", {v, s.input(f32({{"b", 2}}), {1, 2})});
  CHECK(s.type_of(w) == f32({{"c", 2}, {"b", 2}}));
  CHECK(s.numbers(w) == List{101, 102, 201, 202});
}

TEST_CASE("reductions take dims, a shape in any order, or everything") {
  Sketch s;
  const ValueId x =
      s.input(f32({{"a", 2}, {"b", 3}, {"c", 2}}), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const ValueId over = s.call("sum", {x}, args("over", dim("b")));
  CHECK(s.type_of(over) == f32({{"a", 2}, {"c", 2}}));
  CHECK(s.numbers(over) == List{9, 12, 27, 30});
  const ValueId turned = s.call("sum", {x}, args("to", shape({{"c", 2}, {"a", 2}})));
  CHECK(s.numbers(turned) == List{9, 27, 12, 30});
  CHECK(s.numbers(s.call("sum", {x})) == List{78});
  CHECK(s.numbers(s.call("mean", {x}, args("over", dims({{"a", 2}, {"c", 2}})))) ==
        List{4.5, 6.5, 8.5});
  CHECK(s.numbers(s.call("max", {x}, args("over", dim("a")))) == List{7, 8, 9, 10, 11, 12});
  CHECK(s.numbers(s.call("min", {x}, args("to", shape({{"b", 3}})))) == List{1, 3, 5});
  CHECK(s.numbers(s.call("prod", {x}, args("to", shape({{"c", 2}})))) == List{10395, 46080});
  CHECK(apply("sum", DType::kI32, {{1, 2, 3}}) == List{6});
}

TEST_CASE("softmax and its relatives survive large and infinite numbers") {
  check_same(apply("logsumexp", DType::kF64, {{1000, 1000}}), {1000 + std::log(2.0)});
  check_same(apply("logsumexp", DType::kF64, {{-kInf, -kInf}}), {-kInf});
  check_same(apply("logsumexp", DType::kF64, {{kInf, 0}}), {kInf});
  check_same(apply("softmax", DType::kF32, {{1000, 1000}}), {0.5, 0.5});
  check_same(apply("softmax", DType::kF32, {{-kInf, 0}}), {0, 1});
  check_same(apply("softmax", DType::kF32, {{-kInf, -kInf}}), {kNaN, kNaN});
  check_same(apply("log_softmax", DType::kF64, {{0, 1000}}), {-1000, 0});
}

TEST_CASE("argmax is the first of the largest, and NaN is largest") {
  CHECK(apply("argmax", DType::kF32, {{1, 5, 2, 5}}, args("over", dim("a"))) == List{1});
  CHECK(apply("argmax", DType::kF32, {{1, kNaN, 9, kNaN}}, args("over", dim("a"))) == List{1});
  CHECK(apply("argmax", DType::kI64, {{-5, -2}}, args("over", dim("a"))) == List{1});
}

TEST_CASE("close") {
  const auto close = [](const List& a, const List& b) {
    return apply("close", DType::kF32, {a, b})[0] != 0;
  };
  CHECK(close({1, 1000, kInf}, {1 + 1e-6, 1000.005, kInf}));
  CHECK_FALSE(close({1}, {1.1}));
  CHECK_FALSE(close({kNaN}, {kNaN}));
  CHECK_FALSE(close({kInf}, {-kInf}));
  CHECK_FALSE(close({1}, {kInf}));
  CHECK(apply("close", DType::kI32, {{3}, {3}}) == List{1});
  CHECK(apply("close", DType::kBool, {{1}, {0}}) == List{0});
}

}  // namespace
}  // namespace mtf::tests
