#include "frontend/report/lint/promise.h"

#include <bit>
#include <cstdint>
#include <optional>

#include "ir/kernel.h"
#include "ir/support/number.h"
#include "lowering/partition/stages.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostWays = 16;

// What an operation without arithmetic reduces (the rows that `gather` picks) is no sum.
bool adds_floats(const LocalCall& call) {
  return call.split->space->combine != Combine::kMax &&
         call.split->space->combine != Combine::kMin && !call.op().effect &&
         call.op().flops != nullptr && is_float(call.split->call.result.dtype);
}

// Why the ranks that split a summed loop so often do not hold whole subtrees, or "".
std::string why(std::int64_t blocks, std::int64_t ways) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(ways))) {
    return ", not a power of two";
  }
  if (ways > kMostWays) {
    return ", more than " + std::to_string(kMostWays);
  }
  return blocks % ways == 0 ? "" : ", but is cut into " + plural(blocks, "block");
}

std::optional<Ending> ending_of(const SpmdProgram& program, const LocalCall& call) {
  const Mesh& mesh = program.mesh;
  if (!adds_floats(call)) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> blocks = canonical_blocks(call.split->space);
  const auto ending = [&](std::size_t loop, const std::string& reason) {
    const bool product = call.split->space->combine == Combine::kProd;
    const bool scan = call.split->space->loops[loop].role == DimRole::kScanned;
    return Ending{.text = call.split->space->loops[loop].name +
                          (scan      ? " is scanned"
                           : product ? " is multiplied up"
                                     : " is summed") +
                          " and split " + std::to_string(mesh.size_of(call.split->loops[loop])) +
                          " ways over " + to_string(mesh, call.split->loops[loop]) + reason,
                  .span = program.source.at(call.origin).span};
  };
  std::size_t innermost = 0;  // of the loops that are split
  for (std::size_t l = 0; l < call.split->loops.size(); ++l) {
    const std::int64_t ways = mesh.size_of(call.split->loops[l]);
    const DimRole role = call.split->space->loops[l].role;
    if ((role != DimRole::kReduced && role != DimRole::kScanned) || ways == 1) {
      continue;
    }
    if (const std::string reason = why(blocks[l], ways); !reason.empty()) {
      return ending(l, reason);
    }
    innermost = l;
  }
  // The partition finishes such sums in stages, unless that moves more than is summed.
  const std::vector<std::size_t> carrying =
      carrying_loops(call.split->space, call.split->loops, mesh);
  if (carrying.empty()) {
    return std::nullopt;
  }
  const std::string& outer = call.split->space->loops[carrying.back()].name;
  Ending found = ending(innermost, ", inside the sum over " + outer);
  found.split = call.split->space->loops[innermost].name;
  found.outer = outer;
  return found;
}

}  // namespace

std::vector<Ending> endings_of(const SpmdProgram& program) {
  std::vector<Ending> endings;
  for (const Step& step : program.steps) {
    for (const LocalCall& call : step.calls) {
      if (std::optional<Ending> ending = ending_of(program, call)) {
        endings.push_back(*std::move(ending));
      }
    }
  }
  return endings;
}

}  // namespace mtf
