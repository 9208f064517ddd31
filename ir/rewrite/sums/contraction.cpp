#include "ir/rewrite/sums/contraction.h"

#include <algorithm>
#include <cstddef>

namespace mtf {
namespace {

// Are all dims of factor i that `narrow` lacks in one of the other factors?
bool covered(const Program& to, const std::vector<ValueId>& factors, std::size_t i,
             const Shape& narrow) {
  return std::ranges::all_of(to.at(factors[i]).type.shape.dims(), [&](const Dim& dim) {
    if (narrow.has(dim.name)) {
      return true;
    }
    for (std::size_t other = 0; other < factors.size(); ++other) {
      if (other != i && to.at(factors[other]).type.shape.has(dim.name)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace

Algebra kind_of(const Program& program, ValueId id) {
  const OpDef* op = program.at(id).op;
  return op == nullptr ? Algebra::kNone : op->algebra;
}

void look_through_views(const Program& to, std::vector<ValueId>& factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    while (kind_of(to, factors[i]) == Algebra::kTranspose ||
           kind_of(to, factors[i]) == Algebra::kBroadcast) {
      const ValueId source = to.at(factors[i]).operands.front();
      if (!covered(to, factors, i, to.at(source).type.shape)) {
        break;
      }
      factors[i] = source;
    }
  }
}

std::optional<ValueId> contraction(Contraction& state, const Value& like,
                                   const std::vector<ValueId>& factors) {
  OpArgs args;
  args.set("to", like.type.shape);
  args.set("dtype", like.type.dtype);
  if (factors.size() > 1) {
    return try_call(state, like, Algebra::kEinsum, factors, std::move(args));
  }
  const TensorType& type = state.transfer.to.at(factors.front()).type;
  if (type == like.type) {
    return factors.front();
  }
  if (same_dims(type.shape, like.type.shape)) {
    return try_call(state, like, Algebra::kTranspose, factors, to_shape(like.type.shape));
  }
  return try_call(state, like, Algebra::kSum, factors, std::move(args));
}

std::optional<ValueId> scalar_product(Contraction& state, const Value& like, ValueId x, ValueId y) {
  Value scalar = like;
  scalar.type.shape = Shape();
  return try_call(state, scalar, Algebra::kProduct, {x, y});
}

}  // namespace mtf
