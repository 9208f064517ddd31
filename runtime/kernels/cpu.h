// What this processor has, and what the environment lets mtf use of it.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/support/cpu.h"

namespace mtf {

[[nodiscard]] Isa widest_isa();  // that this processor and operating system support
[[nodiscard]] std::optional<Isa> isa_named(
    std::string_view name);  // portable, avx2, avx512, avx512_bf16
[[nodiscard]] std::string_view to_string(Isa isa);

// The widest one, unless a narrower one is faster (pairs_rate.h).
[[nodiscard]] Isa fastest_isa();

// The fastest one, or what MTF_ISA names if the processor has that.
[[nodiscard]] Isa host_isa();

}  // namespace mtf
