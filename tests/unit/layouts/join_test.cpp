// Sums of sums: terms that sum over the same dims are one sum, which moves once, whatever their
// signs and scales; with the bits of one rank on every layout, and each operand where it lies.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

constexpr const char* kDims = "dim b = 8, i = 16, o = 4\n";
const std::vector<std::vector<std::int64_t>> kMeshes = {{2}, {4}, {2, 2}, {2, 4}};

// Products and sums under one sign each, of tensors that differ.
constexpr const char* kTensors = R"(
  let x = normal([b, i], seed = 1)
  let y = normal([i, b], seed = 2)
  let w = normal([i, o], seed = 3)
  let v = normal([o, i], seed = 4)
  let s = normal([b], seed = 5)
)";

std::string returning(const std::string& result) {
  return std::string(kDims) + "fn case() {" + kTensors + "  return " + result + "\n}\n";
}

SpmdProgram lowered(const std::string& text, const Layout& layout) {
  return tests::lowered(program_of(text), layout);
}

// The layout with one rule, `dim -> x`.
Layout splitting(const std::string& text, const std::string& dim) {
  for (const Layout& layout : layouts_of(program_of(text), mesh_of({2}))) {
    if (to_string(layout) == "[" + dim + " -> x] on m[x: 2]") {
      return layout;
    }
  }
  FAIL("no layout splits " + dim);
  return {};
}

std::ptrdiff_t count_steps(const SpmdProgram& program, StepKind kind) {
  return std::ranges::count(program.steps, kind, &Step::kind);
}

void check_once(const std::string& result) {
  INFO(result);
  const std::string text = returning(result);
  const SpmdProgram plan = lowered(text, splitting(text, "i"));
  const std::ptrdiff_t sums =
      count_steps(plan, StepKind::kAllReduce) + count_steps(plan, StepKind::kReduceScatter);
  CHECK(sums == 1);
  const Report report = compare_all(program_of(text), kMeshes);
  CHECK(report.legal > 10);
  CHECK(report.first_difference.empty());
}

TEST_CASE("sums over one dim share one reduction, whatever their signs and scales") {
  check_once("einsum(x, w -> [b, o]) + einsum(y, v -> [b, o])");
  check_once("2 * einsum(x, w -> [b, o]) - einsum(y, v -> [b, o])");
  check_once("einsum(x, w -> [b, o]) - (einsum(y, v -> [b, o]) / 3 - einsum(y, w -> [b, o]))");
  check_once("-(einsum(x, w -> [b, o]) + einsum(x, v -> [b, o]) * sum(s))");
  check_once("sum(square(x) -> [b]) + sum(abs(y) -> [b])");
  check_once("0.5 * sum(square(x) -> [b]) - sum(y -> [b]) * 0.3 + s");
  check_once("sum(square(x)) + sum(square(y))");
}

TEST_CASE("of tensors of two orders that are added up, one is read across the other") {
  const Program program =
      simplify(program_of(returning("sum(square(x)) + sum(square(y)) + sum(abs(x)) + sum(abs(y))")),
               op_table());
  std::ptrdiff_t across = 0;
  for (const Value& value : program.values) {
    if (value.op == nullptr || value.operands.size() < 2) {
      CHECK((value.op == nullptr || value.op->algebra != Algebra::kTranspose));
      continue;
    }
    const auto shape = [&](std::size_t i) { return program.at(value.operands[i]).type.shape; };
    across += shape(0) == shape(1) ? 0 : 1;
  }
  CHECK(across == 1);
}

TEST_CASE("what is added up is so in the order in which it is computed") {
  const Program program = simplify(program_of(R"(dim b = 4, i = 8, j = 8
fn layer(x) {
  param w : f32[i, j] = normal(stddev = 0.1)
  return rename(tanh(einsum(x, w -> [b, j])), j -> i)
}
model net(x: f32[b, i]) {
  var h = x
  for k in 0..3 { h = layer(h) as "layer_{k}" }
  return h
}
fn case(x: f32[b, i]) {
  var norm = 0.0
  for g in grad(mean(net(x)), net) { norm = norm + sum(square(g)) }
  return norm
}
)"),
                                   op_table());
  // Squares of gradients, the last layer's first: a sum waits for no layer that is still to come.
  std::vector<std::int32_t> added;
  for (const Value& value : program.values) {
    if (value.op == &op_of(op_table(), Primitive::kAdd) && value.type.shape.rank() == 2) {
      for (const ValueId term : value.operands) {
        const Value& square = program.at(term);
        if (square.op != value.op) {
          added.push_back(square.operands.front().index);
        }
      }
    }
  }
  CHECK(added.size() == 3);
  CHECK(std::ranges::is_sorted(added));
}

