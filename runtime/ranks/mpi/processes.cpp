#include "runtime/ranks/mpi/processes.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

std::string text_of(pid_t process, std::string_view file) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/" + std::string(file));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    if (const auto process = parse_number<pid_t>(entry.path().filename().string())) {
      processes.push_back(*process);
    }
  }
  return processes;
}

// "PID (name) S …"; the name may have anything in it.
char state_of(pid_t process) {
  const std::string text = text_of(process, "stat");
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? 'X' : text[name_end + 2];
}

std::string program_of(pid_t process) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", error).string();
}

std::string environment_of(pid_t process) {
  return '\0' + text_of(process, "environ");
}

}  // namespace mtf
