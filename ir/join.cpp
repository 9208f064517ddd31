#include "ir/join.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/transfer.h"

namespace mtf {
namespace {

struct Joining {
  Transfer transfer;
  OpTable ops;
  std::vector<int> uses;      // of each old value
  std::vector<char> in_tree;  // an addition whose only reader is an addition
};

bool is_addition(const Value& value) {
  return value.op != nullptr && value.op->symbol == "+";
}

// Which additions are inner nodes of a tree of additions.
std::vector<char> inner_additions(const Program& program, const std::vector<int>& uses) {
  std::vector<char> inner(program.values.size(), 0);
  for (const Value& value : program.values) {
    for (const ValueId operand : value.operands) {
      const auto index = static_cast<std::size_t>(operand.index);
      const Value& term = program.at(operand);
      if (is_addition(value) && is_addition(term) && uses[index] == 1 && term.type == value.type) {
        inner[index] = 1;
      }
    }
  }
  return inner;
}

std::vector<ValueId> terms_of(const Joining& state, ValueId root) {
  std::vector<ValueId> terms;
  std::vector<ValueId> pending = {root};
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (id != root && state.in_tree[static_cast<std::size_t>(id.index)] == 0) {
      terms.push_back(id);
      continue;
    }
    const std::vector<ValueId>& operands = state.transfer.from.at(id).operands;
    pending.insert(pending.end(), operands.rbegin(), operands.rend());
  }
  return terms;
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

// Terms with one key can be stacked; "" for what is no contraction, or is read elsewhere too.
std::string key_of(const Joining& state, ValueId term, const TensorType& sum) {
  const Program& program = state.transfer.from;
  const Value& value = program.at(term);
  const bool joins = value.op != nullptr && value.op->algebra == Algebra::kEinsum &&
                     state.uses[static_cast<std::size_t>(term.index)] == 1 &&
                     same_dims(value.type.shape, sum.shape) && is_float(sum.dtype);
  if (!joins) {
    return "";
  }
  std::string key;
  bool reduces = false;
  for (const ValueId operand : sorted_operands(program, term)) {
    const Shape& shape = program.at(operand).type.shape;
    key += dims_key(shape) + ";";
    reduces = reduces || !contains(sum.shape, shape);
  }
  return reduces ? key : "";
}

// The contraction of the stacked operands of `terms`.
ValueId contraction(Joining& state, const Value& like, const std::vector<ValueId>& terms) {
  Program& to = state.transfer.to;
  DiagSink none;
  Builder builder(to, state.ops, none);
  builder.at(like);
  std::vector<std::vector<ValueId>> columns;
  for (const ValueId term : terms) {
    const std::vector<ValueId> operands = sorted_operands(state.transfer.from, term);
    columns.resize(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      columns[i].push_back(state.transfer.at(operands[i]));
    }
  }
  std::vector<ValueId> stacked;
  for (const std::vector<ValueId>& column : columns) {
    OpArgs dim;
    dim.set("dim", std::vector<Dim>{{"+", static_cast<std::int64_t>(column.size())}});
    stacked.push_back(builder.emit("stack", column, dim));
    to.at(stacked.back()).internal = true;
  }
  OpArgs args;
  args.set("to", like.type.shape);
  return builder.emit("einsum", stacked, args);
}

// The sum of the terms, those of one key joined where the first of them stood.
ValueId joined_sum(Joining& state, ValueId root) {
  const Value& value = state.transfer.from.at(root);
  const std::vector<ValueId> terms = terms_of(state, root);
  std::map<std::string, std::vector<ValueId>> groups;
  for (const ValueId term : terms) {
    groups[key_of(state, term, value.type)].push_back(term);
  }
  groups.erase("");
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  if (groups.empty()) {
    return append(state.transfer, moved_value(state.transfer, root));
  }
  std::vector<ValueId> parts;
  for (const ValueId term : terms) {
    const auto group = groups.find(key_of(state, term, value.type));
    if (group == groups.end()) {
      parts.push_back(state.transfer.at(term));
    } else if (group->second.front() == term) {
      parts.push_back(contraction(state, value, group->second));
    }
  }
  ValueId sum = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Value next = value;
    next.operands = {sum, parts[i]};
    sum = append(state.transfer, std::move(next));
  }
  state.transfer.to.at(sum).name = value.name;
  return sum;
}

}  // namespace

Program join_terms(const Program& program, OpTable ops) {
  std::vector<int> uses = count_uses(program);
  std::vector<char> inner = inner_additions(program, uses);
  Joining state{.transfer = start_transfer(program),
                .ops = ops,
                .uses = std::move(uses),
                .in_tree = std::move(inner)};
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    const bool root = is_addition(value) && state.in_tree[i] == 0;
    state.transfer.map(
        id, root ? joined_sum(state, id) : append(state.transfer, moved_value(state.transfer, id)));
  }
  return finish_transfer(std::move(state.transfer));
}

}  // namespace mtf
