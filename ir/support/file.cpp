#include "ir/support/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace mtf {

std::string beside(const std::string& place) {
  return place + "." + std::to_string(getpid()) + ".tmp";
}

std::string write_file(const std::string& path, const WriteText& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (out) {
    write(out);
    out.close();
  }
  return out ? "" : std::strerror(errno == 0 ? EIO : errno);
}

std::string replace_file(const std::string& place, const WriteText& write) {
  const std::string temporary = beside(place);
  std::string problem = write_file(temporary, write);
  if (problem.empty() && std::rename(temporary.c_str(), place.c_str()) != 0) {
    problem = std::strerror(errno);
  }
  if (!problem.empty()) {
    static_cast<void>(std::remove(temporary.c_str()));
  }
  return problem;
}

}  // namespace mtf
