#include "frontend/driver/measured_profile.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace mtf {

std::string measured_profile_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config != nullptr && *config == '/') {
    return std::string(config) + "/mtf/this_machine.mtf";
  }
  return home == nullptr || *home == '\0' ? ""
                                          : std::string(home) + "/.config/mtf/this_machine.mtf";
}

std::optional<std::string> measured_profile() {
  const std::string path = measured_profile_path();
  std::ifstream stream(path, std::ios::binary);
  if (path.empty() || !stream) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace mtf