TEST_CASE("losses of micro-batches share one reduction") {
  const std::string text = R"(dim b = 8, i = 16
fn case() {
  let w = normal([i], seed = 1)
  var total = 0 * sum(w)
  for n in 0..4 {
    total = total + mean(square(einsum(normal([b, i], seed = n), w -> [b]) - 1)) / 4
  }
  return total
}
)";
  const SpmdProgram plan = lowered(text, splitting(text, "b"));
  CHECK(count_steps(plan, StepKind::kAllReduce) == 1);
  CHECK(compare_all(program_of(text), kMeshes).first_difference.empty());
}

TEST_CASE("what all terms are scaled by is left to their one sum") {
  // Factors are larger than what they are summed to, so that to scale them would not pay.
  const std::string text = R"(dim b = 4096, i = 32, o = 8
fn case() {
  let v = normal([i, o], seed = 1)
  let one = einsum(normal([b, i], seed = 2), normal([b, o], seed = 3) -> [i, o])
  let two = einsum(normal([b, i], seed = 4), normal([b, o], seed = 5) -> [i, o])
  return v - 0.5 * (one / 3 + two / 3)
}
)";
  const SpmdProgram plan = lowered(text, splitting(text, "b"));
  CHECK(count_steps(plan, StepKind::kAllReduce) == 1);
  const auto scaled = std::ranges::count_if(plan.source.values, [](const Value& value) {
    const bool scales = value.op != nullptr && (value.op->algebra == Algebra::kProduct ||
                                                value.op->primitive == Primitive::kDivide);
    return scales && value.type.shape.rank() > 0;
  });
  CHECK(scaled == 2);  // by a third, by a half: the sum
  CHECK(compare_all(program_of(text), {{2}, {2, 2}}).first_difference.empty());
}

TEST_CASE("products that are joined are read where they lie") {
  const std::string text = R"(dim b = 16, i = 8, f = 32
fn case() {
  let x = normal([b, i], seed = 1)
  let w = normal([i, f], seed = 2)
  let g = normal([i, f], seed = 3)
  return grad(sum(square(einsum(x, w -> [b, f]) * einsum(x, g -> [b, f]))), x)
}
)";
  for (const char* dim : {"b", "f"}) {
    INFO(dim);
    const SpmdProgram plan = lowered(text, splitting(text, dim));
    CHECK(count_steps(plan, StepKind::kAllToAll) == 0);
    CHECK(count_steps(plan, StepKind::kAllGather) == 0);
    const auto joined = std::ranges::count_if(plan.steps, [](const Step& step) {
      return std::ranges::any_of(step.calls,
                                 [](const LocalCall& call) { return call.operands.size() == 4; });
    });
    CHECK(joined == 1);
  }
  CHECK(compare_all(program_of(text), kMeshes).first_difference.empty());
}

TEST_CASE("what is computed under `with layout` is not joined with what is outside") {
  Program program = program_of(returning("einsum(x, w -> [b, o]) + einsum(y, v -> [b, o])"));
  program.regions.push_back(splitting(returning("x"), "i"));
  const auto second =
      std::ranges::find_if(program.values.rbegin(), program.values.rend(), [](const Value& value) {
        return value.op != nullptr && value.op->algebra == Algebra::kEinsum;
      });
  second->region = 0;
  const Program simple = simplify(program, op_table());
  CHECK(std::ranges::none_of(
      simple.values, [](const Value& value) { return value.args.find("terms") != nullptr; }));
}

}  // namespace
}  // namespace mtf::tests
