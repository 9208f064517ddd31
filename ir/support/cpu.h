// What the local kernels may use of a processor; every choice gives the same bits. Found once by
// the executor (runtime/kernels/cpu.h) and passed down.

#pragma once

#include <cstdint>

namespace mtf {

// Each includes the ones before it.
enum class Isa : std::uint8_t { kPortable, kAvx2, kAvx512, kAvx512Bf16 };

struct Cpu {
  Isa isa = Isa::kPortable;
  int threads = 1;  // per rank, used by large products only
};

}  // namespace mtf
