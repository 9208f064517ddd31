#include "lowering/search/roles/held_values.h"

#include <algorithm>
#include <cstdint>

#include "ir/loops/loop.h"

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

  [[nodiscard]] bool is_update(std::size_t i) const { return is_update_[i] != 0; }
  // Whether it has memory of its own.
  [[nodiscard]] bool takes_memory(std::size_t i) const {
    const Value& value = program_.values[i];
    return value.op != nullptr && !value.op->alias && !value.operands.empty();
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

  const Program& program_;
  std::vector<char> is_update_;
  std::vector<std::size_t> begin_;  // per value, a time
  std::vector<std::size_t> end_;    // when it is last read
};

// Of two, each of which has rows or columns of the result that the other one has not.
bool is_matrix_product(const Program& program, const Value& value) {
  if (value.op == nullptr || value.op->algebra != Algebra::kEinsum || value.operands.size() != 2) {
    return false;
  }
  const auto adds = [&](std::size_t one) {
    const Shape& other = program.at(value.operands[1 - one]).type.shape;
    return std::ranges::any_of(value.type.shape.dims(),
                               [&](const Dim& dim) { return !other.find(dim.name); });
  };
  return adds(0) && adds(1);
}

class Dependences {
 public:
  explicit Dependences(const Program& program) : program_(program), lives_(program) {
    for (const Value& value : program.values) {
      is_product_.push_back(is_matrix_product(program, value) ? 1 : 0);
    }
    for (const Update& update : program.updates) {
      is_product_[at(update.value)] = 0;  // which may be made in the place of the variable
    }
  }

  [[nodiscard]] std::vector<std::size_t> pivots() const {
    std::vector<std::size_t> result;
    for (std::size_t pivot : lives_.times()) {
      while (pivot > 0 && is_product_[pivot] == 0) {
        --pivot;
      }
      if (is_product_[pivot] != 0 && (result.empty() || result.back() != pivot)) {
        result.push_back(pivot);
      }
    }
    return result;
  }

  [[nodiscard]] std::vector<ValueId> held_with(std::size_t pivot) const {
    const std::vector<char> before = needed_by(pivot);
    const std::vector<char> is_read = read_behind(pivot);
    std::vector<ValueId> result;
    for (std::size_t i = 0; i <= pivot; ++i) {
      if (before[i] != 0 && is_read[i] != 0 && lives_.takes_memory(i) && !lives_.is_update(i)) {
        result.push_back({static_cast<std::int32_t>(i)});
      }
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<char> needed_by(std::size_t pivot) const {
    std::vector<char> is_needed(program_.values.size(), 0);
    is_needed[pivot] = 1;
    for (std::size_t i = pivot + 1; i-- > 0;) {
      for (const ValueId operand : program_.values[i].operands) {
        is_needed[at(operand)] |= is_needed[i];
      }
    }
    return is_needed;
  }

  // What something reads that waits for the pivot: a product, or anything if a product made it.
  [[nodiscard]] std::vector<char> read_behind(std::size_t pivot) const {
    std::vector<char> is_behind(program_.values.size(), 0);
    std::vector<char> is_read(program_.values.size(), 0);
    is_behind[pivot] = 1;
    for (std::size_t i = pivot + 1; i < is_behind.size(); ++i) {
      const Value& value = program_.values[i];
      for (const ValueId operand : value.operands) {
        is_behind[i] |= is_behind[at(operand)];
      }
      const bool is_alias = value.op != nullptr && value.op->alias;
      for (const ValueId operand : value.operands) {
        const bool is_there = is_product_[i] != 0 || is_product_[at(operand)] != 0;
        if (is_behind[i] != 0 && is_there && !is_alias) {
          is_read[at(operand)] = 1;
        }
      }
    }
    return is_read;
  }

  const Program& program_;
  Lives lives_;
  std::vector<char> is_product_;
};

}  // namespace

std::vector<std::vector<ValueId>> always_held(const Program& program) {
  const bool loops = std::ranges::any_of(
      program.values, [](const Value& value) { return is(value, Primitive::kWhile); });
  std::vector<std::vector<ValueId>> result;
  if (!loops) {
    const Dependences dependences(program);
    for (const std::size_t pivot : dependences.pivots()) {
      result.push_back(dependences.held_with(pivot));
    }
  }
  return result;
}

std::vector<std::vector<ValueId>> held_values(const Program& program) {
  const Lives lives(program);
  std::vector<std::vector<ValueId>> result;
  for (const std::size_t time : lives.times()) {
    result.push_back(lives.held_at(time));
  }
  return result;
}

}  // namespace mtf
