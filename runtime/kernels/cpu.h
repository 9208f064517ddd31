// What the local kernels may use of this processor. Found once by the driver and passed down; every
// choice gives the same bits.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mtf {

enum class Isa : std::uint8_t { kPortable, kAvx2, kAvx512 };  // each includes the ones before it

struct Cpu {
  Isa isa = Isa::kPortable;
  int threads = 1;  // per rank, used by large products only
};

[[nodiscard]] Isa widest_isa();  // that this processor and operating system support
[[nodiscard]] std::optional<Isa> isa_named(std::string_view name);  // portable, avx2, avx512
[[nodiscard]] std::string_view to_string(Isa isa);

// The widest one, or what MTF_ISA names if that is narrower.
[[nodiscard]] Isa host_isa();

// The cores that this process may use, divided among the ranks of this machine, or MTF_THREADS.
[[nodiscard]] int host_threads(std::int64_t ranks_here);

}  // namespace mtf
