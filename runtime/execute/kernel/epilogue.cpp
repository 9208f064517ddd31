#include "runtime/execute/kernel/epilogue.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

constexpr std::size_t kFarthest = 16;  // steps from a product to its chain

bool makes_bands(const KernelStep& step) {
  return step.call->op().algebra == Algebra::kEinsum && step.call->operands.size() >= 2 &&
         step.call->part == CallPart::kAll && !step.in_file;
}

// And cannot fail.
bool only_computes(const PreparedStep& step) {
  const bool computes =
      std::holds_alternative<KernelStep>(step.body) || std::holds_alternative<ChainStep>(step.body);
  return computes && !step.effect && step.finishes.empty() && step.starts.empty();
}

bool reads(const Step& step, SpmdId id) {
  bool found = false;
  for_read(step, [&](SpmdId read) { found = found || read == id; });
  return found;
}

// Whether the steps from the product up to its chain only compute, cannot fail, and make nothing
// that the chain reads besides. Notes what they read and make.
bool may_be_early(const PreparedProgram& prepared, std::size_t product, Epilogue& epilogue) {
  const SpmdProgram& program = *prepared.program;
  for (std::size_t s = product; s < epilogue.chain; ++s) {
    if (!only_computes(prepared.steps[s])) {
      return false;
    }
    for_read(program.steps[s], [&](SpmdId id) { epilogue.meanwhile.push_back(id); });
    for (const LocalCall& call : program.steps[s].calls) {
      if (s != product && reads(program.steps[epilogue.chain], call.result)) {
        return false;
      }
      if (s != product) {
        epilogue.meanwhile.push_back(call.result);
      }
    }
  }
  return only_computes(prepared.steps[epilogue.chain]);
}

}  // namespace

bool Epilogue::is_too_early(const PreparedProgram& prepared, std::size_t rank) const {
  return std::ranges::any_of(meanwhile,
                             [&](SpmdId id) { return prepared.shares_memory(rank, made, id); });
}

void find_epilogues(PreparedProgram& prepared, const std::vector<Readers>& readers,
                    const PrepareContext& context) {
  const SpmdProgram& program = *prepared.program;
  if (context.watched || !context.exact) {
    return;
  }
  for (std::size_t s = 0; s < prepared.steps.size(); ++s) {
    auto* product = std::get_if<KernelStep>(&prepared.steps[s].body);
    if (product == nullptr || !makes_bands(*product)) {
      continue;
    }
    const SpmdId result = product->call->result;
    const std::optional<std::size_t> reader = only_reader(readers, result, s);
    const bool is_near = reader && *reader <= s + kFarthest && *reader < prepared.steps.size();
    auto* chain = is_near ? std::get_if<ChainStep>(&prepared.steps[*reader].body) : nullptr;
    if (chain == nullptr || !chain->has_parts(result, product->ranks)) {
      continue;
    }
    Epilogue epilogue{.chain = *reader, .made = stored_by(program, *reader), .meanwhile = {}};
    if (may_be_early(prepared, s, epilogue)) {
      epilogue.done.resize(context.hosts.size());
      product->epilogue = std::make_shared<Epilogue>(std::move(epilogue));
      chain->leave_to(product->epilogue);
    }
  }
}

}  // namespace mtf
