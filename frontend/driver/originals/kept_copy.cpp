#include "frontend/driver/originals/kept_copy.h"

#include <filesystem>

namespace mtf {

std::string kept_copy(const std::string& path, std::error_code& error) {
  constexpr int kMostKept = 1000;
  for (int number = 1; number <= kMostKept; ++number) {
    std::string kept = path + "~" + (number == 1 ? "" : std::to_string(number));
    if (std::filesystem::copy_file(path, kept, error)) {
      return kept;
    }
    if (error != std::errc::file_exists) {
      return "";
    }
  }
  return "";
}

}  // namespace mtf
