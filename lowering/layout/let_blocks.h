// Rules for what `let`s named: which values lie by them.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf {

class LetBlocks {
 public:
  using Blocks = std::vector<const VariableRules*>;  // in the order of the layout

  LetBlocks() = default;  // none
  // `layouts`: per value, the one whose rules it is under; null where others say more of it: a
  // variable's, an `@`.
  LetBlocks(const Program& program, std::vector<const Layout*> layouts);

  // The blocks for what a `let` named, in whose place the value is; or null.
  [[nodiscard]] const Blocks* of(ValueId id) const;

 private:
  void find(const Program& program);
  void count(const Program& program);
  [[nodiscard]] bool may_be_like(const Program& program, ValueId id, ValueId other) const;
  void be_like(ValueId id, ValueId other);
  void spread_to_operands(const Program& program, ValueId id);
  void spread_to_gradient(const Program& program, ValueId id);

  std::unordered_map<std::int32_t, Blocks> blocks_;  // of values that a `let` named
  std::unordered_map<std::int32_t, ValueId> like_;   // what is computed for one of those alone
  std::vector<const Layout*> layouts_;               // per value
  std::vector<char> has_name_;                       // per value
  std::vector<int> readers_;                         // … but for gradients
};

}  // namespace mtf
