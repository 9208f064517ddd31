// A machine's cores are divided among its ranks as the launcher meant it.

#include "runtime/ranks/cores.h"

#include <cstdlib>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

using Allowed = std::vector<std::vector<int>>;

std::vector<int> from_to(int begin, int end) {
  std::vector<int> cores(static_cast<std::size_t>(end - begin));
  std::iota(cores.begin(), cores.end(), begin);
  return cores;
}

void check(const Allowed& allowed, std::size_t rank, int threads, const std::vector<int>& own,
           bool has_spare) {
  const Cores cores = cores_of(allowed, rank);
  CHECK(cores.threads == threads);
  CHECK(cores.own == own);
  CHECK(cores.has_spare == has_spare);
}

}  // namespace

TEST_CASE("ranks that may run anywhere share the machine side by side") {
  const Allowed allowed(4, from_to(0, 64));
  check(allowed, 0, 16, from_to(0, 16), false);
  check(allowed, 3, 16, from_to(48, 64), false);
  check({from_to(0, 2)}, 0, 2, {0, 1}, false);
}

TEST_CASE("ranks that are bound have all that they are bound to") {
  check({from_to(0, 8), from_to(8, 16)}, 1, 8, from_to(8, 16), false);
  // Two to a socket.
  const Allowed sockets = {from_to(0, 16), from_to(16, 32), from_to(0, 16), from_to(16, 32)};
  check(sockets, 2, 8, from_to(8, 16), false);
  check(sockets, 1, 8, from_to(16, 24), false);
}

TEST_CASE("no rank has more threads than another, and cores that are left over are spare") {
  const Allowed uneven = {from_to(0, 4), from_to(4, 6)};
  check(uneven, 0, 2, {0, 1}, true);
  check(uneven, 1, 2, {4, 5}, false);
  check(Allowed(3, from_to(0, 4)), 1, 1, {1}, true);
}

TEST_CASE("ranks that have no cores of their own run anywhere") {
  check(Allowed(4, from_to(0, 2)), 3, 1, {}, false);
  check({from_to(0, 4), from_to(2, 6)}, 0, 3, {}, false);
  check({{}, {}}, 0, 1, {}, false);
}

TEST_CASE("who asks for threads gets them") {
  const char* before = std::getenv("MTF_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  const Cores eight = {.threads = 8, .own = from_to(0, 8)};
  setenv("MTF_THREADS", "2", 1);
  CHECK(with_asked_threads(eight).threads == 2);
  CHECK(with_asked_threads(eight).has_spare);
  setenv("MTF_THREADS", "16", 1);
  CHECK(with_asked_threads(eight).threads == 16);
  CHECK(with_asked_threads(eight).own.empty());
  unsetenv("MTF_THREADS");
  CHECK(with_asked_threads(eight).threads == 8);
  if (before != nullptr) {
    setenv("MTF_THREADS", kept.c_str(), 1);
  }
}

}  // namespace mtf
