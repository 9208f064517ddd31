#include "runtime/execute/kernel/kernel_step.h"

#include <algorithm>

#include "runtime/execute/executor_program.h"

namespace mtf {

std::optional<TimeSpan> KernelStep::run(const PreparedProgram& prepared, std::size_t rank,
                                        std::vector<void*>& addresses, ChainScratch& chains) {
  addresses.clear();
  for (const SpmdId id : call->operands) {
    addresses.push_back(prepared.at(rank, id));
  }
  if (epilogue != nullptr) {
    epilogue->done[rank] = std::nullopt;
    if (!epilogue->is_too_early(prepared, rank)) {
      return run_bands(prepared, rank, addresses, chains);
    }
  }
  KernelRuns* left = nullptr;
  if (runs != nullptr) {
    runs->ranks[rank].done = false;
    left = prepared.shares_memory(rank, runs->made, runs->of) ? nullptr : &runs->ranks[rank];
  }
  ranks[rank].run(addresses, call->result.valid() ? prepared.at(rank, call->result) : nullptr,
                  {.runs = left});
  return std::nullopt;
}

std::optional<TimeSpan> KernelStep::run_bands(const PreparedProgram& prepared, std::size_t rank,
                                              std::vector<void*>& addresses, ChainScratch& chains) {
  const auto& chain = std::get<ChainStep>(prepared.steps[epilogue->chain].body);
  std::vector<std::int64_t> taken(chains.tiles.size(), 0);  // by each thread
  KernelEpilogue asked;
  asked.take = [&](int thread, Interval elements, const void* values) {
    const std::int64_t begin = chains.timed ? nanoseconds_now() : 0;
    chain.run_part(prepared, rank, {.elements = elements, .of = call->result, .values = values},
                   chains, static_cast<std::size_t>(thread));
    taken[static_cast<std::size_t>(thread)] += chains.timed ? nanoseconds_now() - begin : 0;
  };
  ranks[rank].run(addresses, prepared.at(rank, call->result), {.epilogue = &asked});
  if (asked.done) {
    const std::int64_t end = chains.timed ? nanoseconds_now() : 0;
    epilogue->done[rank] = {.begin = end - std::ranges::max(taken), .end = end};
  }
  return epilogue->done[rank];
}

}  // namespace mtf
