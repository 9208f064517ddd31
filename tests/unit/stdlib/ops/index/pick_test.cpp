// What is taken by a one_hot and a sum is gathered, forward and backward; no one_hot is left.

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"
#include "ir/rewrite/rewrite.h"
#include "stdlib/ops/table.h"
#include "tests/unit/stdlib/ops/differences.h"

namespace mtf::tests {
namespace {

int count_of(const Program& program, std::string_view op) {
  return static_cast<int>(std::ranges::count_if(program.values, [&](const Value& value) {
    return value.op != nullptr && value.op->name == op;
  }));
}

struct Picking {
  Sketch s;
  ValueId x =
      s.input(f64({{"batch", 3}, {"classes", 4}}), {0.5, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  ValueId labels = s.input(i32({{"batch", 3}}), {2, 0, 7});
  ValueId hot = s.call("one_hot", {labels}, args("dim", dim("classes", 4), "dtype", DType::kF64));

  // Checks the numbers, and what is left of the program with its gradient.
  void check(ValueId result, const std::vector<double>& wanted) {
    CHECK(s.numbers(result) == wanted);
    const ValueId of = weighted(s, s.call("square", {result}), 3);
    CHECK(gradient_problem(s, of, 1) == "");
    const ValueId gradient = gradients(s.builder(), of, std::array{x})[0];
    Program program = s.program();
    program.outputs = {of, gradient};
    const Program simple = simplify(program, op_table());
    INFO(to_string(simple));
    CHECK(count_of(simple, "one_hot") == 0);
    CHECK(count_of(simple, "gather") == 1);
    CHECK(count_of(simple, "scatter_add") == 1);
  }
};

TEST_CASE("a sum of a product with a one_hot is a gather") {
  Picking p;
  const ValueId product = p.s.call("mul", {p.x, p.hot});
  p.check(p.s.call("sum", {product}, args("over", dim("classes"))), {2, 10, 0});
}

TEST_CASE("so it is whichever comes first, and if more is summed") {
  Picking p;
  const ValueId product = p.s.call("mul", {p.hot, p.x});
  p.check(p.s.call("sum", {product}), {12});
}

TEST_CASE("so is an einsum, also of more factors") {
  Picking p;
  p.check(p.s.call("einsum", {p.x, p.hot}, args("to", shape({{"batch", 3}}))), {2, 10, 0});
  Picking q;
  const ValueId scale = q.s.input(f64({{"batch", 3}}), {2, 2, 2});
  q.check(q.s.call("einsum", {scale, q.x, q.hot}, args("to", shape({{"batch", 3}}))), {4, 20, 0});
}

TEST_CASE("so it is behind a sign, deeper in a product, and in another dtype") {
  Picking p;
  const ValueId product = p.s.call("mul", {p.s.call("neg", {p.x}), p.hot});
  p.check(p.s.call("sum", {p.s.call("neg", {product})}, args("over", dim("classes"))), {2, 10, 0});
  Picking q;
  const ValueId scale = q.s.input(f64({{"batch", 3}}), {2, 2, 2});
  const ValueId inner = q.s.call("mul", {q.hot, scale});
  q.check(q.s.call("sum", {q.s.call("mul", {q.x, inner})}, args("over", dim("classes"))),
          {4, 20, 0});
  Picking r;
  const ValueId small = r.s.call("one_hot", {r.labels}, args("dim", dim("classes", 4)));
  const ValueId wide = r.s.call("cast", {small}, args("dtype", DType::kF64));
  r.check(r.s.call("sum", {r.s.call("mul", {r.x, wide})}, args("over", dim("classes"))),
          {2, 10, 0});
}

TEST_CASE("so it is with smoothed labels, which are a sum beside it") {
  Picking p;
  const ValueId half = p.s.input(f64({}), {0.5});
  const ValueId eighth = p.s.input(f64({}), {0.125});
  const ValueId smooth = p.s.call("add", {p.s.call("mul", {p.hot, half}), eighth});
  p.check(p.s.call("sum", {p.s.call("mul", {p.x, smooth})}, args("over", dim("classes"))),
          {1 + 6.5 / 8, 5 + 46.0 / 8, 86.0 / 8});
}

TEST_CASE("a one_hot whose dim is kept, or in no other factor, stays") {
  Picking p;
  const ValueId counts = p.s.call("sum", {p.hot}, args("to", shape({{"classes", 4}})));
  CHECK(p.s.numbers(counts) == std::vector<double>{1, 0, 1, 0});
  const ValueId kept = p.s.call("einsum", {p.x, p.hot}, args("to", shape({{"classes", 4}})));
  CHECK(p.s.numbers(kept) == std::vector<double>{10, 0, 2, 0});
  CHECK(count_of(p.s.program(), "gather") == 0);
}

}  // namespace
}  // namespace mtf::tests
