#include "ir/loops/carried.h"

#include <algorithm>
#include <vector>

#include "ir/loops/loop.h"

namespace mtf {
namespace {

class Carried {
 public:
  Carried(const Builder& builder, std::span<const ValueId> targets)
      : builder_(builder),
        program_(builder.program()),
        targets_(targets),
        depends_(program_.values.size(), 0),
        ended_(program_.values.size(), 0) {
    for (const Value& value : program_.values) {
      if (is(value, Primitive::kNext)) {
        ended_[at(value.operands.front())] = 1;
      }
    }
    for (const ValueId target : targets) {
      depends_[at(target)] = 1;
    }
    while (spread()) {
    }
  }

  ValueId last_before(ValueId of) const {
    std::vector<char> reached(at(of) + 1, 0);
    reached[at(of)] = 1;
    for (ValueId id = of; id.valid(); --id.index) {
      if (reached[at(id)] == 0 || depends_[at(id)] == 0) {
        continue;
      }
      if (is(program_.at(id), Primitive::kCarry) && !is_target(id)) {
        return id;
      }
      for (const ValueId on : flows_to(id)) {
        reached[at(on)] = 1;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_target(ValueId id) const {
    return std::ranges::find(targets_, id) != targets_.end();
  }

  // What a gradient of the value goes on to.
  [[nodiscard]] std::span<const ValueId> flows_to(ValueId id) const {
    const Value& value = program_.at(id);
    if (value.op == nullptr || value.op->grad == nullptr || !is_float(value.type.dtype)) {
      return {};
    }
    const OwnGradient* own = builder_.own_gradient_of(id);
    return own != nullptr ? own->by : value.operands;
  }

  // Of a loop that has not ended, any value from before it may turn out to be what a trip makes the
  // next value of.
  [[nodiscard]] bool may_come_in(ValueId target, ValueId carry) const {
    if (program_.at(target).op == nullptr) {
      return true;
    }
    for (ValueId id = target; id < carry; ++id.index) {
      if (!is(program_.at(id), Primitive::kCarry)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool depends(ValueId id) const {
    const auto does = [this](ValueId on) { return depends_[at(on)] != 0; };
    const Value& value = program_.at(id);
    if (is(value, Primitive::kCarry) && is_float(value.type.dtype)) {
      return does(value.operands.front()) ||
             (ended_[at(id)] == 0 && std::ranges::any_of(targets_, [&](ValueId target) {
                return may_come_in(target, id);
              }));
    }
    return std::ranges::any_of(flows_to(id), does);
  }

  // One pass over the list; whether more values depend on targets than before.
  bool spread() {
    bool more = false;
    const auto set = [&](ValueId id) {
      more = more || depends_[at(id)] == 0;
      depends_[at(id)] = 1;
    };
    for (ValueId id{0}; at(id) < depends_.size(); ++id.index) {
      const Value& value = program_.at(id);
      if (is(value, Primitive::kNext) && depends_[at(value.operands[1])] != 0 &&
          is_float(program_.at(value.operands[1]).type.dtype)) {
        set(value.operands[0]);
      } else if (depends_[at(id)] == 0 && depends(id)) {
        set(id);
      }
    }
    return more;
  }

  const Builder& builder_;
  const Program& program_;
  std::span<const ValueId> targets_;
  std::vector<char> depends_;  // per value, on a target
  std::vector<char> ended_;    // per carried value, its loop
};

}  // namespace

ValueId carried_between(const Builder& builder, ValueId of, std::span<const ValueId> targets) {
  const auto is_carried = [](const Value& value) { return is(value, Primitive::kCarry); };
  return std::ranges::any_of(builder.program().values, is_carried)
             ? Carried(builder, targets).last_before(of)
             : ValueId{};
}

}  // namespace mtf
