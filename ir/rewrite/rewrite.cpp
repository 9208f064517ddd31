// Dead code, common values, and moves that move nothing. Every pass goes over the list once and
// leaves what stays in the order of the text, on which exact results rest.

#include "ir/rewrite/rewrite.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/loops/loop.h"
#include "ir/rewrite/contract.h"
#include "ir/rewrite/join.h"
#include "ir/rewrite/transfer.h"

namespace mtf {
namespace {

// Inputs stay though nobody reads them: callers pass them by position.
std::vector<bool> live_values(const Program& program) {
  std::vector<bool> live(program.values.size());
  const auto mark = [&](ValueId id) { live[static_cast<std::size_t>(id.index)] = true; };
  for (const ValueId output : program.outputs) {
    mark(output);
  }
  for (const Update& update : program.updates) {
    mark(update.value);
  }
  for (std::size_t i = live.size(); i-- > 0;) {
    const Value& value = program.values[i];
    live[i] = live[i] || value.op == nullptr || value.op->effect;
    if (!live[i]) {
      continue;
    }
    for (const ValueId operand : value.operands) {
      mark(operand);
    }
    if (value.recompute.of.valid() && value.op->random) {
      mark(value.recompute.of);  // on whose place its numbers depend
    }
  }
  return live;
}

Program drop_dead(const Program& program) {
  const std::vector<bool> live = live_values(program);
  Transfer transfer = start_transfer(program);
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) {
      const ValueId id{static_cast<std::int32_t>(i)};
      transfer.map(id, append(transfer, moved_value(transfer, id)));
    }
  }
  return finish_transfer(std::move(transfer));
}

bool moves_nothing(const Program& to, const Value& value) {
  return value.op->algebra != Algebra::kNone && value.operands.size() == 1 &&
         to.at(value.operands.front()).type == value.type;
}

bool may_merge(const Value& value) {
  const ArgValue* seed = value.args.find("seed");
  const bool seeded = seed != nullptr && !std::holds_alternative<std::monostate>(*seed);
  return !value.op->effect && !is(value, Primitive::kCarry) && (!value.op->random || seeded);
}

// Two spellings, as in `over = io` and `-> [batch]`, may lead to the same result type.
bool type_says_all(Algebra kind) {
  return kind == Algebra::kSum || kind == Algebra::kEinsum || kind == Algebra::kBroadcast ||
         kind == Algebra::kTranspose;
}

// Text, because -0.0 == 0.0 and NaN != NaN would make `==` on the arguments wrong both ways.
std::string key_of(const Value& value) {
  std::string key(value.op->name);
  for (const ValueId operand : value.operands) {
    key += " %" + std::to_string(operand.index);
  }
  if (!type_says_all(value.op->algebra)) {
    key += " (" + to_string(value.args) + ")";
  }
  if (value.recompute.again != 0) {
    key += " again " + std::to_string(value.recompute.again);
  }
  return key + " " + to_string(value.type);
}

// The values that later ones may be equal to. What a trip of a loop makes is not there behind it.
class Known {
 public:
  // The value of that key; it is the new one, if there was none.
  std::pair<ValueId, bool> find(std::string key, ValueId fresh) {
    const auto [entry, is_new] = known_.try_emplace(std::move(key), fresh);
    if (is_new && !open_.empty()) {
      open_.back().push_back(entry->first);
    }
    return {entry->second, is_new};
  }

  void pass(const Value& value) {
    if (is(value, Primitive::kWhile)) {
      open_.emplace_back();
    } else if (is(value, Primitive::kAgain)) {
      for (const std::string& key : open_.back()) {
        known_.erase(key);
      }
      open_.pop_back();
    }
  }

 private:
  std::unordered_map<std::string, ValueId> known_;
  std::vector<std::vector<std::string>> open_;  // of the loops around, the keys that trips made
};

// One value for equal ones, none for moves that move nothing.
Program merge_equal(const Program& program) {
  Transfer transfer = start_transfer(program);
  Known known;
  const auto find = [&](const Value& value) -> ValueId {
    known.pass(value);
    if (value.op == nullptr || !may_merge(value)) {
      return {};
    }
    if (moves_nothing(transfer.to, value)) {
      return value.operands.front();
    }
    const ValueId next{static_cast<std::int32_t>(transfer.to.values.size())};
    const auto [same, is_new] = known.find(key_of(value), next);
    return is_new ? ValueId{} : same;
  };
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    Value value = moved_value(transfer, id);
    const ValueId same = find(value);
    if (!same.valid()) {
      transfer.map(id, append(transfer, std::move(value)));
      continue;
    }
    transfer.map(id, same);
    transfer.to.at(same).internal = transfer.to.at(same).internal && value.internal;
    std::string& name = transfer.to.at(same).name;
    if (name.empty()) {
      name = value.name;
    }
  }
  return finish_transfer(std::move(transfer));
}

}  // namespace

// Products are fused only while nobody else reads them, so dead readers must be gone before; and
// the fused ones must be gone before equal values are merged, as they would decide the order.
Program simplify(const Program& program, OpTable ops) {
  const Program clean = merge_equal(drop_dead(program));
  const Program contracted = drop_dead(merge_equal(drop_dead(contract(clean, ops))));
  return drop_dead(join_terms(contracted, ops));
}

}  // namespace mtf
