// Philox4x32-10 (Salmon et al., SC'11, by Random123): random bits as a function of a key and a
// counter, so that every element can be drawn by itself, on any rank.

#pragma once

#include <Random123/philox.h>
#include <array>
#include <cstdint>

namespace mtf {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

[[nodiscard]] inline PhiloxCounter philox(const PhiloxCounter& counter, const PhiloxKey& key) {
  const r123::Philox4x32::ctr_type drawn =
      r123::Philox4x32()({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {drawn[0], drawn[1], drawn[2], drawn[3]};
}

}  // namespace mtf
