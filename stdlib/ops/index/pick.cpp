// A factor may be a one_hot behind what only orders, repeats or negates it, inside a product with
// others, or beside a number that smooths it: a (b hot + c) is b times what a one_hot picks, and c
// times a sum.

#include "stdlib/ops/index/pick.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

// Factors and a sign.
struct Product {
  std::vector<ValueId> factors;
  bool negative = false;
  std::vector<ValueId> through;  // the products and negatives that were taken apart
};

struct PickedBy {
  ValueId labels;
  Dim dim;
};

bool is(const Value& value, Primitive primitive) {
  return value.op != nullptr && value.op->primitive == primitive;
}

bool is(const Value& value, Algebra algebra) {
  return value.op != nullptr && value.op->algebra == algebra;
}

// Looks through what only orders or repeats the elements, or gives them another dtype.
std::optional<PickedBy> as_one_hot(Builder& b, ValueId x) {
  while (!b.is_opaque(x)) {
    const Value& value = b.program().at(x);
    if (value.op == &ops::kOneHot) {
      return PickedBy{.labels = value.operands[0], .dim = dim_arg(value.args, "dim")};
    }
    if (!is(value, Algebra::kTranspose) && !is(value, Algebra::kBroadcast) &&
        !is(value, Primitive::kCast)) {
      return std::nullopt;
    }
    x = value.operands[0];
  }
  return std::nullopt;
}

// requires: it is one
void look_through_one_hot(Builder& b, ValueId x) {
  b.look_through(x);
  while (b.program().at(x).op != &ops::kOneHot) {
    x = b.program().at(x).operands[0];
    b.look_through(x);
  }
}

bool has_dim(Builder& b, ValueId x, const Dim& dim) {
  return b.type_of(x).shape.has(dim.name);
}

bool picks(Builder& b, ValueId x, const Shape& to) {
  const std::optional<PickedBy> found = as_one_hot(b, x);
  return found && !to.has(found->dim.name);
}

constexpr int kDepth = 5;  // of products and sums that are looked into

bool holds_pick(Builder& b, ValueId x, const Shape& to, int depth = kDepth) {
  if (depth == 0 || picks(b, x, to)) {
    return depth > 0;
  }
  const Value& value = b.program().at(x);
  const bool passes = is(value, Algebra::kProduct) || is(value, Primitive::kNegate) ||
                      is(value, Primitive::kAdd) || is(value, Primitive::kSubtract);
  return passes && !b.is_opaque(x) && std::ranges::any_of(value.operands, [&](ValueId operand) {
           return holds_pick(b, operand, to, depth - 1);
         });
}

// Takes apart what has a one_hot inside; all else is one factor.
void take_apart(Builder& b, ValueId x, const Shape& to, Product& product) {
  const Value& value = b.program().at(x);
  const bool negates = is(value, Primitive::kNegate);
  if (picks(b, x, to) || !(negates || is(value, Algebra::kProduct)) || !holds_pick(b, x, to)) {
    product.factors.push_back(x);
    return;
  }
  product.negative = product.negative != negates;
  product.through.push_back(x);
  const std::vector<ValueId> operands = value.operands;
  for (const ValueId operand : operands) {
    take_apart(b, operand, to, product);
  }
}

Product taken_apart(Builder& b, std::span<const ValueId> factors, const Shape& to) {
  Product product;
  for (const ValueId factor : factors) {
    take_apart(b, factor, to, product);
  }
  return product;
}

// Does each dim of the one_hot that is not the labels' or its own come from another factor?
bool covers(Builder& b, std::span<const ValueId> factors, std::size_t hot, const PickedBy& found) {
  return std::ranges::all_of(b.type_of(factors[hot]).shape.dims(), [&](const Dim& dim) {
    if (dim.name == found.dim.name || has_dim(b, found.labels, dim)) {
      return true;
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (i != hot && has_dim(b, factors[i], dim)) {
        return true;
      }
    }
    return false;
  });
}

