// The branch that a `where` does not take has no part in a gradient, nor in a gradient of one:
// compared with the same function of numbers that are harmless there.

#include <cmath>
#include <functional>

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/table.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

const Shape kGrid = shape({{"a", 3}, {"b", 4}});

// What the programs are made of: x, where it is above 0, and a weight that reads x nowhere.
struct Parts {
  Sketch& s;
  ValueId x;
  ValueId on;
  ValueId weight;

  ValueId call(std::string_view op, std::vector<ValueId> operands, OpArgs args = {}) const {
    return s.call(op, std::move(operands), std::move(args));
  }
  // Where the numbers that a move brings are all of x above 0.
  [[nodiscard]] ValueId on_after(std::string_view move, const OpArgs& args) const {
    const ValueId flags = call("cast", {on}, mtf::tests::args("dtype", DType::kF64));
    return call("greater", {call(move, {flags}, args), number(0.5)});
  }
  [[nodiscard]] ValueId number(double value) const {
    return s.builder().scalar(value, DType::kF64);
  }
  [[nodiscard]] ValueId where(ValueId taken) const {
    return call("where", {on, taken, number(0.5)});
  }
};
using Function = std::function<ValueId(const Parts&)>;

ValueId sum_of(Sketch& s, ValueId x) {
  return s.call("sum", {x}, args("to", Shape()));
}

// The gradient of x, then that of its square sum; the function reads x itself, or 1 where x is not
// above 0.
std::vector<std::vector<double>> derivatives(const Function& function, bool harmless) {
  Sketch s;
  const ValueId x = s.input({.dtype = DType::kF64, .shape = kGrid},
                            {-1, 0, 4, 2, 0.5, 0, 0.75, 3, 1, 1.5, 5, 0.25});
  const ValueId weight =
      s.input({.dtype = DType::kF64, .shape = kGrid}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const ValueId on = s.call("greater", {x, s.builder().scalar(0, DType::kF64)});
  const ValueId safe = s.call("where", {on, x, s.builder().scalar(1, DType::kF64)});
  const ValueId y = function({.s = s, .x = harmless ? safe : x, .on = on, .weight = weight});
  std::vector<std::vector<double>> found;
  ValueId of = sum_of(s, s.call("mul", {y, y}));
  for (int order = 0; order < 2; ++order) {
    const std::vector<ValueId> g = gradients(s.builder(), of, std::vector{x, weight});
    for (const ValueId id : g) {
      found.push_back(id.valid() ? s.numbers(id) : std::vector<double>{});
    }
    of = sum_of(s, s.call("square", {g[0]}));
  }
  return found;
}

void check(const std::string& name, const Function& function) {
  INFO(name);
  const std::vector<std::vector<double>> found = derivatives(function, false);
  const std::vector<std::vector<double>> wanted = derivatives(function, true);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("order " << i / 2 + 1 << (i % 2 == 0 ? " of x" : " of the weight"));
    REQUIRE(found[i].size() == wanted[i].size());
    for (std::size_t e = 0; e < found[i].size(); ++e) {
      INFO("element " << e);
      CHECK(found[i][e] == Approx(wanted[i][e]));
    }
  }
}

TEST_CASE("a function at its pole, where `where` takes the other branch, gives no gradient") {
  for (const char* name : {"log", "sqrt", "rsqrt", "reciprocal"}) {
    check(name, [&](const Parts& p) { return p.where(p.call(name, {p.x})); });
  }
  check("a root as a power", [](const Parts& p) {
    return p.where(p.call("pow", {p.x, p.number(0.5)}));
  });
  check("a quotient", [](const Parts& p) { return p.where(p.call("div", {p.weight, p.x})); });
  check("a product with what is infinite", [](const Parts& p) {
    return p.where(p.call("mul", {p.weight, p.call("log", {p.x})}));
  });
  check("a chain", [](const Parts& p) {
    const ValueId inverse = p.call("reciprocal", {p.call("sqrt", {p.x})});
    return p.where(p.call("exp", {p.call("neg", {p.call("add", {inverse, p.weight})})}));
  });
  check("the other branch", [](const Parts& p) {
    const ValueId off = p.call("logical_not", {p.on});
    return p.call("where", {off, p.call("square", {p.weight}), p.call("log", {p.x})});
  });
}

