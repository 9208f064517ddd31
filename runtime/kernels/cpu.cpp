// Detection of instruction sets by cpuid, which also asks whether the system saves their registers.

#include "runtime/kernels/cpu.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/kernels/pairs_rate.h"

namespace mtf {

Isa widest_isa() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (avx512) {
    return __builtin_cpu_supports("avx512bf16") != 0 ? Isa::kAvx512Bf16 : Isa::kAvx512;
  }
  return avx2 ? Isa::kAvx2 : Isa::kPortable;
}

std::optional<Isa> isa_named(std::string_view name) {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16}) {
    if (to_string(isa) == name) {
      return isa;
    }
  }
  return std::nullopt;
}

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return "portable";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Bf16:
      return "avx512_bf16";
  }
  return "";
}

Isa fastest_isa() {
  static const Isa fastest = [] {
    const Isa widest = widest_isa();
    return widest == Isa::kAvx512Bf16 && !pairs_are_faster() ? Isa::kAvx512 : widest;
  }();
  return fastest;
}

Isa host_isa() {
  const char* name = std::getenv("MTF_ISA");
  const std::optional<Isa> wanted = name == nullptr ? std::nullopt : isa_named(name);
  return wanted ? std::min(*wanted, widest_isa()) : fastest_isa();
}

}  // namespace mtf
