#include "frontend/driver/command_line/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace mtf {

std::string misuse_of_environment() {
  const char* text = std::getenv("MTF_THREADS");
  if (text == nullptr) {
    return "";
  }
  const std::string_view digits = text;
  const char* end = digits.data() + digits.size();
  int threads = 0;
  const auto [last, problem] = std::from_chars(digits.data(), end, threads);
  return problem == std::errc() && last == end && threads > 0
             ? ""
             : "`MTF_THREADS=" + std::string(digits) +
                   "` is no number of threads of a rank; 1 or more, as MTF_THREADS=4, or unset it";
}

}  // namespace mtf
