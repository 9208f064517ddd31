#include "ir/rewrite/sums/contraction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

void add(TypeKey& key, const TensorType& type) {
  key.push_back(reinterpret_cast<std::uintptr_t>(type.shape.dims().data()));
  key.push_back(static_cast<std::uintptr_t>(type.dtype));
}

// Whether it says in which order factors are multiplied: x * w * s is (x * w) * s.
bool is_in_order(const Value& sum) {
  const auto* said = sum.args.get<bool>("as_written");
  return (said != nullptr && *said) || (sum.op->algebra == Algebra::kSum && !sum.backward);
}

// An einsum of at least two tensors.
std::optional<ValueId> einsum(Contraction& state, const Value& like,
                              const std::vector<ValueId>& factors) {
  Program& to = state.transfer.to;
  TypeKey key;
  add(key, like.type);
  for (const ValueId factor : factors) {
    add(key, to.at(factor).type);
  }
  const OpDef& op = op_of(state.ops, Algebra::kEinsum);
  if (const auto known = state.einsums.find(key); known != state.einsums.end()) {
    return append(state.transfer,
                  {.op = &op,
                   .operands = factors,
                   .args = known->second,
                   .type = like.type,
                   .span = like.span,
                   .frame = like.frame,
                   .internal = like.internal || like.backward,
                   .backward = like.backward,
                   .region = like.region,
                   .recompute = {.block = like.recompute.block, .again = like.recompute.again}});
  }
  OpArgs args;
  args.set("to", like.type.shape);
  args.set("dtype", like.type.dtype);
  if (factors.size() > 2 && is_in_order(like)) {
    args.set("as_written", true);
  }
  const std::size_t before = to.values.size();
  const std::optional<ValueId> value = try_call(state, like, Algebra::kEinsum, factors, args);
  if (value && to.values.size() == before + 1 && to.at(*value).op == &op &&
      to.at(*value).operands == factors) {
    state.einsums.emplace(std::move(key), to.at(*value).args);
  } else {
    const auto sums = std::count_if(to.values.begin() + static_cast<std::ptrdiff_t>(before),
                                    to.values.end(), [](const Value& made) {
                                      return made.op->algebra == Algebra::kEinsum ||
                                             made.op->algebra == Algebra::kSum;
                                    });
    state.expands = state.expands || sums > 1;
  }
  return value;
}

}  // namespace

Algebra kind_of(const Program& program, ValueId id) {
  const OpDef* op = program.at(id).op;
  return op == nullptr ? Algebra::kNone : op->algebra;
}

namespace {

// The dims that are summed, in the order of the sums: as the factors name them one after the other.
std::vector<std::string_view> summed_dims(const Program& to, const std::vector<ValueId>& factors,
                                          const Shape& kept) {
  std::vector<std::string_view> dims;
  for (const ValueId factor : factors) {
    for (const Dim& dim : to.at(factor).type.shape.dims()) {
      if (!kept.has(dim.name) && std::ranges::find(dims, dim.name) == dims.end()) {
        dims.emplace_back(dim.name);
      }
    }
  }
  return dims;
}

// Puts the factor first that names the summed dims in the order of those that were written.
void keep_order(const Program& to, std::vector<ValueId>& factors,
                const std::vector<ValueId>& written, const Shape& kept) {
  const std::vector<std::string_view> order = summed_dims(to, written, kept);
  for (std::size_t i = 0; i < factors.size() && order.size() > 1; ++i) {
    std::vector<ValueId> moved = factors;
    const auto first = moved.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(moved.begin(), first, first + 1);
    if (summed_dims(to, moved, kept) == order) {
      factors = std::move(moved);
      return;
    }
  }
}

}  // namespace

void look_through_views(const Program& to, std::vector<ValueId>& factors, const Shape& kept) {
  const std::vector<ValueId> written = factors;
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
  if (factors != written) {
    keep_order(to, factors, written, kept);
  }
}

std::optional<ValueId> contraction(Contraction& state, const Value& like,
                                   const std::vector<ValueId>& factors) {
  if (factors.size() > 1) {
    return einsum(state, like, factors);
  }
  const TensorType& type = state.transfer.to.at(factors.front()).type;
  if (type == like.type) {
    return factors.front();
  }
  if (same_dims(type.shape, like.type.shape)) {
    return try_call(state, like, Algebra::kTranspose, factors, to_shape(like.type.shape));
  }
  OpArgs args;
  args.set("to", like.type.shape);
  args.set("dtype", like.type.dtype);
  return try_call(state, like, Algebra::kSum, factors, args);
}

bool is_summed(const Program& program, ValueId id, const Shape& kept) {
  while (kind_of(program, id) == Algebra::kBroadcast) {
    id = program.at(id).operands.front();
  }
  return !contains(kept, program.at(id).type.shape);
}

bool sums_one_first(const Program& to, const Value& sum, const std::vector<ValueId>& factors) {
  if (sum.backward || sum.op->algebra != Algebra::kSum) {
    return false;
  }
  const auto shape_of = [&to](ValueId factor) -> const Shape& { return to.at(factor).type.shape; };
  return std::ranges::any_of(factors, [&](ValueId whole) {
    const auto is_another = [&](ValueId factor) {
      return factor != whole && shape_of(factor).rank() > 0;
    };
    const auto lack = [&](const Dim& dim) {
      return !sum.type.shape.has(dim.name) && std::ranges::none_of(factors, [&](ValueId factor) {
        return is_another(factor) && shape_of(factor).has(dim.name);
      });
    };
    return std::ranges::any_of(factors, is_another) &&
           std::ranges::all_of(
               factors,
               [&](ValueId factor) { return contains(shape_of(whole), shape_of(factor)); }) &&
           std::ranges::any_of(shape_of(whole).dims(), lack);
  });
}

