// The rule that cuts sums into canonical blocks (runtime/EXACT.md).
//
// It must depend on sizes and order alone. More blocks let more ranks split a loop exactly; fewer
// keep the chains of multiply-adds between two joins long, which is where the speed is.

#include "ir/kernel.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/rewrite/sums/join.h"

namespace mtf {
namespace {

constexpr std::int64_t kMaxBlocks = 16;          // ways of splitting one loop that stay exact
constexpr std::int64_t kMinChain = 64;           // terms of a chain that inner loops must leave
constexpr std::int64_t kSmallVolume = 8'192;     // terms; up to here speed does not matter, but
constexpr std::int64_t kLargeProduct = 1 << 24;  // multiply-adds; from here it does, and
constexpr std::int64_t kProductChain = 16;       // so many terms make adding leaves up cheap

// A summed dim, or its blocks, which the result keeps while what is inside of them is summed.
struct Summed {
  std::size_t loop = 0;
  std::int64_t size = 1;  // of the dim
  std::int64_t blocks = 1;
};

// So many that each has the least of indices, one perhaps with fewer.
std::int64_t blocks_of(std::int64_t size, std::int64_t least) {
  std::int64_t blocks = std::gcd(kMaxBlocks, size);
  while (blocks > 1 && size / blocks < least) {
    blocks /= 2;
  }
  return blocks;
}

std::vector<Summed> summed_dims(const IterationSpace& space) {
  std::vector<Summed> dims;
  for (std::size_t l = 0; l < space.loops.size(); ++l) {
    const LoopDim& loop = space.loops[l];
    const bool reduced = loop.role == DimRole::kReduced && may_be_split(loop.name);
    const bool kept_blocks =
        l + 1 < space.loops.size() && space.loops[l + 1].name == name_inside(loop.name);
    if ((reduced || kept_blocks) && loop.size > 0) {
      const std::int64_t size = kept_blocks ? loop.size * space.loops[l + 1].size : loop.size;
      dims.push_back({.loop = l, .size = size, .blocks = blocks_of(size, loop.least_block)});
    }
  }
  return dims;
}

// A product that stays at the largest number.
class Volume {
 public:
  void times(std::int64_t n) {
    if (__builtin_mul_overflow(value_, n, &value_)) {
      value_ = std::numeric_limits<std::int64_t>::max();
    }
  }
  [[nodiscard]] std::int64_t value() const { return value_; }

 private:
  std::int64_t value_ = 1;
};

// Of one result.
std::int64_t terms_of(const IterationSpace& space, std::span<const Summed> dims) {
  Volume terms;
  for (const Summed& dim : dims) {
    terms.times(dim.size);
  }
  for (std::size_t l = 0; l < space.loops.size(); ++l) {
    const LoopDim& loop = space.loops[l];
    const bool inside = l > 0 && loop.name == name_inside(space.loops[l - 1].name);
    if (loop.role == DimRole::kReduced && !may_be_split(loop.name) && !inside) {
      terms.times(loop.size);
    }
  }
  return terms.value();
}

// Multiply-adds of all results: the same for the whole sum and for what is inside its blocks.
bool is_large_product(const IterationSpace& space) {
  Volume work;
  for (const LoopDim& loop : space.loops) {
    work.times(loop.size);
  }
  return space.operands.size() > 1 && work.value() >= kLargeProduct;
}

// Terms that a chain has wherever there are inner loops that may have fewer blocks.
std::int64_t least_chain(const IterationSpace& space, std::int64_t terms) {
  if (terms > kSmallVolume) {
    return kMinChain;
  }
  return is_large_product(space) ? kProductChain : 0;
}

}  // namespace

bool runs_over(const DimMap& map, std::size_t loop) {
  return std::ranges::any_of(map, [loop](const std::vector<std::size_t>& loops) {
    return std::ranges::find(loops, loop) != loops.end();
  });
}

// gcd(16, n) for every summed dim of a small sum; otherwise the largest count behind the first is
// halved, of equal ones the innermost, until a chain has 64 terms: 16 up to 8,192 terms. The counts
// are powers of two, so every one divides its size.
std::vector<std::int64_t> canonical_blocks(const IterationSpace& space) {
  std::vector<Summed> dims = summed_dims(space);
  const std::int64_t terms = terms_of(space, dims);
  std::int64_t chain = terms;
  for (const Summed& dim : dims) {
    chain /= dim.blocks;
  }
  const std::int64_t least = least_chain(space, terms);
  while (chain < least && dims.size() > 1) {
    const auto most =
        std::max_element(dims.rbegin(), dims.rend() - 1,
                         [](const Summed& a, const Summed& b) { return a.blocks < b.blocks; });
    if (most->blocks == 1) {
      break;
    }
    most->blocks /= 2;
    chain *= 2;
  }
  std::vector<std::int64_t> blocks(space.loops.size(), 1);
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    if (space.loops[l].role == DimRole::kScanned && space.loops[l].size > 0) {
      blocks[l] = std::gcd(kMaxBlocks, space.loops[l].size);
    }
  }
  for (const Summed& dim : dims) {
    if (space.loops[dim.loop].role == DimRole::kReduced) {
      blocks[dim.loop] = dim.blocks;
    }
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
  const std::string product_chain = std::to_string(kProductChain);
  const std::string large = std::to_string(kLargeProduct);
  return "A summed dim of size n is cut into gcd(" + most +
         ", n) blocks of its whole range. Each block is\n"
         "added up in one fixed order (products: one chain of fused multiply-adds, by index),\n"
         "blocks in a binary tree, whose upper part is what ranks add between them. Several\n"
         "summed dims nest in the order in which the operands name them. With more than " +
         terms +
         "\n"
         "terms, the dims behind the first have only so many blocks that a chain keeps " +
         chain + " terms;\nbelow that, " + product_chain + " in products of at least " + large +
         " multiply-adds.\n"
         "Some operations ask for longer blocks: a convolution of f32 with windows of 3 x 3 over\n"
         "many channels has blocks of 16 channels or more, and its kernel's gradient, of bf16,\n"
         "blocks of at least 8 tiles of 4 x 4 results.\n"
         "So all layouts that split summed dims in powers of two, each in at most as many ways\n"
         "as it has blocks, give the same bits. Splitting the first of several dims moves the\n"
         "result alone, splitting another one partial sum for each block of those before it;\n"
         "where these would be larger than the operands, or under --fast, the result alone, and\n"
         "bits may differ. `mtf verify` and `mtf why` tell.\n";
}

std::int64_t KernelCall::blocks(std::size_t loop) const {
  return blocks_of_share(space, loop, shares[loop].parts);
}

}  // namespace mtf
