#include <cstdlib>
#include <fstream>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

#include "frontend/driver/devices/memory/memory_check.h"
#include "frontend/driver/doctor/finding.h"
#include "frontend/driver/launch/cores.h"
#include "frontend/report/quantity.h"
#include "runtime/kernels/cpu.h"

namespace mtf {
namespace {

// The share of a core's time that a container grants: "150000 100000" is 1.5; 0: all of it.
double granted_cores() {
  std::ifstream stream("/sys/fs/cgroup/cpu.max");
  double quota = 0;  // "max" is no number
  double period = 0;
  return stream >> quota >> period && period > 0 ? quota / period : 0;
}

// Whether a file can be made there, and is gone again.
bool can_write(const std::string& folder) {
  std::string name = folder + "/mtf-doctor-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) {
    return false;
  }
  close(file);
  return unlink(name.c_str()) == 0;
}

std::int64_t free_bytes(const std::string& folder) {
  struct statvfs facts = {};
  return statvfs(folder.c_str(), &facts) != 0 ? 0
                                              : static_cast<std::int64_t>(facts.f_bavail) *
                                                    static_cast<std::int64_t>(facts.f_frsize);
}

}  // namespace

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return named == nullptr || *named == '\0' ? "/tmp" : named;
}

Finding check_cores() {
  const long usable = cores_of_this_process();
  const auto present = static_cast<long>(std::thread::hardware_concurrency());
  const double granted = granted_cores();
  Finding finding{.what = "cores",
                  .found = count_text(usable, "core") +
                           "; more ranks than that share them (`mpirun` alone wants "
                           "`--oversubscribe` then)",
                  .fix = ""};
  if (granted > 0 && granted < static_cast<double>(usable) - 0.01) {
    finding.health = Health::kWarning;
    finding.found = count_text(usable, "core") +
                    ", of which this container is granted the time of " +
                    std::to_string(granted).substr(0, 4);
    finding.fix = "start the container with more: `docker run --cpus`";
  } else if (usable < present) {
    finding.health = Health::kWarning;
    finding.found = std::to_string(usable) + " of " + count_text(present, "core");
    finding.fix = "this process is held to them: see `taskset -p $$`";
  }
  return finding;
}

Finding check_instructions() {
  const std::string used(to_string(host_isa()));
  const std::string fastest(to_string(fastest_isa()));
  Finding finding{.what = "instructions", .found = used + " kernels", .fix = ""};
  if (used != fastest) {
    finding.health = Health::kWarning;
    finding.found += ", because of MTF_ISA; this processor is fastest with " + fastest;
    finding.fix = "unset MTF_ISA";
  } else if (host_isa() == Isa::kPortable) {
    finding.health = Health::kWarning;
    finding.found += ": this processor has no AVX2";
    finding.fix = "none but another processor; products are several times slower";
  } else if (fastest_isa() < widest_isa()) {
    finding.found += "; " + std::string(to_string(widest_isa())) + " is there, and slower";
  }
  return finding;
}

Finding check_memory() {
  constexpr std::int64_t kLittle = std::int64_t{512} << 20U;
  const std::optional<AvailableMemory> available = available_memory();
  Finding finding{.what = "memory", .found = "", .fix = ""};
  if (!available) {
    finding.health = Health::kWarning;
    finding.found = "/proc/meminfo does not say how much there is";
    finding.fix = "`--max-memory` says it to each run";
  } else {
    const bool little = available->bytes < kLittle;
    const bool is_limited = available->is_limited;
    finding.health = little ? Health::kWarning : Health::kOk;
    finding.found =
        bytes_text(available->bytes) + " available" + (is_limited ? " under `ulimit -v`" : "");
    finding.fix = !little      ? ""
                  : is_limited ? "`ulimit -v unlimited`, or a job that is allowed more"
                               : "end what else runs here";
  }
  return finding;
}

// Open MPI keeps what ranks of one machine send each other there, some MiB for each.
Finding check_shared_memory() {
  constexpr std::int64_t kPerRank = std::int64_t{16} << 20U;
  const std::string folder = "/dev/shm";
  const std::int64_t needed = kPerRank * cores_of_this_process();
  const std::int64_t free = free_bytes(folder);
  Finding finding{
      .what = "shared memory", .found = bytes_text(free) + " free in " + folder, .fix = ""};
  if (!can_write(folder)) {
    finding.health = Health::kFailure;
    finding.found = folder + " cannot be written";
    finding.fix = "mount -t tmpfs tmpfs /dev/shm";
  } else if (free < needed) {
    finding.health = Health::kWarning;
    finding.found += ", ranks on all cores want " + bytes_text(needed);
    finding.fix = "mount -o remount,size=1G /dev/shm, or `docker run --shm-size 1g`";
  }
  return finding;
}

// mpirun's own files, among them sockets, whose paths must be short.
Finding check_temporary_folder() {
  constexpr std::size_t kLongest = 60;
  const std::string folder = temporary_folder();
  Finding finding{.what = "temporary files", .found = folder + " can be written", .fix = ""};
  if (!can_write(folder)) {
    finding.health = Health::kFailure;
    finding.found = folder + " cannot be written, where mpirun keeps its files";
    finding.fix = "export TMPDIR=/tmp";
  } else if (folder.size() > kLongest) {
    finding.health = Health::kWarning;
    finding.found = folder + " is too long a path for mpirun's sockets";
    finding.fix = "export TMPDIR=/tmp";
  }
  return finding;
}

}  // namespace mtf
