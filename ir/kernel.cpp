// The rule that cuts sums into canonical blocks (exact.md).
//
// It must depend on sizes and order alone. More blocks let more ranks split a loop exactly; fewer
// keep the chains of multiply-adds between two joins long, which is where the speed is.

#include "ir/kernel.h"

#include <limits>
#include <numeric>

namespace mtf {
namespace {

constexpr std::int64_t kMaxBlocks = 16;       // ways of splitting one loop that stay exact
constexpr std::int64_t kMinChain = 64;        // terms of a chain that inner loops must leave
constexpr std::int64_t kSmallVolume = 4'096;  // up to here speed does not matter

std::int64_t reduced_volume(const IterationSpace& space) {
  std::int64_t volume = 1;
  for (const LoopDim& loop : space.loops) {
    if (loop.role == DimRole::kReduced && __builtin_mul_overflow(volume, loop.size, &volume)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return volume;
}

}  // namespace

// gcd(16, n) for the outermost reduced loop, and for the inner ones too while the reduced volume is
// at most 4,096 terms; otherwise an inner loop's count is halved until a chain has 64 terms. The
// counts are powers of two, so every one divides its size.
std::vector<std::int64_t> canonical_blocks(const IterationSpace& space) {
  const std::int64_t volume = reduced_volume(space);
  std::vector<std::int64_t> blocks(space.loops.size(), 1);
  std::int64_t chain = volume;
  bool first = true;
  for (std::size_t i = 0; i < space.loops.size(); ++i) {
    const LoopDim& loop = space.loops[i];
    if (loop.role != DimRole::kReduced || loop.size == 0) {
      continue;
    }
    std::int64_t count = std::gcd(kMaxBlocks, loop.size);
    while (!first && volume > kSmallVolume && count > 1 && chain / count < kMinChain) {
      count /= 2;
    }
    blocks[i] = count;
    chain /= count;
    first = false;
  }
  return blocks;
}

std::int64_t blocks_of_share(const IterationSpace& space, std::size_t loop, std::int64_t parts) {
  const std::int64_t all = canonical_blocks(space)[loop];
  return all % parts == 0 ? all / parts : 1;
}

std::string canonical_order() {
  const std::string most = std::to_string(kMaxBlocks);
  const std::string terms = std::to_string(kSmallVolume);
  const std::string chain = std::to_string(kMinChain);
  return "A summed dim of size n is cut into gcd(" + most +
         ", n) blocks of its whole range. Each block is\n"
         "added up in one fixed order (products: one chain of fused multiply-adds, by index),\n"
         "blocks in a binary tree, whose upper part is what ranks add between them. Several\n"
         "summed dims nest in the order in which the operands name them. With more than " +
         terms +
         "\n"
         "terms, an inner dim has only so many blocks that a chain keeps " +
         chain +
         " terms.\n"
         "So all layouts that split summed dims in powers of two, each in at most " +
         most +
         " ways,\n"
         "give the same bits. Of several dims that cannot be summed one after the other without\n"
         "a tensor larger than the operands, only the outermost may be split. `mtf verify` "
         "tells.\n";
}

std::int64_t KernelCall::blocks(std::size_t loop) const {
  return blocks_of_share(space, loop, shares[loop].parts);
}

}  // namespace mtf
