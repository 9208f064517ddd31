// Every operation gives the bits of one rank under every layout that its roles permit, forward and
// backward, and moves just what the plan says.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/every_layout.h"

namespace mtf::tests {
namespace {

struct Case {
  std::string name;
  std::string result;          // an expression of x, y, p, i, t
  bool differentiable = true;  // with respect to x
};

// x, y and z are any numbers, p is positive, i are integers, t are truth values.
const std::string kPrelude = R"(
dim a = 24, b = 40, c = 8
dim wide = 120, low = 5
fn case() {
  let x = normal([a, b], seed = 1)
  let y = normal([a, b], seed = 2)
  let z = normal([b, c], seed = 3)
  let v = normal([b], seed = 4)
  let p = 0.5 + uniform([a, b], seed = 5)
  let i = cast(uniform([a, b], low = 0, high = 8, seed = 6), i32)
  let t = x > y
)";

std::string program_text(const Case& test) {
  std::string text = kPrelude + "  let r = " + test.result + "\n";
  if (!test.differentiable) {
    return text + "  return r\n}\n";
  }
  return text + "  let weight = normal(shape(r), seed = 9, dtype = dtype(r))\n" +
         "  return r, grad(sum(r * weight), x)\n}\n";
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      {"broadcasting", "x + v"},
      {"broadcasting to the union", "x * z"},
      {"scalars", "2 * x - 1"},
      {"where", "where(t, x, y)"},
      {"cast", "cast(x, f64)"},
      {"integers", "i * 3 + i // 5 - i % 4", false},
      {"comparisons", "(x < y) or (x >= v) and not t", false},
      {"equality", "cast(i == 3, i32) + cast(i != 2, i32)", false},
      {"sum over one dim", "sum(x, over = a)"},
      {"sum over the other dim", "sum(x, over = b)"},
      {"sum of all", "sum(x)"},
      {"sum in another order", "sum(x * z -> [c, a])"},
      {"mean", "mean(x, over = b)"},
      {"max", "max(x, over = b)"},
      {"min", "min(x -> [b])"},
      {"prod", "prod(x, over = a)"},
      {"any and all", "any(t, over = a) and all(x < 9, over = a)", false},
      {"logsumexp", "logsumexp(x, over = b)"},
      {"softmax", "softmax(x, over = b)"},
      {"log_softmax", "log_softmax(x, over = a)"},
      {"einsum", "einsum(x, z -> [a, c])"},
      {"einsum in another order", "einsum(z, x -> [c, a])"},
      {"einsum over two dims", "einsum(x, y -> [])"},
      {"einsum with a batch dim", "einsum(x, y -> [a])"},
      {"einsum of one", "einsum(x -> [b])"},
      {"einsum that keeps all", "einsum(x, z -> [c, b, a])"},
      {"einsum of three", "einsum(x, z, v -> [a, c])"},
      {"einsum of a product", "sum(x * y, over = b)"},
      {"two terms", "einsum(x, z -> [a, c]) + einsum(y, z -> [a, c])"},
      {"three terms",
       "einsum(x, z -> [a, c]) + einsum(z, y -> [a, c]) + einsum(x * y, z -> [c, a])"},
      {"sums of two kinds", "einsum(x, z -> [a, c]) + sum(x, over = b) + sum(y, over = b)"},
      {"sign", "sign(x)", false},
      {"broadcast", "broadcast(x -> [c, a, b])"},
      {"transpose", "transpose(x -> [b, a])"},
      {"rename", "rename(x, a -> other)"},
      {"reshape: join", "reshape(x -> [all: 960])"},
      {"reshape: cut", "reshape(x -> [hi: 3, lo: 8, b])"},
      {"reshape: cut and join", "reshape(x -> [hi: 6, rest: 160])"},
      {"reshape: across", "reshape(x -> [hi: 40, lo: 24])"},
      {"index", "x[a: 7]"},
      {"range", "x[b: 8..24]"},
      {"range under another dim", "x[b: 16..24 as c]"},
      {"concat", "concat([x, y], over = a)"},
      {"stack", "stack([x, y], pair)"},
      {"shift", "shift(x, over = b, by = 3)"},
      {"shift around", "shift(x, over = a, by = -5, wrap = true)"},
      {"one_hot", "one_hot(i, c)", false},
      {"gather", "gather(rename(z, b -> vocab), i, over = vocab)", false},
      {"argmax", "argmax(x, over = b)", false},
      {"range of numbers", "range(b) + 0", false},
      {"constants", "zeros([a, b]) + ones([b]) + fill([a], 0.5)", false},
      {"normal", "normal([a, b, c], stddev = 2.0, seed = 11)", false},
      {"uniform", "uniform([c, b], low = -1, high = 3, seed = 12)", false},
      {"unseeded", "normal([a, b]) + normal([a, b])", false},
      {"minimum and maximum", "minimum(x, y) * maximum(x, v)"},
      {"pow", "p ** 2.5 + x ** 3"},
      {"softplus of a product", "softplus(x * y)"},
      {"stop_gradient", "stop_gradient(x) * x"},
  };
  for (const std::string op :
       {"exp", "sin", "cos", "tanh", "sigmoid", "relu", "gelu", "silu", "abs", "square"}) {
    list.push_back({op, op + "(x)"});
  }
  for (const std::string op : {"log", "sqrt", "rsqrt", "reciprocal"}) {
    list.push_back({op, op + "(p * square(x) + p)"});
  }
  return list;
}

const std::vector<std::vector<std::int64_t>> kMeshes = {{2}, {4}, {8}, {2, 2}, {4, 2}, {2, 2, 2}};

TEST_CASE("every operation gives one rank's bits under every layout") {
  for (const Case& test : cases()) {
    INFO(test.name << ": " << test.result);
    const Report report = compare_all(program_of(program_text(test)), kMeshes);
    CHECK(report.legal >= 8);
    CHECK(report.first_difference == "");
  }
}

}  // namespace
}  // namespace mtf::tests
