// What Open MPI's launcher leaves in the environment.

#include "runtime/ranks/mpi/launch.h"

#include <cstdlib>
#include <string_view>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

std::optional<std::int64_t> number_in(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<std::int64_t>(text);
}

void set_default(const char* name, const char* value) {
  setenv(name, value, /*overwrite=*/0);
}

// Where ranks of a machine keep what they send each other, one that finds no room ends without a
// word.
bool has_room_in_memory(std::int64_t ranks) {
  constexpr std::int64_t kPerRank = std::int64_t{5} << 20U;
  struct statvfs facts = {};
  return statvfs("/dev/shm", &facts) == 0 &&
         static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize) >=
             ranks * kPerRank;
}

}  // namespace

std::optional<Launch> launched() {
  const std::optional<std::int64_t> ranks = number_in("OMPI_COMM_WORLD_SIZE");
  const std::optional<std::int64_t> rank = number_in("OMPI_COMM_WORLD_RANK");
  if (!ranks || !rank) {
    return std::nullopt;
  }
  return Launch{.rank = *rank,
                .ranks = *ranks,
                .ranks_here = number_in("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1)};
}

std::vector<std::int64_t> others_here(std::int64_t rank) {
  const std::optional<Launch> launch = launched();
  std::vector<std::int64_t> others;
  for (std::int64_t other = 0;
       launch && launch->ranks_here == launch->ranks && other < launch->ranks; ++other) {
    if (other != rank) {
      others.push_back(other);
    }
  }
  return others;
}

void prepare_environment(const Launch& launch) {
  set_default("HWLOC_HIDE_ERRORS", "2");  // where /sys is not mounted, all ranks would complain
  if (launch.ranks_here == launch.ranks) {
    set_default("OMPI_MCA_pml", "ob1");
    set_default("OMPI_MCA_btl", "vader,self");
    set_default("OMPI_MCA_osc", "^ucx");
  }
  const char* folder = std::getenv("PMIX_SERVER_TMPDIR");  // goes when the job ends
  if (folder != nullptr && !has_room_in_memory(launch.ranks_here)) {
    set_default("OMPI_MCA_btl_vader_backing_directory", folder);
  }
  if (launch.ranks_here > sysconf(_SC_NPROCESSORS_ONLN)) {
    set_default("OMPI_MCA_mpi_yield_when_idle", "1");
  }
}

}  // namespace mtf
