#include "tests/unit/stdlib/ops/differences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"

namespace mtf::tests {
namespace {

constexpr double kStep = 1e-5;

double value_of(const Sketch& s, ValueId id, const std::vector<HostTensor>& inputs) {
  return numbers_of(evaluate(s.program(), inputs).at(id))[0];
}

}  // namespace

std::vector<double> drawn(std::int64_t n, double low, double high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> numbers(static_cast<std::size_t>(n));
  for (double& number : numbers) {
    number = draw(engine);
  }
  return numbers;
}

ValueId sum_of(Sketch& s, ValueId x) {
  return s.call("sum", {x}, args("to", Shape()));
}

ValueId weighted(Sketch& s, ValueId x, unsigned seed) {
  const TensorType type = s.type_of(x);
  const ValueId weight = s.input(type, drawn(type.shape.volume(), 0.5, 1.5, seed));
  return sum_of(s, s.call("mul", {x, weight}));
}

ValueId gradient_sum(Sketch& s, ValueId of, std::size_t count) {
  std::vector<ValueId> targets;
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back(s.program().inputs[i].value);
  }
  ValueId total;
  for (const ValueId gradient : gradients(s.builder(), of, targets)) {
    if (gradient.valid()) {
      const ValueId part = weighted(s, gradient, 11);
      total = total.valid() ? s.call("add", {total, part}) : part;
    }
  }
  return total;
}

namespace {

// "" or the first element of an input that is not as differences say.
std::string element_problem(Sketch& s, ValueId of, std::size_t input,
                            const std::vector<double>& exact) {
  std::vector<HostTensor> inputs = s.inputs();
  const TensorType type = inputs[input].type;
  std::vector<double> numbers = numbers_of(inputs[input]);
  const auto at = [&](std::size_t e, double number) {
    const double before = std::exchange(numbers[e], number);
    inputs[input] = tensor_of(type, numbers);
    numbers[e] = before;
    return value_of(s, of, inputs);
  };
  for (std::size_t e = 0; e < numbers.size(); ++e) {
    const double above = at(e, numbers[e] + kStep);
    const double slope = (above - at(e, numbers[e] - kStep)) / (2 * kStep);
    // What a few roundings of the values make of it.
    const double rounded = 4 * std::numeric_limits<double>::epsilon() * std::abs(above) / kStep;
    if (exact[e] != Approx(slope).epsilon(1e-6).margin(std::max(2e-8, rounded))) {
      return "operand " + std::to_string(input) + ", element " + std::to_string(e) + " = " +
             std::to_string(numbers[e]) + ": the gradient is " + std::to_string(exact[e]) +
             ", the difference " + std::to_string(slope);
    }
  }
  return "";
}

}  // namespace

std::string gradient_problem(Sketch& s, ValueId of, std::size_t count) {
  std::vector<ValueId> targets;
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back(s.program().inputs[i].value);
  }
  const std::vector<ValueId> found = gradients(s.builder(), of, targets);
  const Evaluation all = s.run();
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType& type = s.inputs()[i].type;
    if (!is_float(type.dtype)) {
      continue;
    }
    if (found[i].valid() && s.type_of(found[i]) != type) {
      return "the gradient of operand " + std::to_string(i) + " has another type";
    }
    const auto volume = static_cast<std::size_t>(type.shape.volume());
    const std::string problem = element_problem(
        s, of, i,
        found[i].valid() ? numbers_of(all.at(found[i])) : std::vector<double>(volume, 0.0));
    if (!problem.empty()) {
      return problem;
    }
  }
  return "";
}

}  // namespace mtf::tests
