// Gradients of calls that were thought of; those of every operation are in gradient_table_test.cpp.

#include <functional>

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"
#include "tests/unit/stdlib/ops/differences.h"

namespace mtf::tests {
namespace {

// A tensor of x's, and for each operand the range of its numbers.
struct Operand {
  TensorType type;
  double low = -2;
  double high = 2;
};

struct Case {
  std::string name;
  std::vector<Operand> operands;
  std::function<ValueId(Sketch&, const std::vector<ValueId>&)> build;
  bool second = true;  // whether the gradient itself is checked
};

void check(const Case& test) {
  INFO(test.name);
  for (const bool second : {false, true}) {
    if (second && !test.second) {
      continue;
    }
    Sketch s;
    std::vector<ValueId> operands;
    unsigned seed = 1;
    for (const Operand& operand : test.operands) {
      operands.push_back(s.input(
          operand.type, drawn(operand.type.shape.volume(), operand.low, operand.high, seed++)));
    }
    const ValueId of = weighted(s, test.build(s, operands), 7);
    INFO((second ? "second order" : "first order"));
    if (!second) {
      CHECK(gradient_problem(s, of, operands.size()) == "");
      continue;
    }
    const ValueId total = gradient_sum(s, of, operands.size());
    if (total.valid()) {
      CHECK(gradient_problem(s, total, operands.size()) == "");
    }
  }
}

std::function<ValueId(Sketch&, const std::vector<ValueId>&)> op(std::string name,
                                                                OpArgs arguments = {}) {
  return [=](Sketch& s, const std::vector<ValueId>& x) { return s.call(name, x, arguments); };
}

const TensorType kX = f64({{"a", 3}, {"b", 4}});
const TensorType kRow = f64({{"b", 4}});
const TensorType kColumn = f64({{"c", 2}});

TEST_CASE("gradients of element-wise functions") {
  for (const char* name : {"exp", "sin", "cos", "tanh", "sigmoid", "gelu", "silu", "softplus",
                           "square", "neg", "identity", "abs", "relu", "expm1", "sign"}) {
    check({.name = name, .operands = {{kX}}, .build = op(name)});
  }
  for (const char* name : {"log", "sqrt", "rsqrt", "reciprocal", "log1p"}) {
    check({.name = name, .operands = {{kX, 0.5, 3}}, .build = op(name)});
  }
  check({.name = "cast", .operands = {{kX}}, .build = op("cast", args("dtype", DType::kF64))});
}

TEST_CASE("gradients of operations on two tensors, summed where one was repeated") {
  for (const char* name : {"add", "sub", "mul", "minimum", "maximum"}) {
    check({.name = name, .operands = {{kX}, {kX}}, .build = op(name)});
    check({.name = name, .operands = {{kX}, {kRow}}, .build = op(name)});
    check({.name = name, .operands = {{kRow}, {kX}}, .build = op(name)});
    check({.name = name, .operands = {{kRow}, {kColumn}}, .build = op(name)});
    check({.name = name, .operands = {{kX}, {f64({})}}, .build = op(name)});
  }
  for (const char* name : {"div", "pow", "mod"}) {
    check({.name = name, .operands = {{kX, 0.5, 2}, {kX, 0.7, 1.9}}, .build = op(name)});
    check({.name = name, .operands = {{kX, 0.5, 2}, {kRow, 0.7, 1.9}}, .build = op(name)});
    check({.name = name, .operands = {{kRow, 0.5, 2}, {kX, 0.7, 1.9}}, .build = op(name)});
  }
  check({.name = "where",
         .operands = {{kX}, {kRow}},
         .build = [](Sketch& s, const std::vector<ValueId>& x) {
           return s.call("where", {s.call("less", {x[0], x[1]}), x[0], x[1]});
         }});
}

TEST_CASE("gradients of reductions") {
  for (const char* name : {"sum", "mean", "max", "min", "prod", "logsumexp"}) {
    check({.name = name, .operands = {{kX}}, .build = op(name)});
    check({.name = name, .operands = {{kX}}, .build = op(name, args("over", dim("a")))});
    check({.name = name, .operands = {{kX}}, .build = op(name, args("over", dim("b")))});
    const Shape turned = shape({{"c", 2}, {"a", 3}});
    check({.name = name,
           .operands = {{f64({{"a", 3}, {"b", 2}, {"c", 2}})}},
           .build = op(name, args("to", turned))});
  }
  for (const char* name : {"softmax", "log_softmax"}) {
    check({.name = name, .operands = {{kX}}, .build = op(name, args("over", dim("b")))});
    check({.name = name, .operands = {{kX}}, .build = op(name)});
  }
}

TEST_CASE("gradients of einsum") {
  const TensorType a = f64({{"i", 2}, {"j", 3}});
  const TensorType b = f64({{"j", 3}, {"k", 2}});
  const TensorType c = f64({{"k", 2}, {"l", 2}});
  const auto to = [](std::vector<Dim> list) { return op("einsum", args("to", shape(list))); };
  check({.name = "product", .operands = {{a}, {b}}, .build = op("einsum")});
  check({.name = "turned", .operands = {{a}, {b}}, .build = to({{"k", 2}, {"i", 2}})});
  check({.name = "batch", .operands = {{a}, {b}}, .build = to({{"j", 3}})});
  check({.name = "all kept", .operands = {{a}, {b}}, .build = to({{"i", 2}, {"j", 3}, {"k", 2}})});
  check({.name = "a dim of one", .operands = {{a}, {b}}, .build = to({{"k", 2}})});
  check({.name = "scalar", .operands = {{a}, {b}}, .build = to({})});
  check({.name = "three", .operands = {{a}, {b}, {c}}, .build = to({{"l", 2}, {"i", 2}})});
  check({.name = "one", .operands = {{a}}, .build = to({{"j", 3}})});
  check({.name = "two products in one sum",
         .operands = {{a}, {b}, {f64({{"j", 3}, {"i", 2}})}, {b}},
         .build = op("einsum", args("to", shape({{"k", 2}, {"i", 2}}), "terms", std::int64_t{2}))});
  check({.name = "with itself",
         .operands = {{a}},
         .build = [](Sketch& s, const std::vector<ValueId>& x) {
           return s.call("einsum", {x[0], x[0]}, args("to", shape({{"i", 2}})));
         }});
}

TEST_CASE("gradients of what moves elements") {
  check({.name = "broadcast",
         .operands = {{kRow}},
         .build = op("broadcast", args("to", shape({{"b", 4}, {"a", 3}})))});
  check({.name = "transpose",
         .operands = {{kX}},
         .build = op("transpose", args("to", shape({{"b", 4}, {"a", 3}})))});
  check({.name = "reshape",
         .operands = {{kX}},
         .build = op("reshape", args("to", shape({{"p", 2}, {"q", 6}})))});
  check({.name = "reshape of a transpose",
         .operands = {{kX}, {f64({{"q", 6}, {"p", 2}})}},
         .build = [](Sketch& s, const std::vector<ValueId>& x) {
           const ValueId y = s.call("reshape", {x[0]}, args("to", shape({{"p", 2}, {"q", 6}})));
           return s.call("square", {s.call("mul", {x[1], y})});
         }});
  check({.name = "rename",
         .operands = {{kX}},
         .build = op("rename", args("dim", dim("a"), "to", dim("z")))});
  check({.name = "index",
         .operands = {{kX}},
         .build = op("index", args("dim", dim("a"), "at", std::int64_t{-1}))});
  const OpArgs range = args("dim", dim("b"), "begin", std::int64_t{1}, "end", std::int64_t{3});
  check({.name = "slice", .operands = {{kX}}, .build = op("slice", range)});
  OpArgs as = range;
  as.set("to", dim("z"));
  check({.name = "slice as", .operands = {{kX}}, .build = op("slice", as)});
  check({.name = "pad",
         .operands = {{kX}},
         .build =
             op("pad", args("dim", dim("a"), "begin", std::int64_t{2}, "size", std::int64_t{7}))});
  check({.name = "concat",
         .operands = {{kX}, {f64({{"b", 4}, {"a", 2}})}},
         .build = op("concat", args("over", dim("a")))});
  check({.name = "stack",
         .operands = {{kX}, {f64({{"b", 4}, {"a", 3}})}},
         .build = op("stack", args("dim", dim("z")))});
  for (const bool reverse : {false, true}) {
    check(
        {.name = "cumsum",
         .operands = {{kX}},
         .build = op("cumsum", args("over", dim("a"), "reverse", reverse, "exclusive", reverse))});
  }
  for (const bool wrap : {false, true}) {
    for (const std::int64_t by : {0, 1, -1, 3, 5, -9}) {
      check({.name = "shift",
             .operands = {{kX}},
             .build = op("shift", args("over", dim("b"), "by", by, "wrap", wrap))});
    }
  }
}

TEST_CASE("gradients of gather, which are scatter_add, and the other way round") {
  const auto ids_of = [](Sketch& s, std::vector<Dim> list, std::vector<double> ids) {
    return s.input(i32(std::move(list)), std::move(ids));
  };
  check({.name = "rows",
         .operands = {{f64({{"v", 4}, {"d", 3}})}},
         .build = [&](Sketch& s, const std::vector<ValueId>& x) {
           const ValueId ids = ids_of(s, {{"n", 5}}, {1, 0, 1, 3, 9});
           return s.call("square", {s.call("gather", {x[0], ids}, args("over", dim("v")))});
         }});
  check({.name = "per batch",
         .operands = {{f64({{"d", 2}, {"v", 4}, {"n", 3}})}},
         .build = [&](Sketch& s, const std::vector<ValueId>& x) {
           const ValueId ids = ids_of(s, {{"n", 3}, {"m", 2}}, {1, 1, 0, 3, 2, -1});
           return s.call("square", {s.call("gather", {x[0], ids}, args("over", dim("v")))});
         }});
  check({.name = "scatter",
         .operands = {{f64({{"n", 5}, {"d", 2}})}},
         .build = [&](Sketch& s, const std::vector<ValueId>& x) {
           const ValueId ids = ids_of(s, {{"n", 5}}, {1, 0, 1, 3, 9});
           return s.call("square", {s.call("scatter_add", {x[0], ids}, args("over", dim("v", 4)))});
         }});
}

TEST_CASE("the gradient of a product is right when elements are 0") {
  for (const std::vector<double>& row :
       {std::vector<double>{2, 3, 4}, {0, 3, 4}, {2, 0, 0}, {0, 0, 0}}) {
    Sketch s;
    const ValueId x = s.input(f64({{"a", 3}}), row);
    CHECK(gradient_problem(s, s.call("prod", {x}), 1) == "");
  }
  Sketch s;  // the gradient of the gradient, with one zero
  s.input(f64({{"a", 3}}), {2, 0, 5});
  const ValueId of = s.call("prod", {s.program().inputs[0].value});
  CHECK(gradient_problem(s, gradient_sum(s, of, 1), 1) == "");
}

TEST_CASE("equal elements share a gradient equally") {
  const auto gradient = [](std::string_view name, std::vector<double> a, std::vector<double> b) {
    Sketch s;
    const auto n = static_cast<std::int64_t>(a.size());
    std::vector<ValueId> x = {s.input(f64({{"a", n}}), std::move(a))};
    if (!b.empty()) {
      x.push_back(s.input(f64({{"a", n}}), std::move(b)));
    }
    const ValueId of = sum_of(s, s.call(name, x));
    const std::vector<ValueId> found = gradients(s.builder(), of, x);
    std::vector<double> all;
    for (const ValueId id : found) {
      for (const double number : s.numbers(id)) {
        all.push_back(number);
      }
    }
    return all;
  };
  using List = std::vector<double>;
  CHECK(gradient("max", {1, 5, 5}, {}) == List{0, 0.5, 0.5});
  CHECK(gradient("min", {1, 1, 5, 1}, {}) == List{1.0 / 3, 1.0 / 3, 0, 1.0 / 3});
  CHECK(gradient("maximum", {1, 2, 3}, {2, 2, 2}) == List{0, 0.5, 1, 1, 0.5, 0});
  CHECK(gradient("minimum", {1, 2, 3}, {2, 2, 2}) == List{1, 0.5, 0, 0, 0.5, 1});
  CHECK(gradient("abs", {-2, 0, 3}, {}) == List{-1, 0, 1});
  CHECK(gradient("relu", {-2, 0, 3}, {}) == List{0, 0, 1});
}

TEST_CASE("a branch of `where` that is not taken leaves the gradient finite") {
  Sketch s;
  const ValueId x = s.input(f64({{"a", 3}}), {-1, 0, 4});
  const ValueId zero = s.builder().scalar(0, DType::kF64);
  const ValueId on = s.call("greater", {x, zero});
  const ValueId safe = s.call("where", {on, x, s.builder().scalar(1, DType::kF64)});
  const ValueId y = s.call("where", {on, s.call("sqrt", {safe}), zero});
  const ValueId of = sum_of(s, y);
  const ValueId g = gradients(s.builder(), of, std::vector{x})[0];
  CHECK(s.numbers(g) == std::vector<double>{0, 0, 0.25});
}

TEST_CASE("a power of 2 has a gradient at 0, and nothing flows through `stop_gradient`") {
  Sketch s;
  const ValueId x = s.input(f64({{"a", 3}}), {-1, 0, 4});
  const ValueId of = sum_of(s, s.call("pow", {x, s.builder().scalar(2, DType::kF64)}));
  const ValueId g = gradients(s.builder(), of, std::vector{x})[0];
  CHECK(s.numbers(g) == std::vector<double>{-2, 0, 8});
  const ValueId h = gradients(s.builder(), sum_of(s, g), std::vector{x})[0];
  CHECK(s.numbers(h) == std::vector<double>{2, 2, 2});
  const ValueId stopped = sum_of(s, s.call("stop_gradient", {x}));
  CHECK_FALSE(gradients(s.builder(), stopped, std::vector{x})[0].valid());
}

}  // namespace
}  // namespace mtf::tests
