// XXH64, a checksum that finds what storage and transport do to data. It is no defence against
// people.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mtf {

[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> data);

}  // namespace mtf
