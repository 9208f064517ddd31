#include "frontend/driver/launch/cores.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>

namespace mtf {

long cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                      : sysconf(_SC_NPROCESSORS_ONLN);
}

long cores_in(std::istream& cpuinfo) {
  std::set<std::pair<std::string, std::string>> cores;
  std::string package;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("physical id")) {
      package = line;
    } else if (line.starts_with("core id")) {
      cores.emplace(package, line);
    }
  }
  return static_cast<long>(cores.size());
}

long slots_of_this_process() {
  std::ifstream stream("/proc/cpuinfo");
  const long cores = cores_in(stream);
  const long usable = cores_of_this_process();
  return cores == 0 ? usable : std::min(cores, usable);
}

}  // namespace mtf