// Factor `hot` is a one_hot: the others with its dim, at the labels. None: it stays.
std::optional<std::vector<ValueId>> without(Builder& b, std::span<const ValueId> factors,
                                            std::size_t hot, const PickedBy& found) {
  if (!covers(b, factors, hot, found)) {
    return std::nullopt;
  }
  std::vector<ValueId> rest;
  bool any = false;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i == hot) {
      continue;
    }
    rest.push_back(factors[i]);
    if (has_dim(b, factors[i], found.dim)) {
      OpArgs over;
      over.set("over", one_dim(found.dim));
      rest.back() = b.emit("gather", {factors[i], found.labels}, std::move(over));
      any = true;
    }
  }
  return any ? std::optional(std::move(rest)) : std::nullopt;
}

Shape all_dims(Builder& b, std::span<const ValueId> factors) {
  Shape all;
  for (const ValueId factor : factors) {
    for (const Dim& dim : b.type_of(factor).shape.dims()) {
      all = all.has(dim.name) ? all : all.with(dim);
    }
  }
  return all;
}

// Of a sum among the factors, `hot` is the addend that has a one_hot: what that picks, and the
// product with the other addend.
std::optional<ValueId> smoothed(Builder& b, std::vector<ValueId> factors, std::size_t sum,
                                std::size_t hot, const Shape& to) {
  const ValueId whole = factors[sum];
  const Value value = b.program().at(whole);
  const Shape all = all_dims(b, factors);
  factors[sum] = value.operands[1 - hot];
  if (all_dims(b, factors).rank() != all.rank()) {
    return std::nullopt;  // fewer terms would be summed
  }
  const std::vector<ValueId> others = factors;
  factors[sum] = value.operands[hot];
  const std::optional<ValueId> pick = picked(b, factors, to);
  if (!pick) {
    return std::nullopt;
  }
  b.look_through(whole);
  const ValueId rest = b.emit("einsum", others, to_shape(to));
  return b.emit(is(value, Primitive::kAdd) ? Primitive::kAdd : Primitive::kSubtract,
                hot == 0 ? std::vector{*pick, rest} : std::vector{rest, *pick});
}

// By the factor, a one_hot or a sum that has one.
std::optional<ValueId> picked_by(Builder& b, const std::vector<ValueId>& factors, std::size_t by,
                                 const Shape& to) {
  if (picks(b, factors[by], to)) {
    std::optional<std::vector<ValueId>> rest = without(b, factors, by, *as_one_hot(b, factors[by]));
    if (rest) {
      look_through_one_hot(b, factors[by]);
    }
    return rest ? std::optional(b.emit("einsum", *std::move(rest), to_shape(to))) : std::nullopt;
  }
  const Value value = b.program().at(factors[by]);
  std::optional<ValueId> result;
  const bool adds = is(value, Primitive::kAdd) || is(value, Primitive::kSubtract);
  for (std::size_t side = 0; side < 2 && adds && !result; ++side) {
    if (holds_pick(b, value.operands[side], to)) {
      result = smoothed(b, factors, by, side, to);
    }
  }
  return result;
}

}  // namespace

std::optional<ValueId> picked(Builder& b, std::span<const ValueId> factors, const Shape& to) {
  const Product product = taken_apart(b, factors, to);
  std::optional<ValueId> result;
  for (std::size_t i = 0; i < product.factors.size() && !result; ++i) {
    result = picked_by(b, product.factors, i, to);
  }
  if (result) {
    std::ranges::for_each(product.through, [&b](ValueId id) { b.look_through(id); });
  }
  return result && product.negative ? b.emit(Primitive::kNegate, {*result}) : result;
}

std::optional<ValueId> picked_wide(Builder& b, std::span<const ValueId> factors, const Shape& to) {
  const Product product = taken_apart(b, factors, to);
  if (product.factors.size() != 2 || product.negative) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::optional<PickedBy> found = as_one_hot(b, product.factors[i]);
    const auto rest =
        found && !to.has(found->dim.name) ? without(b, product.factors, i, *found) : std::nullopt;
    if (rest) {
      look_through_one_hot(b, product.factors[i]);
      std::ranges::for_each(product.through, [&b](ValueId id) { b.look_through(id); });
      return b.emit("einsum", {b.widened(rest->front())}, to_shape(to));
    }
  }
  return std::nullopt;
}

}  // namespace mtf
