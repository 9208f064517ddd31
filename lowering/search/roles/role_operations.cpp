#include "lowering/search/roles/role_operations.h"

#include <algorithm>
#include <functional>
#include <map>

#include "lowering/layout/rule_sources.h"
#include "lowering/search/roles/held_values.h"
#include "lowering/spmd.h"

namespace mtf {
namespace {

bool is_product_of_two(const Value& value) {
  return value.op->algebra == Algebra::kEinsum && value.operands.size() % 2 == 0;
}

// Of a convolution, a factorisation: far more than it touches. 0: of what memory holds up.
double heavy_flops(const OpCall& call) {
  constexpr double kIntense = 16;  // flops for each element
  if (call.op->flops == nullptr) {
    return 0;
  }
  auto elements = static_cast<double>(call.result.shape.volume());
  for (const TensorType& operand : call.operands) {
    elements += static_cast<double>(operand.shape.volume());
  }
  const double flops = call.op->flops(call);
  return flops > kIntense * elements ? flops : 0;
}

std::size_t hash_of(const RoleOperation& operation) {
  ContentHash hash;
  hash.add(std::hash<const OpDef*>()(operation.op));
  for (const double loop : operation.loops) {
    hash.add(static_cast<std::size_t>(loop));
  }
  for (const RoleOperand& operand : operation.tensors) {
    hash.add(operand.tensor);
  }
  return hash.value();
}

std::size_t hash_of(const RoleTensor& tensor) {
  ContentHash hash;
  hash.add(static_cast<std::size_t>(tensor.bytes));
  for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
    hash.add(static_cast<std::size_t>(tensor.dims[d]));
    hash.add(static_cast<std::size_t>(tensor.sizes[d]));
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
      result_.inputs_.push_back(result_.number(tensor(input.value)));
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const OpDef* op = program_.values[i].op;
      if (op != nullptr && op->space != nullptr && !op->effect && !op->alias) {
        add(i);
      }
    }
    for (const std::vector<ValueId>& held : held_values(program_)) {
      result_.moments_.push_back(moment(held));
    }
    for (const std::vector<ValueId>& held : always_held(program_)) {
      result_.certain_moments_.push_back(moment(held));
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

  [[nodiscard]] RoleTensor tensor(ValueId id) const {
    const Value& value = program_.at(id);
    const RuleSource source = sources_.of(id);
    const Layout& fixed = space_.limits().fixed;
    const bool is_input = value.op == nullptr;
    RoleTensor tensor{.dims = {},
                      .sizes = {},
                      .bytes = static_cast<double>(value.type.bytes()),
                      .is_open = fixed.infer || value.internal || source.pin != nullptr ||
                                 source.layout != &fixed,
                      .is_variable = source.variable != nullptr,
                      .is_input = is_input,
                      .readers = is_input ? std::max(1, uses_[at(id)]) : 1.0};
    for (const Dim& dim : value.type.shape.dims()) {
      const auto found = space_.find(dim.name);
      tensor.dims.push_back(found ? static_cast<std::int32_t>(*found) : -1);
      tensor.sizes.push_back(dim.size);
    }
    return tensor;
  }

  [[nodiscard]] RoleOperand operand(ValueId id, const DimMap& map) const {
    RoleOperand result{.tensor = result_.number(tensor(id)), .loops = {}};
    for (const std::vector<std::size_t>& loops : map) {
      result.loops.push_back(loops.size() == 1 ? static_cast<std::int32_t>(loops.front()) : -1);
    }
    return result;
  }

  [[nodiscard]] Moment moment(const std::vector<ValueId>& held) {
    std::map<Number, double> bytes;  // of tensors that are split alike
    for (const ValueId id : held) {
      RoleTensor alike = tensor(id);
      const double own = std::exchange(alike.bytes, 0);
      bytes[result_.number(alike)] += own;
    }
    return {bytes.begin(), bytes.end()};
  }

  void add(std::size_t number) {
    const Value& value = program_.values[number];
    const ValueId id{static_cast<std::int32_t>(number)};
    const bool is_product = is_product_of_two(value);
    const LocalCall call = unsplit_call(program_, id);
    const double flops = is_product ? 0 : heavy_flops(call.call);
    if (!is_product && value.op->tile == nullptr && flops == 0) {
      return;
    }
    RoleOperation operation{.tensors = {},
                            .loops = {},
                            .reduced = {},
                            .op = value.op,
                            .flops = flops,
                            .is_product = is_product,
                            .stays_partial = partial_.may_be(number)};
    for (const LoopDim& loop : call.space->loops) {
      const bool is_whole = loop.role == DimRole::kWhole && flops > 0;
      if (loop.role != DimRole::kReduced && loop.role != DimRole::kKept && !is_whole) {
        return;
      }
      operation.loops.push_back(is_whole ? 1 : static_cast<double>(loop.size));
      operation.reduced.push_back(loop.role == DimRole::kReduced ? 1 : 0);
      operation.volume *= static_cast<double>(loop.size);
    }
    for (std::size_t o = 0; o < value.operands.size(); ++o) {
      operation.tensors.push_back(operand(value.operands[o], call.space->operands[o]));
    }
    operation.tensors.push_back(operand(id, call.space->result));
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

Number RoleOperations::number(const RoleTensor& tensor) {
  return tensors_.number(hash_of(tensor), tensor);
}

void RoleOperations::add(const RoleOperation& operation) {
  const Number number = operations_.number(hash_of(operation), operation);
  counts_.resize(operations_.size());
  counts_[number] += 1;
}

}  // namespace mtf
