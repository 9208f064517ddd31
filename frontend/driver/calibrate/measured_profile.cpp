#include "frontend/driver/calibrate/measured_profile.h"

#include <fstream>

#include "frontend/driver/launch/cores.h"
#include "ir/support/file.h"
#include "ir/support/number.h"

namespace mtf {

std::string measured_profile_path() {
  const std::string folder = user_folder("XDG_CONFIG_HOME", "/.config");
  return folder.empty() ? "" : folder + "/this_machine.mtf";
}

std::optional<std::string> measured_profile() {
  const std::string path = measured_profile_path();
  return path.empty() ? std::nullopt : text_of(path);
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
  return name + ", " + plural(cores_of_this_process(), "core");
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
