// A message to and fro is two swaps between the first rank and another one: in the first, only what
// goes out counts, in the second what comes back.

#include "runtime/ranks/clocks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "runtime/execute/step_time.h"

namespace mtf {
namespace {

constexpr int kExchanges = 40;

class Swaps {
 public:
  Swaps(Communicator& communicator, const Group& group, std::int64_t other)
      : communicator_(communicator),
        group_(group),
        sources_(1, std::vector<std::int64_t>(static_cast<std::size_t>(group.size))) {
    std::iota(sources_[0].begin(), sources_[0].end(), 0);
    std::swap(sources_[0][0], sources_[0][static_cast<std::size_t>(other)]);
  }

  // The times of an exchange, on the first rank; the other one only takes part.
  PingPong exchange() {
    const std::int64_t sent = nanoseconds_now();
    swap({});
    const std::int64_t received = nanoseconds_now();
    const Times answer = swap({received, nanoseconds_now()});
    return {
        .sent = sent, .received = answer[0], .answered = answer[1], .returned = nanoseconds_now()};
  }

 private:
  using Times = std::array<std::int64_t, 2>;

  Times swap(const Times& mine) {
    Times theirs{};
    const void* in = mine.data();
    void* out = theirs.data();
    communicator_.permute(group_, sizeof(Times), sources_, {&in, 1}, {&out, 1});
    return theirs;
  }

  Communicator& communicator_;
  const Group& group_;
  std::vector<std::vector<std::int64_t>> sources_;
};

}  // namespace

std::vector<ClockReading> read_clocks(Communicator& communicator) {
  std::vector<ClockReading> readings(static_cast<std::size_t>(communicator.ranks()));
  const std::span<const std::int64_t> local = communicator.local_ranks();
  if (static_cast<std::int64_t>(local.size()) == communicator.ranks()) {
    return readings;  // one process, one clock
  }
  assert(local.size() == 1);
  Mesh line;
  line.axes = {{.name = "ranks", .size = communicator.ranks()}};
  const Group& group = communicator.group(line, {0});
  communicator.barrier();
  for (std::int64_t other = 1; other < communicator.ranks(); ++other) {
    if (local.front() != 0 && local.front() != other) {
      continue;
    }
    Swaps swaps(communicator, group, other);
    std::vector<PingPong> exchanges(kExchanges);
    std::ranges::generate(exchanges, [&] { return swaps.exchange(); });
    if (local.front() == 0) {
      readings[static_cast<std::size_t>(other)] = reading_of(exchanges);
    }
  }
  return readings;
}

ClockReading reading_of(const std::vector<PingPong>& exchanges) {
  const auto travel = [](const PingPong& one) {
    return (one.returned - one.sent) - (one.answered - one.received);
  };
  const PingPong best = *std::ranges::min_element(exchanges, {}, travel);
  const std::int64_t ahead = ((best.received - best.sent) + (best.answered - best.returned)) / 2;
  return {.at = best.received, .ahead = std::abs(ahead) <= travel(best) / 2 ? 0 : ahead};
}

std::int64_t on_first_clock(const ClockReading& before, const ClockReading& after,
                            std::int64_t own) {
  const auto passed = static_cast<double>(after.at - before.at);
  const double part = passed > 0 ? static_cast<double>(own - before.at) / passed : 0;
  const double drift = part * static_cast<double>(after.ahead - before.ahead);
  return own - before.ahead - std::llround(drift);
}

}  // namespace mtf