TEST_CASE("choices in choices, and two choices of one value, keep the branches out") {
  check("nested", [](const Parts& p) {
    const ValueId low = p.call("less", {p.x, p.number(2)});
    const ValueId inner = p.call("where", {low, p.call("log", {p.x}), p.call("sqrt", {p.x})});
    return p.where(inner);
  });
  check("outer first", [](const Parts& p) {
    const ValueId many = p.call("greater", {p.weight, p.number(3)});
    return p.call("where", {many, p.where(p.call("log", {p.x})), p.weight});
  });
  check("read twice", [](const Parts& p) {
    const ValueId log = p.call("log", {p.x});
    const ValueId high = p.call("greater", {p.x, p.number(1)});
    return p.call("add", {p.where(log), p.call("where", {high, log, p.weight})});
  });
}

TEST_CASE("moves, sums and kept dims of products pass on where a branch was taken") {
  const OpArgs six = args("to", shape({{"p", 2}, {"q", 6}}));
  const OpArgs turned = args("to", shape({{"b", 4}, {"a", 3}}));
  const OpArgs part = args("dim", dim("b"), "begin", std::int64_t{1}, "end", std::int64_t{3});
  const std::vector<std::pair<std::string, OpArgs>> moves = {
      {"reshape", six},
      {"transpose", turned},
      {"slice", part},
      {"shift", args("over", dim("b"), "by", std::int64_t{1}, "wrap", true)},
      {"rename", args("dim", dim("a"), "to", dim("z"))},
      {"index", args("dim", dim("a"), "at", std::int64_t{1})}};
  for (const auto& [name, arguments] : moves) {
    check(name, [&](const Parts& p) {
      const ValueId moved = p.call(name, {p.call("log", {p.x})}, arguments);
      return p.call("where", {p.on_after(name, arguments), moved, p.number(0.5)});
    });
  }
  check("concat", [](const Parts& p) {
    const ValueId log = p.call("log", {p.x});
    const ValueId both = p.call("concat", {log, p.weight, log}, args("over", dim("a")));
    const ValueId on = p.call("concat", {p.on, p.on, p.on}, args("over", dim("a")));
    return p.call("where", {on, both, p.number(0.5)});
  });
  check("a row for all", [](const Parts& p) {
    const OpArgs last = args("dim", dim("a"), "at", std::int64_t{2});
    const ValueId log = p.call("log", {p.call("index", {p.x}, last)});
    return p.call("where", {p.on_after("index", last), p.call("mul", {log, p.weight}), p.weight});
  });
  const OpArgs rest = args("to", shape({{"b", 4}}));
  check("a sum", [&](const Parts& p) {
    const ValueId log = p.call("sum", {p.call("log", {p.x})}, rest);
    return p.call("where", {p.on_after("min", rest), log, p.number(0.5)});
  });
  check("a product over a kept dim", [&](const Parts& p) {
    const ValueId log = p.call("log", {p.x});
    const ValueId all = p.call("einsum", {p.x, log}, rest);
    return p.call("where", {p.on_after("min", rest), all, p.number(0.5)});
  });
}

TEST_CASE("where a branch is taken its gradient stays as it was, NaN or not") {
  Sketch s;
  const ValueId x = s.input(f64({{"a", 3}}), {-1, 0, 4});
  const ValueId zero = s.builder().scalar(0, DType::kF64);
  const ValueId on = s.call("greater_equal", {x, zero});
  const ValueId y = s.call("where", {on, s.call("sqrt", {x}), zero});
  const ValueId g = gradients(s.builder(), sum_of(s, y), std::vector{x})[0];
  const std::vector<double> found = s.numbers(g);
  CHECK(found[0] == 0);
  CHECK(std::isinf(found[1]));
  CHECK(found[2] == 0.25);
}

TEST_CASE("a factor that no condition is about costs no choice") {
  Sketch s;
  const ValueId x = s.input(f64({{"a", 3}, {"b", 2}}), {-1, 0, 4, 1, 2, 3});
  const ValueId w = s.input(f64({{"b", 2}}), {1, 2});
  const ValueId valid =
      s.call("greater", {s.input(f64({{"a", 3}}), {1, 0, 1}), s.builder().scalar(0, DType::kF64)});
  const ValueId scaled = s.call("mul", {s.call("mul", {x, w}), s.builder().scalar(3, DType::kF64)});
  const ValueId y = s.call("where", {valid, scaled, s.builder().scalar(0, DType::kF64)});
  const ValueId of = sum_of(s, y);
  const auto choices = [&] {
    return std::ranges::count_if(s.program().values, [](const Value& value) {
      return value.op != nullptr && value.op->name == "where";
    });
  };
  static_cast<void>(gradients(s.builder(), of, std::vector{x}));
  CHECK(choices() == 2);  // the one that was written, and its gradient
}

}  // namespace
}  // namespace mtf::tests
