// Threads that wait for work. Starting them anew takes as long as a small product does.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/support/interval.h"

namespace mtf {

// Calls task(0) to task(n - 1), the first here and each other one on a thread of its own; returns
// when all are done, and throws what one of them threw. Threads are started when they are first
// needed and joined at exit. Where they are not to be had (a team is at work already, or was left
// behind by a fork) the tasks are done here, one after the other.
void run_on_team(int n, const std::function<void(int)>& task);

// The same for neighbours: cuts 0..count into so many parts, or fewer, and calls task(part) for
// each.
void run_in_parts(int n, std::int64_t count, const std::function<void(Interval)>& task);

// Part i of n that 0..count is cut into, which differ by one at most.
[[nodiscard]] constexpr Interval nth_part(std::int64_t count, std::int64_t i, std::int64_t n) {
  return from_to(i * count / n, (i + 1) * count / n);
}

// Thread i runs on core i alone, for as many as there are; the first is who calls and goes where it
// likes, as do those that other libraries start from it. Of threads that are not started yet.
void place_team(std::vector<int> cores);

}  // namespace mtf
