#include "tests/fuzz/blame.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

namespace fuzz {
namespace {

// The line that holds `part`; empty if there is none.
std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(part) != std::string::npos) {
      return line;
    }
  }
  return "";
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> chunk{};
  while (pipe != nullptr) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe.get());
    if (got == 0) {
      break;
    }
    text.append(chunk.data(), got);
  }
  return text;
}

// Lines "program(+0x1234) [0x5555]" as names of functions of mtf, innermost first.
std::vector<std::string> functions(const std::string& errors) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string name = std::filesystem::path(self).filename().string();
  std::istringstream stream(errors);
  std::string command = "addr2line -Cfe " + self;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t at = line.find("(+0x");
    if (at != std::string::npos && line.find(name) < at) {
      const std::size_t end = line.find_first_not_of("0123456789abcdefx", at + 2);
      command += " " + line.substr(at + 2, end - at - 2);
    }
  }
  std::vector<std::string> names;
  std::istringstream found(output_of(command + " 2>/dev/null"));
  for (std::string line; std::getline(found, line);) {
    if (line.starts_with("mtf::")) {
      names.push_back(line.substr(0, line.find('(', sizeof("(anonymous") + 8)));
    }
  }
  return names;
}

}  // namespace

std::string blame(const std::string& errors) {
  constexpr std::array kMarks = {"internal error:",  "SUMMARY:", "runtime error:", "Assertion '",
                                 "terminate called", "what():",  "verify says:"};
  std::string text;
  for (const char* mark : kMarks) {
    if (text.empty()) {
      text = line_with(errors, mark);
    }
  }
  if (!text.empty() && text.find("Assertion '") == std::string::npos) {
    return text;
  }
  const std::vector<std::string> names = functions(errors);
  for (std::size_t i = 0; i < names.size() && i < 5; ++i) {
    text += (text.empty() ? "" : "\n    from ") + names[i];
  }
  return text.empty() ? errors.substr(0, 300) : text;
}

}  // namespace fuzz
