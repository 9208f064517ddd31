// Memory for packed operands, kept by each thread from one product to the next.

#pragma once

#include <cstddef>
#include <cstdint>

namespace mtf {

inline constexpr std::int64_t kScratchAlignment = 64;

// Aligned memory of this thread, valid until its next call; contents are arbitrary.
[[nodiscard]] std::byte* thread_scratch(std::int64_t bytes);

}  // namespace mtf
