// What runs along a dim, against the plainest loop.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/stdlib/ops/differences.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Way {
  std::string op;
  double nothing = 0;
  std::function<double(double, double)> join;
};

std::vector<Way> ways() {
  return {{"cumsum", 0, [](double x, double y) { return x + y; }},
          {"cumprod", 1, [](double x, double y) { return x * y; }},
          {"cummax", -kInfinity, [](double x, double y) { return std::max(x, y); }},
          {"cummin", kInfinity, [](double x, double y) { return std::min(x, y); }},
          {"cumlogsumexp", -kInfinity,
           [](double x, double y) { return std::log(std::exp(x) + std::exp(y)); }}};
}

// Along dim 1 of [2, n, inner].
std::vector<double> scanned(const Way& way, const std::vector<double>& x, std::size_t n,
                            std::size_t inner, bool exclusive, bool reverse) {
  std::vector<double> y(x.size());
  for (std::size_t line = 0; line < 2 * inner; ++line) {
    double sum = way.nothing;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = (line / inner * n + (reverse ? n - 1 - k : k)) * inner + line % inner;
      const double next = way.join(sum, x[at]);
      y[at] = exclusive ? sum : next;
      sum = next;
    }
  }
  return y;
}

OpArgs along(std::size_t n, bool exclusive, bool reverse) {
  OpArgs args;
  args.set("over", std::vector{Dim{"a", static_cast<std::int64_t>(n)}});
  args.set("exclusive", exclusive);
  args.set("reverse", reverse);
  return args;
}

TensorType type_of(std::size_t n, std::size_t inner) {
  return {.dtype = DType::kF64,
          .shape = Shape({{"b", 2},
                          {"a", static_cast<std::int64_t>(n)},
                          {"c", static_cast<std::int64_t>(inner)}})};
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return x == y || std::abs(x - y) <= 1e-12 * (1 + std::abs(y));
  });
}

void check_scan(const Way& way, std::size_t n, std::size_t inner, bool exclusive, bool reverse) {
  INFO(way.op << " of " << n << " x " << inner << ", exclusive " << exclusive << ", reverse "
              << reverse);
  const std::vector<double> x = drawn(static_cast<std::int64_t>(2 * n * inner), -1.5, 1.5, 7);
  Sketch s;
  const ValueId y = s.call(way.op, {s.input(type_of(n, inner), x)}, along(n, exclusive, reverse));
  CHECK(close(s.numbers(y), scanned(way, x, n, inner, exclusive, reverse)));
}

TEST_CASE("scans are what a loop computes") {
  for (const Way& way : ways()) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        for (const std::size_t n : {1U, 2U, 5U, 16U, 48U, 100U}) {
          check_scan(way, n, 3, exclusive, reverse);
        }
        for (const std::size_t inner : {1U, 2U, 15U, 16U, 70U}) {  // lines next to each other
          check_scan(way, 20, inner, exclusive, reverse);
        }
      }
    }
  }
}

TEST_CASE("a recurrence multiplies by each element what came before it, and adds") {
  Sketch s;
  const Shape shape({{"a", 4}});
  const TensorType type{.dtype = DType::kF64, .shape = shape};
  const ValueId a = s.input(type, {9, 2, 3, -1});
  const ValueId b = s.input(type, {1, 1, 0, 5});
  OpArgs over;
  over.set("over", std::vector{Dim{"a", 4}});
  CHECK(s.numbers(s.call("recurrence", {a, b}, over)) == std::vector<double>{1, 3, 9, -4});
  over.set("reverse", true);
  CHECK(s.numbers(s.call("recurrence", {a, b}, over)) == std::vector<double>{280, 31, 15, 5});
}

// A prime size: one block, in which an error of f32 would be carried on to the end.
TEST_CASE("a long scan of f32 is what f64 gives, rounded once") {
  constexpr std::size_t kSize = 100'003;
  const auto check = [](const std::string& op, double each, auto expected) {
    Sketch s;
    const Shape shape({{"a", static_cast<std::int64_t>(kSize)}});
    const auto x = static_cast<double>(static_cast<float>(each));
    const ValueId in = s.input({.dtype = DType::kF32, .shape = shape}, std::vector(kSize, x));
    OpArgs over;
    over.set("over", std::vector{shape[0]});
    const std::vector<ValueId> operands =
        op == "recurrence" ? std::vector{in, in} : std::vector{in};
    const std::vector<double> y = s.numbers(s.call(op, operands, over));
    for (const std::size_t k : {1U, 2U, 1'000U, 50'000U, 100'003U}) {
      INFO(op << " at " << k);
      CHECK(y[k - 1] == Approx(expected(x, static_cast<double>(k))).epsilon(6e-8).scale(0));
    }
  };
  check("cumsum", 0.1, [](double x, double k) { return x * k; });
  check("cumprod", 0.9999, [](double x, double k) { return std::pow(x, k); });
  check("cumlogsumexp", 0.1, [](double x, double k) { return x + std::log(k); });
  check("recurrence", 0.9999,
        [](double x, double k) { return x * (1 - std::pow(x, k)) / (1 - x); });
}

TEST_CASE("a running maximum of NaN is NaN from there on") {
  Sketch s;
  const ValueId x =
      s.input({.dtype = DType::kF64, .shape = Shape({{"a", 4}})}, {1, NAN, 3, -kInfinity});
  OpArgs over;
  over.set("over", std::vector{Dim{"a", 4}});
  const std::vector<double> y = s.numbers(s.call("cummax", {x}, over));
  CHECK(y[0] == 1);
  CHECK(std::all_of(y.begin() + 1, y.end(), [](double one) { return std::isnan(one); }));
}

TEST_CASE("gradients of scans hold where elements are zero, equal or far apart") {
  const std::vector<std::vector<double>> lines = {{0, 2, 0, 3, -1, 0, 4, 1},
                                                  {700, -700, 30, -800, 2, 1, 0, 5},
                                                  {-5, -4, -3, -3.5, 1, 0.5, 2, 9}};
  for (const std::string op : {"cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"}) {
    for (std::size_t l = op == "cumprod" || op == "cumlogsumexp" ? 0 : 2; l < lines.size(); ++l) {
      if (op == "cumprod" && l == 1) {
        continue;  // differences of such products are none
      }
      for (const bool exclusive : {false, true}) {
        INFO(op << " of line " << l << ", exclusive " << exclusive);
        Sketch s;
        const ValueId x = s.input({.dtype = DType::kF64, .shape = Shape({{"a", 8}})}, lines[l]);
        OpArgs args = along(8, exclusive, false);
        const ValueId y = s.call(op, {x}, args);
        // Exclusive extremes begin with an infinity, of which differences are NaN.
        OpArgs from;
        from.set("dim", std::vector{Dim{"a", 8}});
        from.set("begin", std::int64_t{1});
        from.set("end", std::int64_t{8});
        CHECK(gradient_problem(s, weighted(s, s.call("slice", {y}, from), 3), 1) == "");
      }
    }
  }
}

}  // namespace
}  // namespace mtf::tests
