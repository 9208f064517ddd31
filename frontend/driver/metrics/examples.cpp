#include "frontend/driver/metrics/examples.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ir/op.h"

namespace mtf {
namespace {

using DimSizes = std::map<std::string, std::int64_t>;

DimSizes dims_of_params(const Program& program) {
  DimSizes dims;
  for (const Input& input : program.inputs) {
    if (input.kind == InputKind::kParam) {
      for (const Dim& dim : program.at(input.value).type.shape.dims()) {
        dims.emplace(dim.name, dim.size);
      }
    }
  }
  return dims;
}

DimSizes dims_without(const Shape& shape, const DimSizes& others) {
  DimSizes dims;
  for (const Dim& dim : shape.dims()) {
    if (!others.contains(dim.name)) {
      dims.emplace(dim.name, dim.size);
    }
  }
  return dims;
}

// The dims of what is summed up to the scalar: of the value with most of them that scalars are made
// of.
DimSizes summed_dims(const Program& program, ValueId scalar, const DimSizes& params) {
  std::vector<ValueId> reached{scalar};
  DimSizes best;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    DimSizes dims;
    for (const ValueId operand : program.at(reached[i]).operands) {
      const Shape& shape = program.at(operand).type.shape;
      dims.merge(dims_without(shape, params));
      const auto same = [operand](ValueId id) { return id.index == operand.index; };
      if (shape.rank() == 0 && std::ranges::none_of(reached, same)) {
        reached.push_back(operand);
      }
    }
    best = dims.size() > best.size() ? dims : best;
  }
  return best;
}

// Whether some tensor of whole numbers has just these dims.
bool has_numbers_for(const Program& program, const DimSizes& dims) {
  return std::ranges::any_of(program.values, [&](const Value& value) {
    const Shape& shape = value.type.shape;
    return value.type.dtype == DType::kI32 && shape.rank() == dims.size() &&
           std::ranges::all_of(shape.dims(),
                               [&](const Dim& dim) { return dims.contains(dim.name); });
  });
}

}  // namespace

ExampleCount examples_of(const Program& program) {
  const auto watched = std::ranges::find_if(program.values, [](const Value& value) {
    return value.op != nullptr && value.op->primitive == Primitive::kCheckFinite;
  });
  if (watched == program.values.end()) {
    return {};
  }
  const DimSizes dims = summed_dims(program, watched->operands.front(), dims_of_params(program));
  if (dims.empty()) {
    return {};
  }
  ExampleCount examples{.count = 1,
                        .are_tokens = dims.size() == 2 && has_numbers_for(program, dims)};
  for (const auto& [name, size] : dims) {
    examples.count *= size;
  }
  return examples;
}

}  // namespace mtf
