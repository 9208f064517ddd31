#include "frontend/driver/calibrate/measured_profile.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "frontend/driver/launch.h"

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

std::string this_machine() {
  std::ifstream stream("/proc/cpuinfo");
  std::string name = "a processor";
  for (std::string line; std::getline(stream, line);) {
    if (const std::size_t colon = line.find(": ");
        line.starts_with("model name") && colon < line.size()) {
      name = line.substr(colon + 2);
      break;
    }
  }
  return name + ", " + std::to_string(cores_of_this_process()) + " cores";
}

std::optional<std::string> measured_machine(std::string_view profile) {
  const std::size_t place = profile.find(kMachineComment);
  if (place == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = profile.substr(place + kMachineComment.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

}  // namespace mtf
