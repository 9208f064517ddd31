// Every task is done once, whatever else the threads are at.

#include "runtime/kernels/thread_team.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/ranks/cores.h"

namespace mtf {
namespace {

// How often each of n tasks was done.
std::vector<int> done_by_team(int n) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(n));
  run_on_team(n, [&done](int i) { ++done[static_cast<std::size_t>(i)]; });
  return {done.begin(), done.end()};
}

std::vector<int> once(int n) {
  return std::vector<int>(static_cast<std::size_t>(n), 1);
}

}  // namespace

TEST_CASE("a team does each task once, round after round", "[team]") {
  for (int round = 0; round < 2000; ++round) {
    const int n = round % 5;
    REQUIRE(done_by_team(n) == once(n));
  }
}

TEST_CASE("parts are neighbours, of sizes that differ by one at most", "[team]") {
  for (std::int64_t count = 0; count < 40; ++count) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
    std::atomic<std::int64_t> least = count;
    std::atomic<std::int64_t> most = 0;
    run_in_parts(7, count, [&](Interval part) {
      for (std::int64_t i = part.begin; i < part.end(); ++i) {
        ++done[static_cast<std::size_t>(i)];
      }
      for (std::int64_t old = least; part.extent < old;) {
        least.compare_exchange_weak(old, part.extent);
      }
      for (std::int64_t old = most; part.extent > old;) {
        most.compare_exchange_weak(old, part.extent);
      }
    });
    CHECK((std::vector<int>(done.begin(), done.end()) == once(static_cast<int>(count))));
    CHECK(most - least <= 1);
  }
}

TEST_CASE("a team's threads are its own and stay the same", "[team]") {
  std::vector<std::thread::id> first(3);
  std::vector<std::thread::id> second(3);
  run_on_team(3,
              [&first](int i) { first[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
  run_on_team(
      3, [&second](int i) { second[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
  CHECK(first == second);
  CHECK(first[0] == std::this_thread::get_id());
  CHECK(std::set<std::thread::id>(first.begin(), first.end()).size() == 3);
}

TEST_CASE("threads stay on the cores that they are given, and who calls does not", "[team]") {
  const std::vector<int> allowed = allowed_cores();
  REQUIRE(!allowed.empty());
  constexpr int kMany = 40;  // more than other tests started before
  place_team(std::vector<int>(kMany, allowed.back()));
  std::vector<std::vector<int>> found(kMany);
  run_on_team(kMany, [&found](int i) { found[static_cast<std::size_t>(i)] = allowed_cores(); });
  CHECK(found.front() == allowed);
  CHECK(found.back() == std::vector{allowed.back()});
  place_team({});
}

TEST_CASE("what a task throws arrives, and the team goes on", "[team]") {
  for (const int bad : {0, 1, 2}) {
    CHECK_THROWS_AS(run_on_team(3,
                                [bad](int i) {
                                  if (i == bad) {
                                    throw std::bad_alloc();
                                  }
                                }),
                    std::bad_alloc);
    CHECK(done_by_team(3) == once(3));
  }
}

TEST_CASE("a team that is at work does not keep others waiting", "[team]") {
  std::atomic<int> done = 0;
  run_on_team(2, [&done](int) { run_on_team(3, [&done](int) { ++done; }); });
  CHECK(done == 6);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&done] {
      for (int round = 0; round < 200; ++round) {
        run_on_team(3, [&done](int) { ++done; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(done == 6 + 4 * 200 * 3);
}

TEST_CASE("a forked child does the tasks by itself, and ends", "[team]") {
  REQUIRE(done_by_team(3) == once(3));
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::exit(done_by_team(3) == once(3) ? 0 : 1);  // what runs at exit must not join either
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace mtf
