#include "lowering/search/roles/held_values.h"

#include <algorithm>
#include <cstdint>

namespace mtf {
namespace {

constexpr std::size_t kTimes = 8;

class Lives {
 public:
  explicit Lives(const Program& program)
      : program_(program), begin_(program.values.size(), 0), end_(program.values.size(), 0) {
    find_updates();
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      begin_[i] = i;
      if (is_update_[i] != 0) {
        begin_[i] = 0;
        for (const ValueId operand : program_.values[i].operands) {
          begin_[i] = std::max(begin_[i], begin_[at(operand)]);
        }
      }
    }
    for (const ValueId output : program.outputs) {
      end_[at(output)] = begin_.size();
    }
    for (std::size_t i = begin_.size(); i-- > 0;) {
      const Value& value = program_.values[i];
      end_[i] = std::max(end_[i], begin_[i]);
      const bool is_alias = value.op != nullptr && value.op->alias;
      for (const ValueId operand : value.operands) {
        end_[at(operand)] = std::max(end_[at(operand)], is_alias ? end_[i] : begin_[i]);
      }
    }
  }

  // Of each part of the program, when most is held.
  [[nodiscard]] std::vector<std::size_t> times() const {
    std::vector<std::int64_t> change(begin_.size() + 2, 0);
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      if (takes_memory(i)) {
        change[begin_[i]] += program_.values[i].type.bytes();
        change[end_[i] + 1] -= program_.values[i].type.bytes();
      }
    }
    std::vector<std::size_t> result;
    std::int64_t held = 0;
    std::int64_t most = -1;
    for (std::size_t t = 0; t < begin_.size(); ++t) {
      held += change[t];
      if (t * kTimes / begin_.size() == result.size()) {
        result.push_back(t);
        most = held;
      } else if (held > most) {
        result.back() = t;
        most = held;
      }
    }
    return result;
  }

  [[nodiscard]] std::vector<ValueId> held_at(std::size_t time) const {
    std::vector<ValueId> result;
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      if (takes_memory(i) && begin_[i] <= time && time <= end_[i]) {
        result.push_back({static_cast<std::int32_t>(i)});
      }
    }
    return result;
  }

 private:
  // New values of variables, and what is computed element by element for nothing else.
  void find_updates() {
    is_update_.resize(program_.values.size());
    for (std::size_t i = 0; i < is_update_.size(); ++i) {
      const OpDef* op = program_.values[i].op;
      is_update_[i] =
          op != nullptr && op->tile != nullptr && op->algebra != Algebra::kEinsum ? 1 : 0;
    }
    for (const ValueId output : program_.outputs) {
      is_update_[at(output)] = 0;
    }
    for (std::size_t i = is_update_.size(); i-- > 0;) {
      for (const ValueId operand : program_.values[i].operands) {
        is_update_[at(operand)] = is_update_[i] != 0 ? is_update_[at(operand)] : char{0};
      }
    }
  }

  [[nodiscard]] bool takes_memory(std::size_t i) const {
    const Value& value = program_.values[i];
    return value.op != nullptr && !value.op->alias && !value.operands.empty();
  }

  const Program& program_;
  std::vector<char> is_update_;
  std::vector<std::size_t> begin_;  // per value, a time
  std::vector<std::size_t> end_;    // when it is last read
};

}  // namespace

std::vector<std::vector<ValueId>> held_values(const Program& program) {
  const Lives lives(program);
  std::vector<std::vector<ValueId>> result;
  for (const std::size_t time : lives.times()) {
    result.push_back(lives.held_at(time));
  }
  return result;
}

}  // namespace mtf
