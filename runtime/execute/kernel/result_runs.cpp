#include "runtime/execute/kernel/result_runs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

constexpr std::int64_t kZeroBytes = 32 << 10;  // which stay in a near cache

const std::byte* zeros() {
  alignas(64) static constexpr std::array<std::byte, kZeroBytes> kZeros{};
  return kZeros.data();
}

}  // namespace

ResultRuns::Stretch ResultRuns::stretch(std::size_t rank, const std::byte* place,
                                        std::int64_t width, Interval elements) const {
  const KernelRuns& runs = ranks[rank];
  const auto next = std::ranges::upper_bound(runs.begins, elements.begin);
  if (next != runs.begins.begin() && *std::prev(next) + runs.length > elements.begin) {
    const std::int64_t begin = *std::prev(next);
    const std::int64_t before = (next - runs.begins.begin() - 1) * runs.length;
    return {.first = place + (before - begin) * width,
            .end = std::min(elements.end(), begin + runs.length)};
  }
  const std::int64_t end = next == runs.begins.end() ? elements.end() : *next;
  return {.first = zeros() - elements.begin * width,
          .end = std::min({elements.end(), end, elements.begin + kZeroBytes / width})};
}

void find_result_runs(PreparedProgram& prepared, const std::vector<Readers>& readers,
                      const PrepareContext& context) {
  if (context.watched) {
    return;
  }
  for (std::size_t s = 0; s < prepared.steps.size(); ++s) {
    auto* kernel = std::get_if<KernelStep>(&prepared.steps[s].body);
    if (kernel == nullptr || !kernel->call->result.valid() || kernel->epilogue != nullptr) {
      continue;
    }
    const SpmdId result = kernel->call->result;
    const std::optional<std::size_t> reader = only_reader(readers, result, s);
    auto* chain = reader && *reader < prepared.steps.size()
                      ? std::get_if<ChainStep>(&prepared.steps[*reader].body)
                      : nullptr;
    if (chain != nullptr && chain->has_parts(result, kernel->ranks)) {
      kernel->runs = std::make_shared<ResultRuns>(
          ResultRuns{.of = result,
                     .made = stored_by(*prepared.program, *reader),
                     .ranks = std::vector<KernelRuns>(context.hosts.size())});
      chain->read_runs(kernel->runs);
    }
  }
}

}  // namespace mtf
