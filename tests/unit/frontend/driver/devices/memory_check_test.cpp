// What this process could still get, where a batch system has limited it.

#include "frontend/driver/devices/memory/memory_check.h"

#include <cstdint>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t addresses_in_use() {
  std::ifstream stream("/proc/self/statm");
  std::int64_t pages = 0;
  stream >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST_CASE("what `ulimit -v` leaves to a process is all that it could get") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit narrow{.rlim_cur = static_cast<rlim_t>(addresses_in_use() + 64 * kMiB),
                      .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &narrow) == 0);
  const std::optional<AvailableMemory> one = available_memory();
  const std::optional<AvailableMemory> two = available_memory(2);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->is_limited);
  CHECK(one->bytes > 32 * kMiB);
  CHECK(one->bytes <= 64 * kMiB);
  CHECK(two->bytes > one->bytes);
}

}  // namespace
}  // namespace mtf
