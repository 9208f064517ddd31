// Compositions of operations give the bits of one rank under every layout that roles permit,
// forward and backward, and move just what the plan says. (Single calls of every one:
// table_test.cpp.)

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

struct Case {
  std::string name;
  std::string result;          // an expression of x, y, p, i, t
  bool differentiable = true;  // with respect to x
};

// x, y and z are any numbers, p is positive, i are integers, t are truth values.
const std::string kPrelude = R"(
dim a = 48, b = 80, c = 16, low = 5
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
      {"logsumexp over two dims", "logsumexp(x * z -> [c])"},
      {"softmax", "softmax(x, over = b)"},
      {"softmax over two dims", "softmax(x, over = [a, b])"},
      {"mean of all", "mean(x * z)"},
      {"variance", "mean(square(x - mean(x, over = b)), over = b)"},
      {"layer norm",
       "(x - mean(x, over = b)) * rsqrt(mean(square(x - mean(x, over = b)), over = b) + 1e-5) * v"},
      {"cross entropy", "-mean(sum(log_softmax(x, over = b) * y, over = b))"},
      {"negated sums", "-sum(x, over = a) - -sum(y, over = a)"},
      {"negated zeros", "-(0 * x)[a: 3..35]"},
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
      {"isfinite", "isfinite(log(x))", false},
      {"broadcast", "broadcast(x -> [c, a, b])"},
      {"transpose", "transpose(x -> [b, a])"},
      {"rename", "rename(x, a -> other)"},
      {"reshape: join", "reshape(x -> [all: 3840])"},
      {"reshape: cut", "reshape(x -> [hi: 3, lo: 16, b])"},
      {"reshape: cut and join", "reshape(x -> [hi: 6, rest: 640])"},
      {"reshape: across", "reshape(x -> [hi: 80, lo: 48])"},
      {"index", "x[a: 7]"},
      {"range", "x[b: 8..24]"},
      {"range under another dim", "x[b: 16..32 as c]"},
      {"concat", "concat([x, y], over = a)"},
      {"stack", "stack([x, y], pair)"},
      {"shift", "shift(x, over = b, by = 3)"},
      {"cumsum", "cumsum(x, over = b)"},
      {"cumsum from the end", "cumsum(x, over = a, exclusive = true, reverse = true)"},
      {"shift by all", "shift(x, over = a, by = -60)"},
      {"reverse", "reverse(x, over = a)"},
      {"slices and pads", "pad(x[a: 5..41], a, begin = 2, size = 48) + x"},
      {"moved along two dims", "shift(reverse(x, over = b), over = a, by = 17, wrap = true)"},
      {"pad under another dim", "pad(x[b: 16..32 as c], c, begin = 7, size = 80, to = b)"},
      {"shift around", "shift(x, over = a, by = -5, wrap = true)"},
      {"one_hot", "one_hot(i, c)", false},
      {"gather", "gather(rename(z, b -> vocab), i, over = vocab)", false},
      {"gather by two dims",
       "gather(rename(x, a -> vocab), cast(uniform([c, low], high = 48, seed = 8), i32), over = "
       "vocab)"},
      {"scatter_add over one dim", "scatter_add(x, i[b: 0], over = c)"},
      {"scatter_add over two dims", "scatter_add(x, i, over = c)"},
      {"scatter_add of rows over two dims", "scatter_add(x * z, i, over = low)"},
      {"scatter_add to other dims", "scatter_add(x * z, i -> [a, low, c], over = low)"},
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

const std::vector<std::vector<std::int64_t>> kMeshes = {{2},    {4},    {8},       {16},  {2, 2},
                                                        {4, 2}, {4, 4}, {2, 2, 2}, {8, 2}};

void check_compositions(const std::vector<std::vector<std::int64_t>>& meshes) {
  for (const Case& test : cases()) {
    INFO(test.name << ": " << test.result);
    const Report report = compare_all(program_of(program_text(test)), meshes);
    CHECK(report.legal >= 8);
    CHECK(report.first_difference == "");
  }
}

TEST_CASE("compositions of operations give one rank's bits under every layout") {
  check_compositions(kMeshes);
}

TEST_CASE("compositions of operations give one rank's bits on four axes", "[.long]") {
  check_compositions({{2, 2, 2, 2}});
}

}  // namespace
}  // namespace mtf::tests
