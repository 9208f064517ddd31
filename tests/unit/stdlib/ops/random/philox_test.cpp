// Blocks of random words drawn together: those of Random123, one by one.

#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernels/cpu.h"
#include "stdlib/ops/random/draw.h"

namespace mtf::tests {
namespace {

TEST_CASE("blocks drawn together are those drawn one by one, on every instruction set") {
  std::mt19937 random(11);
  const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
  for (int round = 0; round < 300; ++round) {
    const DrawStream stream{.key = {word(), word()}, .low = word(), .high = word()};
    const std::uint64_t far = (std::uint64_t{word()} << 32U) - random() % 100;  // over a carry
    const std::uint64_t first = random() % 2 == 0 ? far : random() % 1000;
    std::vector<PhiloxCounter> wanted;
    const std::size_t count = random() % 150;
    for (std::uint64_t block = first; wanted.size() < count; ++block) {
      wanted.push_back(philox({static_cast<std::uint32_t>(block),
                               static_cast<std::uint32_t>(block >> 32U), stream.low, stream.high},
                              stream.key));
    }
    for (const Isa isa : {Isa::kAvx2, widest_isa()}) {
      std::vector<PhiloxCounter> found(wanted.size());
      draw(stream, first, isa, found);
      REQUIRE((found == wanted));
    }
  }
}

}  // namespace
}  // namespace mtf::tests
