#include "runtime/ranks/cores.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <string_view>

#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

using Allowed = std::span<const std::vector<int>>;

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&b](int core) { return std::ranges::binary_search(b, core); });
}

// The ranks that share a rank's cores, if all of them may run on just the same ones.
struct Sharers {
  std::size_t count = 0;
  std::size_t before = 0;  // the rank, by number
  bool are_alike = true;
};

Sharers sharers_of(Allowed allowed, std::size_t rank) {
  Sharers sharers;
  for (std::size_t other = 0; other < allowed.size(); ++other) {
    if (allowed[other] == allowed[rank]) {
      ++sharers.count;
      sharers.before += other < rank ? 1 : 0;
    } else if (overlap(allowed[other], allowed[rank])) {
      sharers.are_alike = false;
    }
  }
  return sharers;
}

// A core that several may run on counts for each by its part.
std::size_t share_of(Allowed allowed, std::size_t rank) {
  const Sharers sharers = sharers_of(allowed, rank);
  if (sharers.are_alike) {
    return allowed[rank].size() / sharers.count;
  }
  double share = 0;
  for (const int core : allowed[rank]) {
    const auto users = std::ranges::count_if(allowed, [core](const std::vector<int>& cores) {
      return std::ranges::binary_search(cores, core);
    });
    share += 1 / static_cast<double>(users);
  }
  constexpr double kRounding = 1e-9;
  return static_cast<std::size_t>(share + kRounding);
}

}  // namespace

Cores cores_of(Allowed allowed, std::size_t rank) {
  std::size_t least = share_of(allowed, rank);
  for (std::size_t other = 0; other < allowed.size(); ++other) {
    least = std::min(least, share_of(allowed, other));  // ranks wait for each other
  }
  Cores cores{.threads = static_cast<int>(std::max<std::size_t>(least, 1)), .own = {}};
  const Sharers sharers = sharers_of(allowed, rank);
  const std::vector<int>& mine = allowed[rank];
  if (least == 0 || !sharers.are_alike) {
    return cores;
  }
  // Side by side, as near cores share memory.
  const auto begin = static_cast<std::ptrdiff_t>(sharers.before * (mine.size() / sharers.count));
  cores.own.assign(mine.begin() + begin, mine.begin() + begin + cores.threads);
  cores.has_spare = mine.size() > sharers.count * least;
  return cores;
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

Cores with_asked_threads(Cores cores) {
  const char* text = std::getenv("MTF_THREADS");
  if (text == nullptr) {
    return cores;
  }
  const int threads = std::max(parse_number<int>(text).value_or(1), 1);
  cores.has_spare = cores.has_spare || threads < cores.threads;
  if (threads > cores.threads) {
    cores = {.threads = threads, .own = {}};
  }
  cores.threads = threads;
  return cores;
}

}  // namespace mtf
