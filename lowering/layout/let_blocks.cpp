// What is computed element by element for such a value alone, and has no name, is in its place: the
// product and the sum of `let h = relu(x * w + b)`. So is what gradients compute of it, as far as
// that has no name of its own.

#include "lowering/layout/let_blocks.h"

#include <algorithm>
#include <utility>

namespace mtf {

LetBlocks::LetBlocks(const Program& program, std::vector<const Layout*> layouts)
    : layouts_(std::move(layouts)) {
  find(program);
  if (blocks_.empty()) {
    return;
  }
  count(program);
  const auto values = static_cast<std::int32_t>(program.values.size());
  for (std::int32_t i = values; i-- > 0;) {
    spread_to_operands(program, {i});
  }
  for (std::int32_t i = 0; i < values; ++i) {
    spread_to_gradient(program, {i});
  }
}

void LetBlocks::find(const Program& program) {
  for (const Let& let : program.lets) {
    const Layout* layout = layouts_[at(let.value)];
    if (layout == nullptr) {
      continue;
    }
    for (const VariableRules& block : layout->variables) {
      if (!block.names_let(let.path)) {
        continue;
      }
      Blocks& blocks = blocks_[let.value.index];  // a value may have several names
      if (std::ranges::find(blocks, &block) == blocks.end()) {
        blocks.insert(std::ranges::upper_bound(blocks, &block), &block);
      }
    }
  }
}

void LetBlocks::count(const Program& program) {
  has_name_.assign(program.values.size(), 0);
  for (const Let& let : program.lets) {
    has_name_[at(let.value)] = 1;
  }
  readers_.assign(program.values.size(), 0);
  for (const Value& value : program.values) {
    for (const ValueId operand : value.operands) {
      readers_[at(operand)] += value.backward ? 0 : 1;
    }
  }
}

bool LetBlocks::may_be_like(const Program& program, ValueId id, ValueId other) const {
  const Value& value = program.at(id);
  return value.op != nullptr && has_name_[at(id)] == 0 && of(id) == nullptr &&
         of(other) != nullptr && layouts_[at(id)] != nullptr &&
         value.region == program.at(other).region &&
         same_dims(value.type.shape, program.at(other).type.shape);
}

void LetBlocks::be_like(ValueId id, ValueId other) {
  const auto like = like_.find(other.index);
  like_.emplace(id.index, like == like_.end() ? other : like->second);
}

void LetBlocks::spread_to_operands(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (value.op == nullptr || value.op->tile == nullptr || value.backward) {
    return;
  }
  for (const ValueId operand : value.operands) {
    if (readers_[at(operand)] == 1 && may_be_like(program, operand, id)) {
      be_like(operand, id);
    }
  }
}

void LetBlocks::spread_to_gradient(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (value.op == nullptr || value.op->tile == nullptr || !value.backward) {
    return;
  }
  const auto other = std::ranges::find_if(
      value.operands, [&](ValueId operand) { return may_be_like(program, id, operand); });
  if (other != value.operands.end()) {
    be_like(id, *other);
  }
}

const LetBlocks::Blocks* LetBlocks::of(ValueId id) const {
  const auto like = like_.find(id.index);
  const auto found = blocks_.find(like == like_.end() ? id.index : like->second.index);
  return found == blocks_.end() ? nullptr : &found->second;
}

}  // namespace mtf
