#include "ir/rewrite/sums/join.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/rewrite/sums/terms.h"
#include "ir/rewrite/transfer.h"

namespace mtf {
namespace {

// Up to here, adding tensors up before their one sum costs nothing that matters.
constexpr std::int64_t kSmall = std::int64_t{1} << 16;

struct JoinState {
  Transfer transfer;
  OpTable ops;
  std::vector<int> uses;           // of each old value
  std::vector<char> in_tree;       // an inner node of a tree of additions
  std::vector<std::size_t> ready;  // of each old value, when_ready
};

// Per value the number of the last one that it waits for: that which it is computed from, element
// by element, takes no time and no memory to speak of.
std::vector<std::size_t> when_ready(const Program& program) {
  std::vector<std::size_t> ready(program.values.size());
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const Value& value = program.values[i];
    const bool by_element = value.op != nullptr && value.op->tile != nullptr;
    if (!by_element || value.operands.empty()) {
      ready[i] = i;
      continue;
    }
    for (const ValueId operand : value.operands) {
      ready[i] = std::max(ready[i], ready[static_cast<std::size_t>(operand.index)]);
    }
  }
  return ready;
}

std::string dims_key(const Shape& shape) {
  std::vector<std::string> names;
  for (const Dim& dim : shape.dims()) {
    names.push_back(dim.name + " " + std::to_string(dim.size));
  }
  std::ranges::sort(names);
  std::string key;
  for (const std::string& name : names) {
    key += name + ",";
  }
  return key;
}

// A contraction's operands in an order that does not depend on how the user wrote the product.
std::vector<ValueId> sorted_operands(const Program& program, ValueId term) {
  std::vector<ValueId> operands = program.at(term).operands;
  std::ranges::stable_sort(operands, {},
                           [&](ValueId id) { return dims_key(program.at(id).type.shape); });
  return operands;
}

std::int64_t volume_of(const Program& program, ValueId id) {
  return program.at(id).type.shape.volume();
}

bool is_variable(const Program& program, ValueId id) {
  return program.at(id).op == nullptr;
}

// The factor that takes the sign and the scale of a term: the smaller one, but no variable, whose
// layout is its own, if the other serves as well.
std::size_t scaled_factor(const Program& program, std::span<const ValueId> factors) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < factors.size(); ++i) {
    const bool variable = is_variable(program, factors[best]);
    const bool other = is_variable(program, factors[i]);
    const bool smaller = volume_of(program, factors[i]) < volume_of(program, factors[best]);
    best = variable != other ? (variable ? i : best) : smaller ? i : best;
  }
  return best;
}

// Whether joining a term costs nothing that matters: what is scaled or added up beforehand is small
// or no larger than the result, which would be scaled otherwise.
bool affordable(const Program& program, const SumTerm& term, const std::vector<ValueId>& factors) {
  const Value& value = program.at(term.value);
  const bool changed = term.negated || !term.scales.empty();
  const OpDef* summed = program.at(value.operands.front()).op;
  const bool of_product = value.op->algebra == Algebra::kEinsum ||
                          (summed != nullptr && summed->algebra == Algebra::kProduct);
  if (of_product && !changed) {
    return true;
  }
  const std::int64_t volume = volume_of(program, factors[scaled_factor(program, factors)]);
  return volume <= std::max(kSmall, value.type.shape.volume());
}

// Whether it is a sum or contraction of two that nobody else reads.
bool may_join(const JoinState& state, const SumTerm& term, const TensorType& sum) {
  const Program& program = state.transfer.from;
  const Value& value = program.at(term.value);
  const bool plain = !term.negated && term.scales.empty();
  const DType dtype = sums_up(value) ? program.at(value.operands.front()).type.dtype : sum.dtype;
  // What is narrow is not scaled, or added up, before its sum: that would round it.
  const bool in_time = dtype == sum.dtype || (wide_of(dtype) == sum.dtype && plain &&
                                              value.op->algebra == Algebra::kEinsum);
  return sums_up(value) && value.operands.size() <= 2 &&
         state.uses[static_cast<std::size_t>(term.value.index)] == 1 &&
         value.type.dtype == sum.dtype && same_dims(value.type.shape, sum.shape) &&
         is_float(sum.dtype) && in_time;
}