bool may_open(const Contraction& state, ValueId id, const Shape& kept, bool shared) {
  const Program& from = state.transfer.from;
  const Value& value = from.at(id);
  if (value.op == nullptr || is_narrow(value.type.dtype)) {
    return false;  // each of its roundings counts
  }
  if (value.op->primitive == Primitive::kNegate) {
    return shared;
  }
  const bool is_own = state.uses[static_cast<std::size_t>(id.index)] == 1;
  return value.op->algebra == Algebra::kProduct &&
         (is_own || (shared && std::ranges::count_if(value.operands, [&](ValueId operand) {
                                 return is_summed(from, operand, kept);
                               }) == 1));
}

namespace {

// The size of a number that is known before the program runs; 0 of others.
double known_size(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (value.op == nullptr) {
    return 0;
  }
  if (value.op->primitive == Primitive::kFill) {
    const auto* number = value.args.get<double>("value");
    return number == nullptr ? 0 : std::abs(*number);
  }
  if (value.op->primitive == Primitive::kNegate) {
    return known_size(program, value.operands.front());
  }
  return value.op->algebra == Algebra::kProduct
             ? known_size(program, value.operands[0]) * known_size(program, value.operands[1])
             : 0;
}

}  // namespace

void keep_small_numbers(Contraction& state, const Value& sum, std::vector<ValueId>& factors) {
  const Program& to = state.transfer.to;
  const auto stays = [&](ValueId id) {
    return to.at(id).type.shape.rank() == 0 && known_size(to, id) < 1;
  };
  const auto size_as_scaled = [&](ValueId id) {
    const TensorType& type = to.at(id).type;
    return type.dtype == sum.type.dtype && is_summed(to, id, sum.type.shape) ? type.shape.volume()
                                                                             : INT64_MAX;
  };
  while (is_float(sum.type.dtype)) {
    const auto number = std::ranges::find_if(factors, stays);
    const auto least = std::ranges::min_element(factors, {}, size_as_scaled);
    if (number == factors.end() || size_as_scaled(*least) == INT64_MAX) {
      return;
    }
    const Value like = to.at(*least);  // a copy: the list grows
    const std::optional<ValueId> scaled =
        try_call(state, like, Algebra::kProduct, {*number, *least});
    if (!scaled) {
      return;
    }
    *least = *scaled;
    factors.erase(number);
  }
}

namespace {

// A number times a tensor, or a change of sign, which do not make brackets count.
bool only_scales(const Program& program, const Value& value) {
  return value.op != nullptr && (value.op->primitive == Primitive::kNegate ||
                                 std::ranges::any_of(value.operands, [&program](ValueId operand) {
                                   return program.at(operand).type.shape.rank() == 0;
                                 }));
}

}  // namespace

std::optional<SignedFactors> factors_of(Contraction& state, const Value& sum, bool shared,
                                        Brackets brackets) {
  struct Visit {
    ValueId id;
    bool first = true;  // of all factors
  };
  const Program& from = state.transfer.from;
  SignedFactors found;
  std::vector<Visit> to_visit;
  const auto visit_operands = [&to_visit](const Value& value, bool first) {
    for (auto operand = value.operands.rbegin(); operand != value.operands.rend(); ++operand) {
      to_visit.push_back({.id = *operand, .first = first && &*operand == &value.operands.front()});
    }
  };
  visit_operands(sum, true);
  while (!to_visit.empty()) {
    const auto [id, first] = to_visit.back();
    to_visit.pop_back();
    const Value& value = from.at(id);
    const bool counts = brackets == Brackets::kKept && !first && !only_scales(from, value);
    if (counts || !may_open(state, id, sum.type.shape, shared)) {
      found.factors.push_back(state.transfer.at(id));
      continue;
    }
    found.negated = found.negated != (value.op->primitive == Primitive::kNegate);
    visit_operands(value, first);
    if (found.factors.size() + to_visit.size() > kMaxFactors) {
      return std::nullopt;
    }
  }
  look_through_views(state.transfer.to, found.factors, sum.type.shape);
  keep_small_numbers(state, sum, found.factors);
  return found;
}

std::optional<ScaledFactors> join_numbers(Contraction& state, const Value& like,
                                          const std::vector<ValueId>& factors) {
  const auto times = [&](ValueId scale, ValueId factor) {
    Value number = like;
    number.type.shape = Shape();
    return try_call(state, number, Algebra::kProduct, {scale, factor});
  };
  ScaledFactors joined;
  for (const ValueId factor : factors) {
    if (state.transfer.to.at(factor).type.shape.rank() > 0) {
      joined.tensors.push_back(factor);
      continue;
    }
    joined.scale = joined.scale ? times(*joined.scale, factor) : factor;
    if (!joined.scale) {
      return std::nullopt;
    }
  }
  return joined;
}

}  // namespace mtf
