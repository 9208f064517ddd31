// Another program, started and waited for, but not for ever.

#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace mtf {

struct Trial {
  bool started = false;    // there is such a program
  bool timed_out = false;  // it was killed
  int status = 0;
  std::string output;  // standard output and error
};

// `prepare`: called in the new process, for its environment. Without input.
[[nodiscard]] Trial try_program(std::vector<std::string> line, std::chrono::milliseconds limit,
                                void (*prepare)() = nullptr);

}  // namespace mtf
