// Iteration spaces by name, and the canonical blocks of their sums.

#include <catch2/catch.hpp>

#include "ir/kernel.h"
#include "tests/unit/ir/tiny_ops.h"

namespace mtf {
namespace {

std::vector<std::int64_t> blocks(const std::vector<std::int64_t>& reduced) {
  IterationSpace space;
  space.loops.push_back({.name = "kept", .size = 48, .role = DimRole::kKept});
  for (const std::int64_t size : reduced) {
    space.loops.push_back({.name = "d" + std::to_string(space.loops.size()),
                           .size = size,
                           .role = DimRole::kReduced});
  }
  std::vector<std::int64_t> result = canonical_blocks(space);
  CHECK(result.front() == 1);
  result.erase(result.begin());
  return result;
}

using Blocks = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("loops are the result's dims, then the reduced ones as the operands show them") {
  tiny::Sketch s;
  const ValueId x = s.argument("x", Shape({{"k", 4}, {"m", 2}, {"j", 5}}));
  const ValueId y = s.argument("y", Shape({{"n", 3}, {"j", 5}, {"k", 4}}));
  const ValueId z = s.emit("einsum", {x, y}, Shape({{"n", 3}, {"m", 2}}));
  const IterationSpace space = space_by_name(call_of(s.program, z));
  std::string names;
  for (const LoopDim& loop : space.loops) {
    names += loop.name + (loop.role == DimRole::kReduced ? "* " : " ");
  }
  CHECK(names == "n m k* j* ");
  CHECK(space.operands[0] == DimMap{{2}, {1}, {3}});
  CHECK(space.operands[1] == DimMap{{0}, {3}, {2}});
  CHECK(space.result == DimMap{{0}, {1}});
}

TEST_CASE("a dim that the result lacks can be asked to be whole") {
  tiny::Sketch s;
  const ValueId x = s.argument("x", Shape({{"k", 4}}));
  const ValueId z = s.emit("sum", {x}, Shape());
  const IterationSpace space = space_by_name(call_of(s.program, z), DimRole::kWhole, Combine::kMax);
  CHECK(space.loops[0].role == DimRole::kWhole);
  CHECK(space.combine == Combine::kMax);
}

TEST_CASE("the first reduced loop has gcd(16, n) blocks") {
  CHECK(blocks({1024}) == Blocks{16});
  CHECK(blocks({24}) == Blocks{8});
  CHECK(blocks({7}) == Blocks{1});
  CHECK(blocks({1 << 20}) == Blocks{16});
  CHECK(blocks({}).empty());
}

TEST_CASE("small sums have gcd(16, n) blocks in every loop") {
  CHECK(blocks({64, 64}) == Blocks{16, 16});
  CHECK(blocks({16, 16, 16}) == Blocks{16, 16, 16});
  CHECK(blocks({8, 12, 3}) == Blocks{8, 4, 1});
  CHECK(blocks({64, 128}) == Blocks{16, 16});
}

TEST_CASE("inner loops of large sums leave chains of 64 terms") {
  CHECK(blocks({64, 144}) == Blocks{16, 8});
  CHECK(blocks({64, 256}) == Blocks{16, 16});
  CHECK(blocks({32, 256, 64}) == Blocks{16, 16, 16});
  CHECK(blocks({64, 16, 16}) == Blocks{16, 4, 4});
  CHECK(blocks({16, 16, 33}) == Blocks{16, 8, 1});
}

TEST_CASE("large products leave chains of 16 terms") {
  const auto of_product = [](std::int64_t kept, std::int64_t outer, std::int64_t inner) {
    IterationSpace space;
    space.loops = {{.name = "m", .size = kept, .role = DimRole::kKept},
                   {.name = "a", .size = outer, .role = DimRole::kReduced},
                   {.name = "b", .size = inner, .role = DimRole::kReduced}};
    space.operands.resize(2);
    return canonical_blocks(space);
  };
  CHECK(of_product(1 << 16, 4, 64) == Blocks{1, 4, 4});
  CHECK(of_product(1 << 16, 16, 16) == Blocks{1, 16, 1});
  CHECK(of_product(1 << 16, 64, 128) == Blocks{1, 16, 16});
  CHECK(of_product((1 << 16) - 1, 16, 16) == Blocks{1, 16, 16});
  IterationSpace sum;
  sum.loops = {{.name = "m", .size = 1 << 20, .role = DimRole::kKept},
               {.name = "a", .size = 16, .role = DimRole::kReduced},
               {.name = "b", .size = 16, .role = DimRole::kReduced}};
  sum.operands.resize(1);
  CHECK(canonical_blocks(sum) == Blocks{1, 16, 16});
}

TEST_CASE("a dim may ask for blocks of so many indices at least") {
  const auto of_sum = [](std::int64_t size, std::int64_t least) {
    IterationSpace space;
    space.loops = {{.name = "a", .size = size, .role = DimRole::kReduced, .least_block = least}};
    return canonical_blocks(space);
  };
  CHECK(of_sum(64, 1) == Blocks{16});
  CHECK(of_sum(64, 16) == Blocks{4});
  CHECK(of_sum(200, 16) == Blocks{8});
  CHECK(of_sum(48, 16) == Blocks{2});
  CHECK(of_sum(8, 16) == Blocks{1});
  CHECK(of_sum(512, 16) == Blocks{16});
}

TEST_CASE("inside the blocks of a dim a large product has the blocks of the whole") {
  IterationSpace space;
  space.loops = {{.name = "m", .size = 1 << 16, .role = DimRole::kKept},
                 {.name = "a", .size = 4, .role = DimRole::kKept},
                 {.name = "+a", .size = 1, .role = DimRole::kReduced},
                 {.name = "b", .size = 64, .role = DimRole::kReduced}};
  space.operands.resize(2);
  CHECK(canonical_blocks(space) == Blocks{1, 1, 1, 4});
}

TEST_CASE("what no layout can split has one block") {
  IterationSpace space;
  space.loops.push_back({.name = "a", .size = 64, .role = DimRole::kReduced});
  space.loops.push_back({.name = "+terms", .size = 4, .role = DimRole::kReduced});
  CHECK(canonical_blocks(space) == Blocks{16, 1});
}

TEST_CASE("the sum inside the blocks of a dim has the blocks of the whole sum") {
  IterationSpace space;
  space.loops.push_back({.name = "a", .size = 16, .role = DimRole::kKept});
  space.loops.push_back({.name = "+a", .size = 4, .role = DimRole::kReduced});
  space.loops.push_back({.name = "b", .size = 144, .role = DimRole::kReduced});
  CHECK(canonical_blocks(space) == Blocks{1, 1, 8});
}

TEST_CASE("blocks divide their sizes, and empty or huge sums have some") {
  CHECK(blocks({0, 16}) == Blocks{1, 16});
  CHECK(blocks({1LL << 40, 1LL << 40}) == Blocks{16, 16});
}

TEST_CASE("a rank has its share of the blocks if they can be shared out") {
  tiny::Sketch s;
  const ValueId x = s.argument("x", Shape({{"k", 96}}));
  const OpCall call = call_of(s.program, s.emit("sum", {x}, Shape()));
  const IterationSpace space = space_by_name(call);
  struct Host : KernelHost {
    void print(std::string_view /*line*/) override {}
    void fail(DiagKind /*kind*/, std::string /*text*/) override {}
    void warn(DiagKind /*kind*/, std::string /*text*/) override {}
    [[nodiscard]] std::uint64_t seed() const override { return 0; }
    [[nodiscard]] std::uint64_t execution() const override { return 0; }
    [[nodiscard]] bool first_rank() const override { return true; }
  } host;
  const auto blocks_of = [&](std::int64_t parts) {
    const std::vector<LoopShare> shares = {{.parts = parts, .index = 0}};
    const KernelCall kernel{.call = call,
                            .space = space,
                            .in = {},
                            .out = {},
                            .shares = shares,
                            .ordinal = 0,
                            .exact = true,
                            .host = host};
    return kernel.blocks(0);
  };
  CHECK(blocks_of(1) == 16);
  CHECK(blocks_of(4) == 4);
  CHECK(blocks_of(3) == 1);
  CHECK(blocks_of(32) == 1);
}

}  // namespace mtf
