#include "lowering/search/bound/role_operations.h"

#include <algorithm>
#include <functional>

#include "lowering/layout/rule_sources.h"
#include "lowering/spmd.h"

namespace mtf {
namespace {

bool is_product_of_two(const Value& value) {
  return value.op->algebra == Algebra::kEinsum && value.operands.size() % 2 == 0;
}

std::size_t hash_of(const RoleOperation& operation) {
  ContentHash hash;
  hash.add(std::hash<const OpDef*>()(operation.op));
  for (const double loop : operation.loops) {
    hash.add(static_cast<std::size_t>(loop));
  }
  for (const RoleTensor& tensor : operation.tensors) {
    hash.add(static_cast<std::size_t>(tensor.bytes));
    for (const std::int32_t dim : tensor.dims) {
      hash.add(static_cast<std::size_t>(dim));
    }
  }
  return hash.value();
}

}  // namespace

class RoleOperations::Reader {
 public:
  Reader(RoleOperations& result, const SearchSpace& space, const Program& program)
      : result_(result),
        space_(space),
        program_(program),
        sources_(program, space.limits().fixed),
        partial_(program),
        uses_(count_uses(program)) {}

  void run() {
    for (const Input& input : program_.inputs) {
      result_.inputs_.push_back(tensor(input.value, nullptr));
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const OpDef* op = program_.values[i].op;
      if (op != nullptr && op->space != nullptr && !op->effect && !op->alias) {
        add(i);
      }
    }
  }

 private:
  // Whether a value may be left a partial sum: only sums read it, of nothing but such values.
  class PartialSums {
   public:
    explicit PartialSums(const Program& program)
        : may_be_(program.values.size(), 0), is_read_whole_(program.values.size(), 0) {
      for (std::size_t i = 0; i < program.values.size(); ++i) {
        if (program.values[i].op != nullptr) {
          look_at(i, program.values[i]);
        }
      }
    }

    [[nodiscard]] bool may_be(std::size_t value) const {
      return may_be_[value] != 0 && is_read_whole_[value] == 0;
    }

   private:
    void look_at(std::size_t number, const Value& value) {
      const bool sums = value.op->algebra == Algebra::kEinsum || value.op->algebra == Algebra::kSum;
      const bool passes =
          value.op->linear != Linear::kNo &&
          std::ranges::all_of(value.operands, [this](ValueId id) { return may_be_[at(id)] != 0; });
      may_be_[number] = sums || passes ? 1 : 0;
      for (const ValueId operand : value.operands) {
        is_read_whole_[at(operand)] |= passes || value.op->algebra == Algebra::kSum ? 0 : 1;
      }
    }

    std::vector<char> may_be_;
    std::vector<char> is_read_whole_;
  };

  RoleTensor tensor(ValueId id, const DimMap* map) const {
    const Value& value = program_.at(id);
    const RuleSource source = sources_.of(id);
    const Layout& fixed = space_.limits().fixed;
    RoleTensor tensor{.dims = {},
                      .loops = {},
                      .bytes = static_cast<double>(value.type.bytes()),
                      .is_open = fixed.infer || value.internal || source.pin != nullptr ||
                                 source.layout != &fixed,
                      .is_variable = source.variable != nullptr,
                      .readers = value.op == nullptr ? std::max(1, uses_[at(id)]) : 0.0};
    for (std::size_t d = 0; d < value.type.shape.rank(); ++d) {
      const auto found = space_.find(value.type.shape.dims()[d].name);
      const bool is_one_loop = map != nullptr && (*map)[d].size() == 1;
      tensor.dims.push_back(found ? static_cast<std::int32_t>(*found) : -1);
      tensor.loops.push_back(is_one_loop ? static_cast<std::int32_t>((*map)[d].front()) : -1);
    }
    return tensor;
  }

  void add(std::size_t number) {
    const Value& value = program_.values[number];
    const ValueId id{static_cast<std::int32_t>(number)};
    const bool is_product = is_product_of_two(value);
    if (!is_product && value.op->tile == nullptr) {
      return;
    }
    const LocalCall call = unsplit_call(program_, id);
    RoleOperation operation{.tensors = {},
                            .loops = {},
                            .reduced = {},
                            .op = value.op,
                            .is_product = is_product,
                            .stays_partial = partial_.may_be(number)};
    for (const LoopDim& loop : call.space->loops) {
      if (loop.role != DimRole::kReduced && loop.role != DimRole::kKept) {
        return;
      }
      operation.loops.push_back(static_cast<double>(loop.size));
      operation.reduced.push_back(loop.role == DimRole::kReduced ? 1 : 0);
      operation.volume *= static_cast<double>(loop.size);
    }
    for (std::size_t o = 0; o < value.operands.size(); ++o) {
      operation.tensors.push_back(tensor(value.operands[o], &call.space->operands[o]));
    }
    operation.tensors.push_back(tensor(id, &call.space->result));
    result_.add(operation);
  }

  RoleOperations& result_;
  const SearchSpace& space_;
  const Program& program_;
  RuleSources sources_;
  PartialSums partial_;
  std::vector<int> uses_;
};

RoleOperations::RoleOperations(const SearchSpace& space, std::span<const Program> programs) {
  for (const Program& program : programs) {
    Reader(*this, space, program).run();
  }
}

void RoleOperations::add(const RoleOperation& operation) {
  const Number number = operations_.number(hash_of(operation), operation);
  counts_.resize(operations_.size());
  counts_[number] += 1;
}

}  // namespace mtf
