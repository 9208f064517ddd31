#include "lowering/search/roles/role_operations.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "ir/loops/loop.h"
#include "lowering/layout/rule_sources.h"
#include "lowering/price/conversions.h"
#include "lowering/search/roles/always_held.h"
#include "lowering/search/roles/held_values.h"
#include "lowering/search/roles/passage.h"
#include "lowering/spmd.h"

namespace mtf {
namespace {

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

bool contains(const RoleOperations::Moment& whole, const RoleOperations::Moment& other) {
  return std::ranges::all_of(other, [&whole](const auto& part) {
    const auto found =
        std::ranges::lower_bound(whole, part.first, {}, &std::pair<Number, double>::first);
    return found != whole.end() && found->first == part.first && found->second >= part.second;
  });
}

// Those that hold most, of which none has all that another has.
void keep_largest(std::vector<RoleOperations::Moment>& moments) {
  constexpr std::size_t kMost = 12;
  std::ranges::stable_sort(moments, std::greater<>(), [](const RoleOperations::Moment& moment) {
    double bytes = 0;
    for (const auto& [tensor, part] : moment) {
      bytes += part;
    }
    return bytes;
  });
  std::vector<RoleOperations::Moment> kept;
  for (RoleOperations::Moment& moment : moments) {
    const auto contains_it = [&moment](const RoleOperations::Moment& larger) {
      return contains(larger, moment);
    };
    if (kept.size() < kMost && std::ranges::none_of(kept, contains_it)) {
      kept.push_back(std::move(moment));
    }
  }
  moments = std::move(kept);
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
  Reader(RoleOperations& result, const SearchSpace& space, const Program& program, bool exact)
      : result_(result),
        space_(space),
        program_(program),
        sources_(program, space.limits().fixed),
        partial_(program, exact),
        uses_(count_uses(program)),
        is_narrowed_(program.values.size(), 0) {
    for (const Value& value : program.values) {
      const bool narrows =
          is(value, Primitive::kCast) &&
          bytes_of(value.type.dtype) < bytes_of(program.at(value.operands[0]).type.dtype);
      if (narrows) {
        is_narrowed_[at(value.operands[0])] = 1;
      }
    }
    if (!has_conditions()) {
      passage_.emplace(program, exact);
    }
  }

  void run() {
    result_.has_own_rules_ = result_.has_own_rules_ || has_own_rules();
    result_.through_memory_ += passage_ ? passage_->through_memory() : 0;
    Memory& memory = result_.memory_.emplace_back();
    for (const Input& input : program_.inputs) {
      memory.inputs.push_back(result_.number(tensor(input.value)));
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const OpDef* op = program_.values[i].op;
      if (op != nullptr && op->space != nullptr && !op->effect && !op->alias) {
        add(i);
      }
    }
    for (const std::vector<ValueId>& held : held_values(program_)) {
      memory.moments.push_back(moment(held));
    }
    for (const AlwaysHeld& held : always_held(program_)) {
      memory.certain_moments.push_back(moment(held.across, held.at_once));
    }
    keep_largest(memory.certain_moments);
  }

 private:
  // Whether a value may be left a partial sum: only sums read it, of nothing but such values.
  class PartialSums {
   public:
    PartialSums(const Program& program, bool exact)
        : exact_(exact),
          may_be_(program.values.size(), 0),
          is_read_whole_(program.values.size(), 0) {
      for (std::size_t i = 0; i < program.values.size(); ++i) {
        if (program.values[i].op != nullptr) {
          look_at(i, program.values[i]);
        }
      }
      for (const ValueId output : program.outputs) {
        is_read_whole_[at(output)] = 1;
      }
      for (const Update& update : program.updates) {
        is_read_whole_[at(update.value)] = 1;
      }
    }

    [[nodiscard]] bool may_be(std::size_t value) const {
      return may_be_[value] != 0 && is_read_whole_[value] == 0;
    }

   private:
    void look_at(std::size_t number, const Value& value) {
      const bool sums = value.op->algebra == Algebra::kEinsum || value.op->algebra == Algebra::kSum;
      const bool passes =
          (value.op->linear == Linear::kEach || (value.op->linear == Linear::kJoint && !exact_)) &&
          std::ranges::all_of(value.operands, [this](ValueId id) { return may_be_[at(id)] != 0; });
      may_be_[number] = sums || passes ? 1 : 0;
      for (const ValueId operand : value.operands) {
        is_read_whole_[at(operand)] |= passes || value.op->algebra == Algebra::kSum ? 0 : 1;
      }
    }

    bool exact_ = true;
    std::vector<char> may_be_;
    std::vector<char> is_read_whole_;
  };

  // Whether some `@` or rule has only some ranks hold a tensor, who alone may do the work.
  [[nodiscard]] bool has_conditions() const {
    const auto has_some = [](const auto& rules) {
      return std::ranges::any_of(rules, [](const auto& rule) { return !rule.where.empty(); });
    };
    const auto in_layout = [&](const Layout& layout) {
      return has_some(layout.rules) ||
             std::ranges::any_of(layout.variables,
                                 [&](const VariableRules& block) { return has_some(block.rules); });
    };
    return in_layout(space_.limits().fixed) || std::ranges::any_of(program_.regions, in_layout) ||
           std::ranges::any_of(program_.values, [&](const Value& value) {
             const Pin* pin = value.args.get<Pin>("layout");
             return pin != nullptr && has_some(pin->rules);
           });
  }

  [[nodiscard]] bool has_own_rules() const {
    return !space_.limits().fixed.variables.empty() || !program_.regions.empty() ||
           std::ranges::any_of(program_.values, [](const Value& value) {
             return value.args.get<Pin>("layout") != nullptr;
           });
  }

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

  // `anyhow`: what may lie otherwise than the rules say.
  [[nodiscard]] Moment moment(std::span<const ValueId> held,
                              std::span<const AlwaysHeld::Part> anyhow = {}) {
    std::map<Number, double> bytes;  // of tensors that are split alike
    const auto add = [&](RoleTensor alike, double own) {
      alike.bytes = 0;
      bytes[result_.number(alike)] += own;
    };
    for (const ValueId id : held) {
      add(tensor(id), static_cast<double>(program_.at(id).type.bytes()));
    }
    for (const AlwaysHeld::Part& part : anyhow) {
      RoleTensor open = tensor(part.like);
      open.is_open = true;
      add(std::move(open), static_cast<double>(part.bytes));
    }
    return {bytes.begin(), bytes.end()};
  }

  void add(std::size_t number) {
    const Value& value = program_.values[number];
    const ValueId id{static_cast<std::int32_t>(number)};
    const bool is_product = is_product_of_two(*value.op, value.operands.size());
    const SplitCall call = unsplit_call(program_, id);
    const double flops = is_product ? 0 : heavy_flops(call.call);
    RoleOperation operation{.tensors = {},
                            .loops = {},
                            .reduced = {},
                            .op = value.op,
                            .way = call.space->way,
                            .conversions = conversions_of(call.call),
                            .flops = flops,
                            .is_product = is_product,
                            .is_element_wise = !is_product && value.op->tile != nullptr,
                            .has_single_loops = has_single_loops(*call.space),
                            .stays_partial = partial_.may_be(number),
                            .is_narrowed = is_narrowed_[number] != 0};
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
      RoleOperand read = operand(value.operands[o], call.space->operands[o]);
      if (passage_) {
        read.passage = passage_->read(id, o, false);
        read.passage_twice = passage_->read(id, o, true);
        read.passage_flops = passage_->flops_of_read(id, o);
      }
      operation.tensors.push_back(std::move(read));
    }
    operation.tensors.push_back(operand(id, call.space->result));
    if (passage_) {
      RoleOperand& made = operation.tensors.back();
      made.passage = made.passage_twice = passage_->made(id);
      made.passage_flops = passage_->flops_of_made(id);
    }
    result_.add(operation);
  }

  RoleOperations& result_;
  const SearchSpace& space_;
  const Program& program_;
  RuleSources sources_;
  PartialSums partial_;
  std::vector<int> uses_;
  std::vector<char> is_narrowed_;  // whether a cast reads it, to fewer bytes
  std::optional<Passage> passage_;
};

RoleOperations::RoleOperations(const SearchSpace& space, std::span<const Program> programs,
                               bool exact) {
  for (const Program& program : programs) {
    Reader(*this, space, program, exact).run();
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
