// Amounts as people read them: "0.13 MFLOP", "4.0 KiB", "8,320".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mtf {

[[nodiscard]] std::string flops_text(double flops);  // empty for none
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
[[nodiscard]] std::string count_text(std::int64_t count);
[[nodiscard]] std::string seconds_text(double seconds);  // "12.3 us", "1.25 s"
[[nodiscard]] std::string percent_text(double share);    // "12.3 %"
// "1 call", "2 calls"
[[nodiscard]] std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace mtf
