#include "ir/rewrite/branch.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mtf {
namespace {

// How the dims of a condition on the result are found in an operand.
struct Passage {
  Shape kept;          // those that the operand has, too
  bool lacks = false;  // some the operand is constant along
  bool moves = false;  // some are made of others, or lie elsewhere
};

// The dim of the operand that is this loop and nothing else; null if there is none.
const Dim* dim_of_loop(const DimMap& map, const Shape& shape, std::size_t loop) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i].size() == 1 && map[i].front() == loop) {
      return &shape[i];
    }
  }
  return nullptr;
}

Passage passage(const Program& program, ValueId result, std::size_t i, const Shape& condition) {
  const OpCall call = call_of(program, result);
  const IterationSpace space = call.op->space(call);
  const DimMap& map = space.operands[i];
  const std::vector<WindowDim> windows = windows_of(space, i);
  const auto is_windowed = [&](std::size_t loop) {
    return std::ranges::any_of(
        windows, [&](const WindowDim& window) { return map[window.dim].front() == loop; });
  };
  Passage found;
  std::vector<Dim> kept;
  for (const Dim& dim : condition.dims()) {
    const std::vector<std::size_t>& loops = space.result[*call.result.shape.index_of(dim.name)];
    if (loops.size() == 1 && is_windowed(loops.front())) {
      found.moves = true;
      continue;
    }
    const bool plain = loops.size() == 1 && space.loops[loops.front()].role == DimRole::kKept;
    const Dim* same = plain ? dim_of_loop(map, call.operands[i].shape, loops.front()) : nullptr;
    if (same != nullptr && *same == dim) {
      kept.push_back(dim);
      continue;
    }
    const bool lacks = plain && std::ranges::none_of(map, [&](const auto& parts) {
                         return std::ranges::find(parts, loops.front()) != parts.end();
                       });
    (lacks ? found.lacks : found.moves) = true;
  }
  found.kept = Shape(std::move(kept));
  return found;
}

// Does the gradient rule multiply by nothing, so that 0 stays 0?
bool only_moves(const OpDef& op) {
  return op.linear != Linear::kNo || op.algebra == Algebra::kSum ||
         op.algebra == Algebra::kBroadcast || op.algebra == Algebra::kTranspose ||
         op.algebra == Algebra::kMove;
}

bool is_constant(const Value& value) {
  return value.op != nullptr && value.operands.empty() &&
         value.args.get<double>("value") != nullptr;
}

// Could `factor` be infinite only where the condition is false? Not a number, nor what is the same
// wherever the condition holds and wherever it does not.
bool governed(const Program& program, ValueId factor, const Shape& condition) {
  const Value& value = program.at(factor);
  return !is_constant(value) &&
         (condition.rank() == 0 || std::ranges::any_of(condition.dims(), [&](const Dim& dim) {
            return value.type.shape.has(dim.name);
          }));
}

// What the rule multiplies the gradient of operand i by: for products the other factors.
bool multiplies(const Program& program, ValueId result, std::size_t i, const Shape& condition) {
  const Value& value = program.at(result);
  const bool product =
      value.op->algebra == Algebra::kProduct || value.op->algebra == Algebra::kEinsum;
  for (std::size_t j = 0; j < value.operands.size(); ++j) {
    if ((!product || j != i) && governed(program, value.operands[j], condition)) {
      return true;
    }
  }
  return false;
}

// A product of two tensors that each lack a dim of the other: what a sum makes a contraction.
// Chosen one by one, its terms could not become one.
bool is_outer_product(const Program& program, ValueId result) {
  const Value& value = program.at(result);
  return value.op->algebra == Algebra::kProduct &&
         std::ranges::all_of(value.operands, [&](ValueId operand) {
           const std::size_t rank = program.at(operand).type.shape.rank();
           return rank > 0 && rank < value.type.shape.rank();
         });
}

// Which elements of operand i a move brings to places where `taken` holds: its own gradient rule,
// applied to ones there and zeros elsewhere, counts how often.
ValueId moved_back(Builder& builder, Adjoints& adjoints, ValueId result, std::size_t i,
                   ValueId taken) {
  const TensorType type = builder.type_of(result);
  const std::vector<ValueId> operands = builder.program().at(result).operands;
  OpArgs as_number;
  as_number.set("dtype", type.dtype);
  ValueId ones = builder.emit(Primitive::kCast, {taken}, as_number);
  if (!same_dims(builder.type_of(ones).shape, type.shape)) {
    ones = builder.emit(Algebra::kBroadcast, {ones}, to_shape(type.shape));
  }
  // On the slots of this operation, which are as they were afterwards: programs are long.
  std::vector<Adjoint> before;
  for (const ValueId operand : operands) {
    before.push_back(adjoints.at(operand));
    adjoints.at(operand) = {.gradient = {}, .taken = {}, .wanted = operand == operands[i]};
  }
  const ValueId above = std::exchange(adjoints.at(result).taken, ValueId{});
  GradBuilder grad(builder, result, ones, adjoints);
  builder.program().at(result).op->grad(grad);
  const ValueId count = adjoints.at(operands[i]).gradient;
  adjoints.at(result).taken = above;
  for (std::size_t j = operands.size(); j-- > 0;) {  // backwards: one may be there twice
    adjoints.at(operands[j]) = before[j];
  }
  if (!count.valid()) {
    return count;
  }
  const ValueId zero = builder.scalar(0, builder.type_of(count).dtype);
  return builder.emit(Primitive::kGreater, {count, zero});
}

}  // namespace

ValueId guarded(Builder& builder, ValueId result, std::size_t i, ValueId gradient, ValueId taken) {
  const Program& program = builder.program();
  const OpDef& op = *program.at(result).op;
  if (!taken.valid() || op.space == nullptr || only_moves(op) ||
      is_outer_product(program, result)) {
    return gradient;
  }
  // Element by element the gradient has the result's dims, and those of the operand otherwise.
  const Shape condition = builder.type_of(taken).shape;
  const bool fits = contains(builder.type_of(gradient).shape, condition);
  const bool same_places =
      op.tile != nullptr || passage(program, result, i, condition).kept.rank() == condition.rank();
  if (!fits || !same_places || !multiplies(program, result, i, condition)) {
    return gradient;
  }
  const DType dtype = builder.type_of(gradient).dtype;
  return builder.emit(Primitive::kSelect, {taken, gradient, builder.scalar(0, dtype)});
}

ValueId taken_below(Builder& builder, Adjoints& adjoints, ValueId result, std::size_t i,
                    ValueId taken) {
  const OpDef& op = *builder.program().at(result).op;
  if (!taken.valid() || op.space == nullptr) {
    return {};
  }
  const Passage found = passage(builder.program(), result, i, builder.type_of(taken).shape);
  if (!found.lacks && !found.moves) {
    return taken;
  }
  if (!found.moves && (op.tile != nullptr || op.algebra == Algebra::kBroadcast)) {
    return builder.emit(Primitive::kAny, {taken}, to_shape(found.kept));
  }
  return only_moves(op) ? moved_back(builder, adjoints, result, i, taken) : ValueId{};
}

}  // namespace mtf
