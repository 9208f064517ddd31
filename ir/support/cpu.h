// What the local kernels may use of a processor; every choice gives the same bits. Found once by
// the executor (runtime/kernels/cpu.h) and passed down.

#pragma once

#include <algorithm>
#include <cstdint>

namespace mtf {

// Each includes the ones before it.
enum class Isa : std::uint8_t { kPortable, kAvx2, kAvx512, kAvx512Bf16 };

struct Cpu {
  Isa isa = Isa::kPortable;
  int threads = 1;  // of a rank
  // Elements that are worth a thread: their sum takes about as long as waking it.
  std::int64_t least_share = 1 << 16;
};

// How many of its threads are worth waking for work on so many elements.
[[nodiscard]] constexpr int threads_for(const Cpu& cpu, std::int64_t elements) {
  return static_cast<int>(
      std::clamp<std::int64_t>(elements / cpu.least_share, 1, std::max(cpu.threads, 1)));
}

}  // namespace mtf
