#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "tests/unit/ir/tiny_ops.h"

namespace mtf::tiny {
namespace {

double combine(const Value& value, const std::vector<double>& x) {
  const std::string_view name = value.op->name;
  if (name == "sin") {
    return std::sin(x[0]);
  }
  if (name == "cos") {
    return std::cos(x[0]);
  }
  if (name == "add") {
    return x[0] + x[1];
  }
  if (name == "fill") {
    return *value.args.get<double>("value");
  }
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());  // and moves, of one
}

std::size_t offset_of(const DimMap& map, const Shape& shape,
                      const std::vector<std::int64_t>& point) {
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    offset += strides[i] * point[map[i].front()];
  }
  return static_cast<std::size_t>(offset);
}

// The next point of the space, the last loop fastest; false after the last.
bool advance(const IterationSpace& space, std::vector<std::int64_t>& point) {
  for (std::size_t i = point.size(); i-- > 0;) {
    if (++point[i] < space.loops[i].size) {
      return true;
    }
    point[i] = 0;
  }
  return false;
}

std::vector<double> run(const Program& program, ValueId id,
                        const std::vector<std::vector<double>>& values) {
  const Value& value = program.at(id);
  const OpCall call = call_of(program, id);
  const IterationSpace space = value.op->space(call);
  std::vector<double> result(static_cast<std::size_t>(value.type.shape.volume()));
  std::vector<std::int64_t> point(space.loops.size());
  std::vector<double> x(value.operands.size());
  do {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = values[static_cast<std::size_t>(value.operands[i].index)]
                   [offset_of(space.operands[i], call.operands[i].shape, point)];
    }
    result[offset_of(space.result, value.type.shape, point)] += combine(value, x);
  } while (advance(space, point));
  return result;
}

std::vector<std::vector<double>> outputs(const Program& program) {
  std::vector<std::vector<double>> inputs;
  for (const Input& input : program.inputs) {
    const auto volume = static_cast<std::size_t>(program.at(input.value).type.shape.volume());
    std::vector<double>& numbers = inputs.emplace_back(volume);
    for (std::size_t i = 0; i < volume; ++i) {
      numbers[i] = std::sin(static_cast<double>(inputs.size()) + 0.7 * static_cast<double>(i));
    }
  }
  const std::vector<std::vector<double>> values = evaluate(program, inputs);
  std::vector<std::vector<double>> result;
  for (const ValueId output : program.outputs) {
    result.push_back(values[static_cast<std::size_t>(output.index)]);
  }
  return result;
}

}  // namespace

std::vector<std::vector<double>> evaluate(const Program& program,
                                          const std::vector<std::vector<double>>& inputs) {
  std::vector<std::vector<double>> values(program.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values[static_cast<std::size_t>(program.inputs[i].value.index)] = inputs[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (program.values[i].op != nullptr) {
      values[i] = run(program, {static_cast<std::int32_t>(i)}, values);
    }
  }
  return values;
}

Program simplified(const Program& program) {
  CHECK(verify(program).empty());
  Program result = simplify(program, ops());
  CHECK(verify(result).empty());
  CHECK(to_string(simplify(result, ops())) == to_string(result));
  const auto before = outputs(program);
  const auto after = outputs(result);
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    REQUIRE(before[i].size() == after[i].size());
    for (std::size_t j = 0; j < before[i].size(); ++j) {
      CHECK(before[i][j] == Approx(after[i][j]).margin(1e-9));
    }
  }
  return result;
}

}  // namespace mtf::tiny