// Terms with one key may be joined; "" for those that cannot. What is computed under another layout
// of `with layout` is computed apart.
std::string key_of(const JoinState& state, const SumTerm& term, const TensorType& sum) {
  if (!may_join(state, term, sum)) {
    return "";
  }
  const Program& program = state.transfer.from;
  const Value& value = program.at(term.value);
  const DType dtype = program.at(value.operands.front()).type.dtype;
  const std::vector<ValueId> factors = sorted_operands(program, term.value);
  std::string key = std::to_string(value.region) + ";" + std::string(to_string(dtype)) + ";";
  bool reduces = false;
  for (const ValueId factor : factors) {
    const Shape& shape = program.at(factor).type.shape;
    key += dims_key(shape) + ";";
    reduces = reduces || !contains(sum.shape, shape);
  }
  return reduces ? key : "";
}

ValueId call(Builder& builder, const OpDef& op, std::vector<ValueId> operands) {
  const std::optional<ValueId> value = builder.call(op, operands);
  assert(value);
  return *value;
}

ValueId negated(Builder& builder, ValueId x) {
  return call(builder, op_of(builder.ops(), Primitive::kNegate), {x});
}

// x with such scales: a value of the new program.
ValueId scaled(const JoinState& state, Builder& builder, std::span<const TermScale> scales,
               ValueId x) {
  for (const TermScale& scale : scales) {
    const ValueId by = state.transfer.at(scale.by);
    x = call(builder, *scale.op, scale.first ? std::vector{by, x} : std::vector{x, by});
  }
  return x;
}

// The factors of a term in the new program: its sign and scales with one of them, and their dims in
// the order of `like`, those of the first term.
std::vector<ValueId> factors_of(const JoinState& state, Builder& builder, const SumTerm& term,
                                const std::vector<ValueId>& like) {
  std::vector<ValueId> factors = sorted_operands(state.transfer.from, term.value);
  const std::size_t changed = scaled_factor(state.transfer.from, factors);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = state.transfer.at(factors[i]);
    const ValueId before = factors[i];
    if (i == changed) {
      factors[i] = scaled(state, builder, term.scales, factors[i]);
      factors[i] = term.negated ? negated(builder, factors[i]) : factors[i];
    }
    if (like.size() > 1) {  // what is added up is matched by name
      factors[i] = builder.ordered(factors[i], builder.type_of(like[i]).shape);
    }
    if (factors[i] != before) {
      builder.program().at(factors[i]).internal = true;
    }
  }
  return factors;
}

// Those of one order first, so that no more than one of each other order is read across.
ValueId added_up(JoinState& state, Builder& builder, const std::vector<ValueId>& operands) {
  const auto add = [&](ValueId& total, ValueId operand) {
    total = call(builder, op_of(state.ops, Primitive::kAdd), {total, operand});
    state.transfer.to.at(total).internal = true;
  };
  std::vector<ValueId> totals;
  for (const ValueId operand : operands) {
    const auto same = std::ranges::find_if(totals, [&](ValueId total) {
      return builder.type_of(total).shape == builder.type_of(operand).shape;
    });
    same == totals.end() ? totals.push_back(operand) : add(*same, operand);
  }
  ValueId total = totals.front();
  std::for_each(totals.begin() + 1, totals.end(), [&](ValueId other) { add(total, other); });
  return total;
}

// What is added up is so in the order in which it is computed, so that each tensor may go before
// the next is there: gradients are, the last layer's first.
void put_in_order(const JoinState& state, std::vector<SumTerm>& terms) {
  std::ranges::stable_sort(terms, {}, [&](const SumTerm& term) {
    const ValueId summed = state.transfer.from.at(term.value).operands.front();
    return state.ready[static_cast<std::size_t>(summed.index)];
  });
}

