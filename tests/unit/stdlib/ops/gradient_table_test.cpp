// The gradient of every operation of the table, on calls made up from its definition, and the
// gradient of the gradient: against finite differences. No operation is listed, so that none can be
// left out.

#include <array>
#include <cmath>
#include <functional>
#include <random>

#include <catch2/catch.hpp>

#include "stdlib/ops/table.h"
#include "tests/unit/stdlib/ops/calls.h"
#include "tests/unit/stdlib/ops/differences.h"

namespace mtf::tests {
namespace {

// Where the operands' numbers are from: all over, where logarithms are, where arcs are.
struct Range {
  double low;
  double high;
};
constexpr std::array<Range, 3> kRanges{{{-2, 2}, {0.3, 2.3}, {-0.9, 0.9}}};

const DrawOptions kSmall{.dims = {{"a", 3}, {"b", 4}, {"c", 2}}, .floats = DType::kF64, .count = 6};

// Whole numbers and truth values are what they are: places in a dim, some of them outside.
std::vector<double> numbers_for(const TensorType& type, Range range, unsigned seed) {
  const bool whole = !is_float(type.dtype);
  const bool truth = type.dtype == DType::kBool;
  std::vector<double> numbers = drawn(type.shape.volume(), whole ? (truth ? 0 : -1) : range.low,
                                      whole ? (truth ? 2 : 5) : range.high, seed);
  for (double& number : numbers) {
    number = whole ? std::floor(number) : number;
  }
  return numbers;
}

// Of matrices, the diagonal is raised, so that they have what can be computed of them.
void raise_diagonal(const DrawnCall& call, std::vector<double>& numbers) {
  const Shape& shape = call.operands.front().shape;
  const auto dim_of = [&](std::string_view name) {
    const auto* dims = call.args.get<std::vector<Dim>>(name);
    return dims == nullptr ? std::nullopt : shape.index_of(dims->front().name);
  };
  const auto rows = dim_of("rows");
  const auto cols = dim_of("cols");
  if (!is_of_matrices(*call.op) || !rows || !cols) {
    return;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto at = [&](std::size_t dim) {
      std::size_t inner = 1;
      for (std::size_t d = dim + 1; d < shape.rank(); ++d) {
        inner *= static_cast<std::size_t>(shape[d].size);
      }
      return i / inner % static_cast<std::size_t>(shape[dim].size);
    };
    numbers[i] += at(*rows) == at(*cols) ? 4.0 + 2.0 * static_cast<double>(at(*rows)) : 0.0;
  }
}

// Beside a pole, as those of tan, differences say nothing.
bool is_moderate(const Sketch& s, ValueId id) {
  return std::ranges::all_of(s.numbers(id), [](double x) { return std::abs(x) < 1000; });
}

struct Checked {
  std::string problem;
  bool differentiable = false;  // the call gives an f64 of an f64, moderate in this range
};

Checked check_call(const DrawnCall& call, Range range, bool second) {
  Sketch s;
  std::vector<ValueId> operands;
  unsigned seed = 1;
  bool floats = false;
  for (const TensorType& type : call.operands) {
    floats = floats || type.dtype == DType::kF64;
    std::vector<double> numbers = numbers_for(type, range, seed++);
    if (operands.empty()) {
      raise_diagonal(call, numbers);
    }
    operands.push_back(s.input(type, std::move(numbers)));
  }
  const ValueId result = s.call(call.op->name, operands, call.args);
  if (!floats || s.type_of(result).dtype != DType::kF64 || !is_moderate(s, result)) {
    return {};
  }
  ValueId of = weighted(s, result, 7);
  of = second ? gradient_sum(s, of, operands.size()) : of;
  if (!of.valid()) {  // nothing flows, so nothing of it does
    return {.problem = "", .differentiable = true};
  }
  return {.problem = gradient_problem(s, of, operands.size()), .differentiable = true};
}

// That nothing flows is all that it is for.
bool hides_its_operand(const OpDef& op) {
  return op.name == "stop_gradient" || op.primitive == Primitive::kCarry;
}

TEST_CASE("the gradient of every operation is what differences say, and so is its gradient") {
  for (const OpDef* op : op_table()) {
    if (!is_callable(*op) || op->effect || hides_its_operand(*op)) {
      continue;
    }
    int differentiable = 0;
    for (const DrawnCall& call : calls_of(*op, kSmall)) {
      for (const Range& range : kRanges) {
        for (const bool second : {false, true}) {
          INFO(to_string(call) << " of numbers from " << range.low << " to " << range.high
                               << (second ? ", second order" : ""));
          const Checked checked = check_call(call, range, second);
          CHECK(checked.problem == "");
          differentiable += checked.differentiable ? 1 : 0;
        }
      }
    }
    INFO(op->name << " has a gradient, and no call that was drawn reaches it");
    CHECK((op->grad == nullptr || differentiable > 0));
  }
}

}  // namespace
}  // namespace mtf::tests
