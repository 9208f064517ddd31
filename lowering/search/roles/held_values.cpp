#include "lowering/search/roles/held_values.h"

#include <algorithm>
#include <cstdint>

namespace mtf {

Lives::Lives(const Program& program)
    : program_(program),
      is_update_(program.values.size(), 0),
      begin_(program.values.size(), 0),
      end_(program.values.size(), 0) {
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

void Lives::find_updates() {
  for (std::size_t i = 0; i < is_update_.size(); ++i) {
    const OpDef* op = program_.values[i].op;
    is_update_[i] = op != nullptr && op->tile != nullptr && op->algebra != Algebra::kEinsum ? 1 : 0;
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

bool Lives::takes_memory(std::size_t i) const {
  const Value& value = program_.values[i];
  return value.op != nullptr && !value.op->alias && !value.operands.empty();
}

std::vector<std::int64_t> Lives::held() const {
  std::vector<std::int64_t> result(begin_.size() + 2, 0);
  for (std::size_t i = 0; i < begin_.size(); ++i) {
    if (takes_memory(i)) {
      result[begin_[i]] += program_.values[i].type.bytes();
      result[end_[i] + 1] -= program_.values[i].type.bytes();
    }
  }
  for (std::size_t t = 1; t < result.size(); ++t) {
    result[t] += result[t - 1];
  }
  result.resize(begin_.size());
  return result;
}

std::vector<ValueId> Lives::held_at(std::size_t time) const {
  std::vector<ValueId> result;
  for (std::size_t i = 0; i < begin_.size(); ++i) {
    if (takes_memory(i) && begin_[i] <= time && time <= end_[i]) {
      result.push_back({static_cast<std::int32_t>(i)});
    }
  }
  return result;
}

std::vector<std::vector<ValueId>> held_values(const Program& program) {
  const Lives lives(program);
  const std::vector<std::int64_t> held = lives.held();
  std::vector<std::vector<ValueId>> result;
  for (std::size_t part = 0; part < kPartsOfProgram; ++part) {
    const auto [begin, end] = part_of_program(part, held.size());
    if (begin < end) {
      const auto most = std::max_element(held.begin() + begin, held.begin() + end);
      result.push_back(lives.held_at(static_cast<std::size_t>(most - held.begin())));
    }
  }
  return result;
}

}  // namespace mtf
