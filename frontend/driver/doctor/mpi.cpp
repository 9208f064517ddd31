#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include "frontend/driver/doctor/finding.h"
#include "frontend/driver/doctor/trial.h"
#include "frontend/driver/launch.h"
#include "frontend/driver/launch/cores.h"
#include "frontend/driver/launch/line.h"
#include "frontend/report/quantity.h"
#include "ir/support/diag.h"
#include "runtime/library_versions.h"

namespace mtf {
namespace {

constexpr auto kInstall = "apt-get install openmpi-bin";
constexpr auto kVersionLimit = std::chrono::seconds(20);
constexpr auto kRanksLimit = std::chrono::seconds(30);
constexpr std::int64_t kMostTriedRanks = 8;

// The last line that says something: what a program complains of stands there.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n-") + 1);
  const std::size_t begin = text.rfind('\n');
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Finding check_mpirun() {
  Finding finding{.what = "mpirun", .health = Health::kFailure, .found = "", .fix = kInstall};
  const Trial trial = try_program({"mpirun", "--version"}, kVersionLimit);
  const std::string version = first_line(trial.output);
  if (!trial.started) {
    finding.found = "there is no mpirun in the PATH";
  } else if (trial.timed_out) {
    finding.found = "`mpirun --version` does not end";
    finding.fix = "see which one it is: `command -v mpirun`";
  } else if (version.find("Open MPI") == std::string::npos &&
             version.find("OpenRTE") == std::string::npos) {
    finding.found = "mpirun is not that of Open MPI: " + version;
    finding.fix = "put that of Open MPI first in the PATH; " + std::string(kInstall);
  } else {
    const std::string library = mpi_version();
    const std::string number = library.substr(library.rfind(' ') + 1);
    const bool same = version.find(number) != std::string::npos;
    finding.health = same ? Health::kOk : Health::kWarning;
    finding.found = version + (same ? "" : ", but mtf is linked with " + library);
    finding.fix = same ? "" : "put the mpirun of " + library + " first in the PATH";
  }
  return finding;
}

Finding check_root() {
  Finding finding{.what = "root", .found = "mtf does not run as root", .fix = ""};
  if (geteuid() != 0) {
    return finding;
  }
  if (is_set("OMPI_ALLOW_RUN_AS_ROOT") && is_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")) {
    finding.found = "mpirun may run as root: both variables are set";
    return finding;
  }
  finding.health = Health::kWarning;
  finding.found = "`mpirun` refuses to run as root; `mtf run -n` does not";
  finding.fix = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  return finding;
}

// As `mtf run -n` starts them; each of them is `mtf doctor`, which answers for all.
Finding check_ranks() {
  Options options;
  options.ranks = std::clamp<std::int64_t>(cores_of_this_process(), 2, kMostTriedRanks);
  options.words = {"doctor"};
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const auto begin = std::chrono::steady_clock::now();
  const Trial trial = try_program(mpirun_line(options, self, slots_of_this_process()), kRanksLimit,
                                  prepare_for_mpirun);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string count = count_text(options.ranks, "rank");
  Finding finding{.what = "ranks", .health = Health::kFailure, .found = "", .fix = ""};
  if (!trial.started) {
    finding.found = "none can be started without mpirun";
    finding.fix = kInstall;
  } else if (trial.timed_out) {
    finding.found = count + " do not meet within " + std::to_string(kRanksLimit.count()) + " s";
    finding.fix = "try `OMPI_MCA_btl=self,vader mtf doctor`; is a firewall between ranks?";
  } else if (trial.status != 0) {
    finding.found = count + " cannot be started: " + last_line(trial.output);
    finding.fix = "`" + std::string("mpirun -n ") + std::to_string(options.ranks) +
                  " mtf doctor` shows all of it";
  } else {
    finding.health = Health::kOk;
    finding.found = count + " were started and met, in " + seconds_text(took.count());
  }
  return finding;
}

}  // namespace mtf
