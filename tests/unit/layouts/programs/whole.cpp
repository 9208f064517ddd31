#include "tests/unit/layouts/programs/whole.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace mtf::tests {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, Names names) {
  return std::ranges::find(names, name) != names.end();
}

IterationSpace space_of(const Program& program, ValueId id) {
  return program.at(id).op->space(call_of(program, id));
}

bool adds_up(const Value& value, const IterationSpace& space) {
  const bool joins = std::ranges::any_of(space.loops, [](const LoopDim& loop) {
    return loop.role == DimRole::kReduced || loop.role == DimRole::kScanned;
  });
  return joins && is_float(value.type.dtype) && value.op->flops != nullptr &&
         (space.combine == Combine::kSum || space.combine == Combine::kProd);
}

double terms_of(const IterationSpace& space) {
  double terms = 1;
  for (const LoopDim& loop : space.loops) {
    terms *= loop.role == DimRole::kReduced ? static_cast<double>(loop.size) : 1;
  }
  return terms;
}

double number(const Value& value, std::string_view argument) {
  const auto* given = value.args.get<double>(argument);
  return given == nullptr ? 0 : *given;
}

}  // namespace

bool WholeNumbers::follow(const Program& program) {
  const std::size_t known = bounds_.size();
  for (std::size_t i = known; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    bounds_.push_back(bound_of(program, id));
    const bool exact = bounds_.back() || value.op == nullptr || value.op->alias ||
                       !adds_up(value, space_of(program, id));
    if (!exact) {
      bounds_.resize(known);
      return false;
    }
  }
  return true;
}

std::optional<double> WholeNumbers::bound_of(const Program& program, ValueId id) const {
  const Value& value = program.at(id);
  if (value.op == nullptr) {
    return std::nullopt;
  }
  std::vector<double> of;  // the operands'
  for (const ValueId operand : value.operands) {
    const std::optional<double>& bound = bounds_[static_cast<std::size_t>(operand.index)];
    of.push_back(bound.value_or(INFINITY));
  }
  const std::string_view name = value.op->name;
  if (name == "gather") {
    of.resize(1);  // the rows, not where they are
  }
  const double largest = of.empty() ? 0 : *std::ranges::max_element(of);
  double bound = INFINITY;
  if (value.type.dtype == DType::kBool) {
    bound = 1;
  } else if (name == "fill" && number(value, "value") == std::floor(number(value, "value"))) {
    bound = std::abs(number(value, "value"));
  } else if (is_one_of(name, {"one_hot", "sign"})) {
    bound = 1;
  } else if (name == "cast" && value.type.dtype == DType::kI32 &&
             program.at(value.operands[0]).op->name == "uniform") {
    const Value& drawn = program.at(value.operands[0]);
    bound = std::max(std::abs(number(drawn, "low")), std::abs(number(drawn, "high")));
  } else if (is_one_of(name, {"add", "sub"})) {
    bound = of[0] + of[1];
  } else if (name == "mul") {
    bound = of[0] * of[1];
  } else if (name == "square") {
    bound = of[0] * of[0];
  } else if (is_one_of(name,
                       {"neg",     "abs",     "relu",      "identity", "stop_gradient", "maximum",
                        "minimum", "reshape", "transpose", "rename",   "broadcast",     "slice",
                        "pad",     "shift",   "index",     "stack",    "concat",        "gather",
                        "pin",     "cast",    "max",       "min",      "where"})) {
    bound = largest;
  } else if (is_one_of(name, {"sum", "einsum", "scatter_add"})) {
    bound = terms_of(space_of(program, id));
    for (std::size_t i = 0; i < of.size(); ++i) {
      bound *= name == "scatter_add" && i > 0 ? 1 : of[i];
    }
  }
  const DType dtype = value.type.dtype;
  const std::size_t digits = is_float(dtype) ? precision_of(dtype) : 8 * bytes_of(dtype) - 1;
  const double most = std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(digits, 31)));
  return bound <= most ? std::optional(bound) : std::nullopt;
}

}  // namespace mtf::tests
