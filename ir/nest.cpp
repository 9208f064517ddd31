#include "ir/nest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/join.h"
#include "ir/transfer.h"

namespace mtf {
namespace {

// Below this a tensor between two sums costs nothing that matters.
constexpr std::int64_t kSmall = std::int64_t{1} << 16;

// The dims that a value reduces away by adding or multiplying floats, outermost first; empty if it
// does nothing of the kind or could not be cut in two.
std::vector<Dim> reduced_dims(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (value.op == nullptr || value.op->effect || value.op->space == nullptr ||
      !is_float(value.type.dtype) || value.args.get<Shape>("to") == nullptr) {
    return {};
  }
  const IterationSpace space = value.op->space(call_of(program, id));
  if (space.combine != Combine::kSum && space.combine != Combine::kProd) {
    return {};
  }
  std::vector<Dim> dims;
  for (const LoopDim& loop : space.loops) {
    if (loop.role == DimRole::kReduced && may_be_split(loop.name)) {
      dims.push_back({loop.name, loop.size});
    }
  }
  return dims;
}

// What is left after the innermost dim: the result's dims and the other reduced ones.
Shape between(const Shape& result, const std::vector<Dim>& dims) {
  std::vector<Dim> all(result.dims().begin(), result.dims().end());
  all.insert(all.end(), dims.begin(), dims.end() - 1);
  return Shape(all);
}

bool affordable(const Program& program, const Value& value, const Shape& between) {
  std::int64_t limit = kSmall;
  for (const ValueId operand : value.operands) {
    limit = std::max(limit, program.at(operand).type.shape.volume());
  }
  const std::optional<std::int64_t> volume = between.checked_volume();
  return volume && *volume <= limit;
}

// The operation that goes on with one tensor: products have been taken, rows have been placed.
const OpDef* continues(const Value& value, OpTable ops) {
  if (value.operands.size() == 1) {
    return value.op;
  }
  const auto found = std::ranges::find(ops, Algebra::kSum, &OpDef::algebra);
  return found == ops.end() ? nullptr : *found;
}

// Appends the chain for a value and returns its end.
ValueId chain(Transfer& transfer, Value value, std::vector<Dim> dims, const OpDef& next) {
  const Shape result = value.type.shape;
  while (dims.size() > 1) {
    Value inner = value;
    inner.name.clear();
    inner.internal = true;
    inner.type.shape = between(result, dims);
    inner.args.set("to", inner.type.shape);
    value.op = &next;
    value.args = {};
    value.args.set("to", result);
    value.operands = {append(transfer, std::move(inner))};
    dims.pop_back();
  }
  return append(transfer, std::move(value));
}

}  // namespace

Program nest(const Program& program, OpTable ops) {
  Transfer transfer = start_transfer(program);
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    const std::vector<Dim> dims = reduced_dims(program, id);
    const OpDef* next = dims.size() < 2 ? nullptr : continues(value, ops);
    const bool cut = next != nullptr && affordable(program, value, between(value.type.shape, dims));
    Value moved = moved_value(transfer, id);
    transfer.map(id, cut ? chain(transfer, std::move(moved), dims, *next)
                         : append(transfer, std::move(moved)));
  }
  return finish_transfer(std::move(transfer));
}

}  // namespace mtf
