#include "runtime/execute/kernel/update_in_place.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

constexpr std::size_t kFarthest = 16;  // steps from a product to its chain

// Who reads a value.
struct Readers {
  int count = 0;
  std::size_t last = 0;  // step
};

std::vector<Readers> readers_of(const SpmdProgram& program) {
  std::vector<Readers> readers(program.values.size());
  const auto add = [&readers](SpmdId id, std::size_t step) {
    if (id.valid()) {
      Readers& of = readers[static_cast<std::size_t>(id.index)];
      of = {.count = of.count + 1, .last = step};
    }
  };
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    for_read(program.steps[s], [&](SpmdId id) { add(id, s); });
  }
  for (const SpmdId id : program.outputs) {
    add(id, program.steps.size());
  }
  for (const SpmdUpdate& update : program.updates) {
    add(update.value, program.steps.size());
  }
  return readers;
}

// The operand that is not `id`; nullopt if none or both are.
std::optional<SpmdId> other_operand(const LocalCall& call, SpmdId id) {
  if (call.operands.size() != 2 || (call.operands[0] == id) == (call.operands[1] == id)) {
    return std::nullopt;
  }
  return call.operands[call.operands[0] == id ? 1 : 0];
}

bool is_same_slice(const SpmdValue& a, const SpmdValue& b) {
  return a.type.dtype == b.type.dtype && a.local.shape == b.local.shape &&
         a.type.shape == b.type.shape && *a.layout == *b.layout;
}

// What the last call of a chain makes of `product`, or of that times one element.
std::optional<UpdateInPlace> sum_with(const SpmdProgram& program, const LocalCall& sum,
                                      SpmdId product) {
  const std::optional<SpmdId> onto = other_operand(sum, product);
  const bool subtracts = sum.op().lanes == LaneFn::kSubtract && sum.operands[1] == product;
  if (!onto || !(subtracts || sum.op().lanes == LaneFn::kAdd) ||
      !is_same_slice(program.at(*onto), program.at(product)) ||
      !is_same_slice(program.at(sum.result), program.at(product))) {
    return std::nullopt;
  }
  return UpdateInPlace{.onto = *onto, .scale = {}, .result = sum.result, .subtracts = subtracts};
}

std::optional<UpdateInPlace> update_of(const SpmdProgram& program, const Step& chain,
                                       SpmdId product) {
  const std::vector<LocalCall>& calls = chain.calls;
  if (calls.size() == 1) {
    return sum_with(program, calls[0], product);
  }
  const std::optional<SpmdId> scale = calls.size() == 2 && calls[0].op().lanes == LaneFn::kMultiply
                                          ? other_operand(calls[0], product)
                                          : std::nullopt;
  if (!scale || program.at(*scale).type.shape.rank() != 0 ||
      program.at(*scale).type.dtype != program.at(product).type.dtype ||
      program.at(calls[0].result).home != Home::kNone ||
      !is_same_slice(program.at(calls[0].result), program.at(product))) {
    return std::nullopt;
  }
  std::optional<UpdateInPlace> update = sum_with(program, calls[1], calls[0].result);
  if (update) {
    update->scale = *scale;
  }
  return update;
}

bool may_add_to(const KernelStep& step) {
  return step.call->op().algebra == Algebra::kEinsum && step.call->operands.size() >= 2 &&
         step.call->part == CallPart::kAll && !step.in_file;
}

// And cannot fail.
bool only_computes(const PreparedStep& step) {
  const bool computes =
      std::holds_alternative<KernelStep>(step.body) || std::holds_alternative<ChainStep>(step.body);
  return computes && !step.effect && step.finishes.empty() && step.starts.empty();
}

// Whether the steps from the product up to its chain only compute, cannot fail, and make nothing
// that the chain reads besides. Notes what they read and make, which must not lie where the result
// does.
bool may_be_early(const PreparedProgram& prepared, std::size_t product, std::size_t chain,
                  UpdateInPlace& update) {
  const SpmdProgram& program = *prepared.program;
  for (std::size_t s = product; s <= chain; ++s) {
    if (!only_computes(prepared.steps[s])) {
      return false;
    }
    if (s == chain) {
      break;
    }
    for_read(program.steps[s], [&update](SpmdId id) { update.meanwhile.push_back(id); });
    for (const LocalCall& call : program.steps[s].calls) {
      if (call.result == update.onto || call.result == update.scale) {
        return false;
      }
      if (s != product) {
        update.meanwhile.push_back(call.result);
      }
    }
  }
  return true;
}

}  // namespace

void find_updates_in_place(PreparedProgram& prepared, const PrepareContext& context) {
  const SpmdProgram& program = *prepared.program;
  if (context.watched || !context.exact) {
    return;
  }
  const std::vector<Readers> readers = readers_of(program);
  for (std::size_t s = 0; s < prepared.steps.size(); ++s) {
    auto* product = std::get_if<KernelStep>(&prepared.steps[s].body);
    if (product == nullptr || !may_add_to(*product)) {
      continue;
    }
    const Readers& reader = readers[static_cast<std::size_t>(product->call->result.index)];
    const bool is_near = reader.count == 1 && reader.last > s && reader.last <= s + kFarthest &&
                         reader.last < prepared.steps.size();
    auto* chain = is_near ? std::get_if<ChainStep>(&prepared.steps[reader.last].body) : nullptr;
    if (chain == nullptr) {
      continue;
    }
    std::optional<UpdateInPlace> update =
        update_of(program, program.steps[reader.last], product->call->result);
    if (update && may_be_early(prepared, s, reader.last, *update)) {
      update->done.assign(context.hosts.size(), 0);
      product->update = std::make_shared<UpdateInPlace>(*std::move(update));
      chain->leave_to(product->update);
    }
  }
}

}  // namespace mtf
