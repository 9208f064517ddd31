#include "frontend/driver/launch/limits.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/report/quantity.h"

namespace mtf {
namespace {

// Of Open MPI 4.1: what a rank has besides those that compute, and what mpirun has for each.
constexpr std::int64_t kThreads = 3;
constexpr std::int64_t kFiles = 4;

std::int64_t soft_limit(__rlimit_resource resource) {
  struct rlimit limit = {};
  const bool is_limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<std::int64_t>(limit.rlim_cur)
                    : std::numeric_limits<std::int64_t>::max();
}

std::int64_t number_in(const char* path) {
  std::ifstream stream(path);
  std::int64_t value = 0;
  return stream >> value ? value : std::numeric_limits<std::int64_t>::max();  // "max" is no number
}

}  // namespace

MachineLimits limits_of_this_machine() {
  MachineLimits limits{.threads = std::min({number_in("/proc/sys/kernel/pid_max"),
                                            number_in("/proc/sys/kernel/threads-max"),
                                            number_in("/sys/fs/cgroup/pids.max")}),
                       .files = soft_limit(RLIMIT_NOFILE)};
  if (geteuid() != 0) {  // whom it does not bind
    limits.threads = std::min(limits.threads, soft_limit(RLIMIT_NPROC));
  }
  return limits;
}

std::int64_t most_ranks(const MachineLimits& limits) {
  return std::min(limits.files / kFiles, limits.threads / kThreads);
}

std::string too_many_ranks(std::int64_t ranks, const MachineLimits& limits) {
  const auto need = [&](std::int64_t each, const char* what, std::int64_t most) {
    return count_text(ranks, "rank") + " would need " + count_text(ranks * each) + " " + what +
           ", and this machine allows " + count_text(most) + "; start at most " +
           count_text(most_ranks(limits));
  };
  if (ranks > limits.files / kFiles) {
    return need(kFiles, "open files of `mpirun`", limits.files);
  }
  return ranks > limits.threads / kThreads ? need(kThreads, "processes and threads", limits.threads)
                                           : "";
}

}  // namespace mtf
