// Amounts as people read them: "0.13 MFLOP", "4.0 KiB", "8,320".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mtf {

[[nodiscard]] std::string flops_text(double flops);  // empty for none
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
[[nodiscard]] std::string count_text(std::int64_t count);
// "1 call", "2 calls"
[[nodiscard]] std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace mtf
