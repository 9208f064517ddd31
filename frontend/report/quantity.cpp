// Three significant digits are enough everywhere; exact numbers are in the JSON.

#include "frontend/report/quantity.h"

#include <array>
#include <string_view>

#include "ir/support/number.h"

namespace mtf {
std::string flops_text(double flops) {
  if (flops <= 0) {
    return "";
  }
  if (flops < 1e3) {
    return fixed(flops, 0) + " FLOP";
  }
  if (flops < 1e5) {
    return fixed(flops / 1e3, 1) + " kFLOP";
  }
  static constexpr std::array kUnits =
      std::to_array<std::string_view>({" MFLOP", " GFLOP", " TFLOP", " PFLOP", " EFLOP"});
  double value = flops / 1e6;
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1e3;
  }
  return fixed(value, value < 9.995 ? 2 : 1) + std::string(kUnits[unit]);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  static constexpr std::array kUnits =
      std::to_array<std::string_view>({" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"});
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1024;
  }
  return fixed(value, 1) + std::string(kUnits[unit]);
}

std::string count_text(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3 && text[i - 4] != '-';) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string seconds_text(double seconds) {
  static constexpr std::array kUnits = std::to_array<std::string_view>({" ns", " us", " ms"});
  double value = seconds * 1e9;
  if (value == 0) {
    return "0 s";
  }
  for (const std::string_view unit : kUnits) {
    if (value < 999.5) {
      return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + std::string(unit);
    }
    value /= 1e3;
  }
  return fixed(value, value < 9.995 ? 2 : 1) + " s";
}

std::string percent_text(double share) {
  return fixed(100 * share, 1) + " %";
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return count_text(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace mtf
