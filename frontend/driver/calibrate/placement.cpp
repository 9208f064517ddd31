#include "frontend/driver/calibrate/placement.h"

#include <sched.h>

#include "ir/support/index.h"
#include "runtime/ranks/cores.h"

namespace mtf {
namespace {

// Not to be allowed to leaves the thread where it is.
void run_on(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  static_cast<void>(sched_setaffinity(0, sizeof(set), &set));
}

}  // namespace

Placement::Placement(std::int64_t ranks) : cores_(allowed_cores()) {
  const auto count = static_cast<std::int64_t>(cores_.size());
  if (count > 1 && ranks % count == 0) {
    per_core_ = ranks / count;
  }
}

Placement::~Placement() {
  if (per_core_ > 1) {
    run_on(cores_);
  }
}

void Placement::take(std::size_t way, std::int64_t rank) const {
  if (per_core_ > 1) {
    const auto count = static_cast<std::int64_t>(cores_.size());
    run_on({cores_[at(way == 0 ? rank / per_core_ : rank % count)]});
  }
}

}  // namespace mtf