// One sum for all the terms: a contraction of several products, or the sum of their sum.
ValueId joined(JoinState& state, const Value& like, std::vector<SumTerm> terms) {
  const Program& from = state.transfer.from;
  if (from.at(terms.front().value).operands.size() == 1) {
    put_in_order(state, terms);
  }
  DiagSink none;
  Builder builder(state.transfer.to, state.ops, none);
  builder.at(like);
  builder.within(from.at(terms.front().value).region);
  OpArgs args;
  args.set("to", like.type.shape);
  args.set("dtype", like.type.dtype);
  std::vector<ValueId> operands;
  std::vector<ValueId> first;
  for (const SumTerm& term : terms) {
    std::vector<ValueId> factors = factors_of(state, builder, term, first);
    operands.insert(operands.end(), factors.begin(), factors.end());
    first = first.empty() ? factors : first;
  }
  if (first.size() == 2) {
    args.set("terms", static_cast<std::int64_t>(terms.size()));
    return builder.emit(Algebra::kEinsum, operands, args);
  }
  const ValueId total = added_up(state, builder, operands);
  return builder.emit(from.at(terms.front().value).op->name, {total}, args);
}

// The terms that can be joined with others, by their keys.
std::map<std::string, TermGroup> groups_of(const JoinState& state,
                                           const std::vector<SumTerm>& terms,
                                           const TensorType& sum) {
  std::map<std::string, TermGroup> groups;
  const auto may = [&](const SumTerm& term) { return may_join(state, term, sum); };
  if (std::ranges::count_if(terms, may) < 2) {
    return groups;
  }
  for (const SumTerm& term : terms) {
    groups[key_of(state, term, sum)].terms.push_back(term);
  }
  groups.erase("");
  for (auto& [key, group] : groups) {
    take_common(group);
    std::erase_if(group.terms, [&](const SumTerm& term) {
      const Program& program = state.transfer.from;
      return !affordable(program, term, sorted_operands(program, term.value));
    });
  }
  std::erase_if(groups, [](const auto& group) { return group.second.terms.size() < 2; });
  return groups;
}

// The group that the term is joined in, or null.
const TermGroup* group_of(const std::map<std::string, TermGroup>& groups, const SumTerm& term) {
  const auto has_it = [&term](const auto& entry) {
    return std::ranges::find(entry.second.terms, term.value, &SumTerm::value) !=
           entry.second.terms.end();
  };
  const auto found = std::ranges::find_if(groups, has_it);
  return found == groups.end() ? nullptr : &found->second;
}

// The sum of the terms, those of one key joined where the first of them stood.
ValueId joined_sum(JoinState& state, ValueId root) {
  const Value& value = state.transfer.from.at(root);
  const std::vector<SumTerm> terms = terms_of(state.transfer.from, state.in_tree, root);
  const std::map<std::string, TermGroup> groups = groups_of(state, terms, value.type);
  if (groups.empty()) {
    return append_moved(state.transfer, root);
  }
  DiagSink none;
  Builder builder(state.transfer.to, state.ops, none);
  builder.at(value);
  ValueId sum;
  const auto add = [&](ValueId part, bool negative) {
    if (!sum.valid()) {
      sum = negative ? negated(builder, part) : part;
    } else {
      sum = call(builder, op_of(state.ops, negative ? Primitive::kSubtract : Primitive::kAdd),
                 {sum, part});
    }
  };
  for (const SumTerm& term : terms) {
    const TermGroup* group = group_of(groups, term);
    if (group == nullptr) {
      add(scaled(state, builder, term.scales, state.transfer.at(term.value)), term.negated);
    } else if (group->terms.front().value == term.value) {
      const ValueId one = joined(state, value, group->terms);
      add(scaled(state, builder, group->scales, one), group->negated);
    }
  }
  state.transfer.to.at(sum).name = value.name;
  return sum;
}

}  // namespace

Program join_terms(Program program, OpTable ops) {
  std::vector<int> uses = count_uses(program);
  std::vector<char> inner = inner_nodes(program, uses);
  JoinState state{.transfer = start_transfer(program),
                  .ops = ops,
                  .uses = std::move(uses),
                  .in_tree = std::move(inner),
                  .ready = when_ready(program)};
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    const bool root = is_addition(value) && state.in_tree[i] == 0;
    state.transfer.map(id, root ? joined_sum(state, id) : append_moved(state.transfer, id));
  }
  return finish_transfer(std::move(state.transfer));
}

}  // namespace mtf
