#include "frontend/driver/verify_promise.h"

#include <bit>
#include <cstdint>
#include <optional>

#include "ir/kernel.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostWays = 16;

// What an operation without arithmetic reduces (the rows that `gather` picks) is no sum.
bool adds_floats(const LocalCall& call) {
  return (call.space.combine == Combine::kSum || call.space.combine == Combine::kProd) &&
         !call.call.op->effect && call.call.op->flops != nullptr &&
         is_float(call.call.result.dtype);
}

// Why the ranks that split `loop` do not hold whole subtrees, or "". `outer`: a reduced loop around
// it of which each rank has several blocks; its tree would have to be inside.
std::string why(std::int64_t blocks, std::int64_t ways, const LoopDim* outer) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(ways))) {
    return ", not a power of two";
  }
  if (ways > kMostWays) {
    return ", more than " + std::to_string(kMostWays);
  }
  if (outer != nullptr) {
    return ", inside the sum over " + outer->name + "; of one this large only " + outer->name +
           " may be split";
  }
  return blocks % ways == 0
             ? ""
             : ", but is cut into " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

std::optional<Ending> ending_of(const LocalCall& call, const Mesh& mesh) {
  if (!adds_floats(call)) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> blocks = canonical_blocks(call.space);
  const LoopDim* outer = nullptr;
  for (std::size_t l = 0; l < call.loops.size(); ++l) {
    const LoopDim& loop = call.space.loops[l];
    if (loop.role != DimRole::kReduced) {
      continue;
    }
    const std::int64_t ways = mesh.size_of(call.loops[l]);
    const std::string reason = ways == 1 ? "" : why(blocks[l], ways, outer);
    if (!reason.empty()) {
      const bool product = call.space.combine == Combine::kProd;
      return Ending{.text = loop.name + (product ? " is multiplied up" : " is summed") +
                            " and split " + std::to_string(ways) + " ways over " +
                            to_string(mesh, call.loops[l]) + reason,
                    .span = call.call.span};
    }
    outer = blocks[l] > ways ? &loop : outer;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Ending> endings_of(const SpmdProgram& program) {
  std::vector<Ending> endings;
  for (const Step& step : program.steps) {
    for (const LocalCall& call : step.calls) {
      if (std::optional<Ending> ending = ending_of(call, program.mesh)) {
        endings.push_back(*std::move(ending));
      }
    }
  }
  return endings;
}

}  // namespace mtf
