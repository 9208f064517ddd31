#include "runtime/ranks/mpi/processes.h"

#include <algorithm>
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

std::vector<pid_t> children_of(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

// "PID (name) S …"; the name may have anything in it.
char state_of(pid_t process) {
  const std::string text = text_of(process, "stat");
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? 'X' : text[name_end + 2];
}

int wait_status_of(pid_t process) {
  const std::string text = text_of(process, "stat");  // its last number, before the line's end
  const std::size_t space = text.rfind(' ');
  const std::string_view last = std::string_view(text).substr(std::min(space + 1, text.size()));
  return parse_number<int>(last.substr(0, last.find('\n'))).value_or(0);
}

std::string program_of(pid_t process) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", error).string();
}

std::string environment_of(pid_t process) {
  return '\0' + text_of(process, "environ");
}

}  // namespace mtf
