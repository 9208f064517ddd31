#include "runtime/execute/kernel/kernel_step.h"

#include <algorithm>
#include <functional>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

// Whether what one rank has of two values shares memory.
bool overlap(const PreparedProgram& prepared, std::size_t rank, SpmdId a, SpmdId b) {
  const auto begin = [&](SpmdId id) {
    return static_cast<const std::byte*>(prepared.at(rank, id));
  };
  const auto end = [&](SpmdId id) { return begin(id) + prepared.program->at(id).local.bytes(); };
  const std::less<> before;
  return before(begin(a), end(b)) && before(begin(b), end(a));
}

}  // namespace

void KernelStep::run(const PreparedProgram& prepared, std::size_t rank,
                     std::vector<void*>& addresses) {
  addresses.clear();
  for (const SpmdId id : call->operands) {
    addresses.push_back(prepared.at(rank, id));
  }
  void* const out = call->result.valid() ? prepared.at(rank, call->result) : nullptr;
  if (update == nullptr) {
    return ranks[rank].run(addresses, out);
  }
  // The plan may give the chain's result the place of what is read for the last time before it.
  const bool is_taken = std::ranges::any_of(
      update->meanwhile, [&](SpmdId id) { return overlap(prepared, rank, id, update->result); });
  KernelUpdate asked{.out = prepared.at(rank, update->result),
                     .onto = prepared.at(rank, update->onto),
                     .scale = update->scale.valid() ? prepared.at(rank, update->scale) : nullptr,
                     .subtracts = update->subtracts};
  ranks[rank].run(addresses, out, is_taken ? nullptr : &asked);
  update->done[rank] = asked.done ? 1 : 0;
}

}  // namespace mtf
