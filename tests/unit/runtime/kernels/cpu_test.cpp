// Which instructions the local kernels use.

#include "runtime/kernels/cpu.h"

#include <cstdlib>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

TEST_CASE("kernels use the fastest instructions that the processor has, and no others") {
  const char* name = std::getenv("MTF_ISA");
  CHECK(fastest_isa() <= widest_isa());
  CHECK(fastest_isa() == fastest_isa());
  if (name == nullptr) {
    CHECK(host_isa() == fastest_isa());
  }
  // AVX512_BF16 alone is there on processors that do without it faster.
  CHECK((fastest_isa() == widest_isa() || widest_isa() == Isa::kAvx512Bf16));
}

}  // namespace
}  // namespace mtf
