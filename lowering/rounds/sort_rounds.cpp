#include "lowering/rounds/sort_rounds.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mtf {
namespace {

// Calls visit(apart, bit, rest) for each round: rank i is paired with i + apart where bit `bit` of
// i is `rest`.
template <typename Visit>
void for_each_round(std::int64_t ranks, const Visit& visit) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(ranks, 1));
  const auto top = static_cast<std::int64_t>(std::bit_ceil(count) / 2);
  for (std::int64_t bit = top; bit > 0; bit /= 2) {
    std::int64_t rest = 0;
    std::int64_t apart = bit;
    for (std::int64_t q = top;; q /= 2) {
      visit(apart, bit, rest);
      if (q == bit) {
        break;
      }
      apart = q - bit;
      rest = bit;
    }
  }
}

// Calls visit(round) for each round, with what the rank at `place` does in it.
template <typename Visit>
void for_each_round_of(std::int64_t ranks, std::int64_t place, const Visit& visit) {
  for_each_round(ranks, [&](std::int64_t apart, std::int64_t bit, std::int64_t rest) {
    if ((place & bit) == rest && place + apart < ranks) {
      visit(SortRound{.partner = place + apart, .keeps_low = true});
    } else if (place >= apart && ((place - apart) & bit) == rest) {
      visit(SortRound{.partner = place - apart, .keeps_low = false});
    } else {
      visit(SortRound{});
    }
  });
}

}  // namespace

std::vector<SortRound> sort_rounds(std::int64_t ranks, std::int64_t place) {
  std::vector<SortRound> rounds;
  for_each_round_of(ranks, place, [&](const SortRound& round) { rounds.push_back(round); });
  return rounds;
}

std::int64_t sort_messages(std::int64_t ranks, std::int64_t place) {
  std::int64_t messages = 0;
  for_each_round_of(ranks, place,
                    [&](const SortRound& round) { messages += round.partner ? 1 : 0; });
  return messages;
}

namespace {

// Of each of so many ranks. Those that are first of a pair stand in runs: the ends of these are
// noted, and added up once.
std::vector<std::int64_t> messages_of_all(std::int64_t ranks) {
  std::vector<std::int64_t> messages(static_cast<std::size_t>(ranks) + 1, 0);
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    ++messages[static_cast<std::size_t>(begin)];
    --messages[static_cast<std::size_t>(end)];
  };
  for_each_round(ranks, [&](std::int64_t apart, std::int64_t bit, std::int64_t rest) {
    for (std::int64_t begin = rest; begin + apart < ranks; begin += 2 * bit) {
      const std::int64_t end = std::min(begin + bit, ranks - apart);
      add(begin, end);
      add(begin + apart, end + apart);
    }
  });
  std::partial_sum(messages.begin(), messages.end(), messages.begin());
  messages.pop_back();
  return messages;
}

}  // namespace

std::int64_t most_sort_messages(std::int64_t ranks) {
  const std::vector<std::int64_t> messages = messages_of_all(ranks);
  return messages.empty() ? 0 : std::ranges::max(messages);
}

std::vector<SortedRun> settled_from(const Mesh& mesh, std::int64_t size, const Axes& axes,
                                    std::int64_t rank) {
  const Interval part = mesh.part_of(size, axes, rank);
  const std::int64_t longest = mesh.longest_part(size, axes);
  std::vector<SortedRun> runs;
  for (std::int64_t at = 0; at < part.extent;) {
    const std::int64_t begin = (part.begin + at) % longest;
    const std::int64_t count = std::min(part.extent - at, longest - begin);
    runs.push_back(
        {.place = (part.begin + at) / longest, .begin = begin, .at = at, .count = count});
    at += count;
  }
  return runs;
}

namespace {

// Elements of the rank's part that others send it once all is sorted.
std::int64_t settled_elements(const Mesh& mesh, std::int64_t size, const Axes& axes,
                              std::int64_t rank) {
  const std::int64_t place = mesh.index_along(rank, axes);
  std::int64_t count = 0;
  for (const SortedRun& run : settled_from(mesh, size, axes, rank)) {
    count += run.place == place ? 0 : run.count;
  }
  return count;
}

}  // namespace

std::int64_t sort_received(const Mesh& mesh, std::int64_t size, const Axes& axes,
                           std::int64_t rank) {
  const std::int64_t messages = sort_messages(mesh.size_of(axes), mesh.index_along(rank, axes));
  return messages * mesh.longest_part(size, axes) + settled_elements(mesh, size, axes, rank);
}

std::int64_t most_sort_received(const Mesh& mesh, std::int64_t size, const Axes& axes) {
  const std::vector<std::int64_t> messages = messages_of_all(mesh.size_of(axes));
  const std::int64_t longest = mesh.longest_part(size, axes);
  std::int64_t most = 0;
  for (const std::int64_t rank : mesh.group_of(0, axes)) {
    const auto place = static_cast<std::size_t>(mesh.index_along(rank, axes));
    most = std::max(most, messages[place] * longest + settled_elements(mesh, size, axes, rank));
  }
  return most;
}

LoopDim sorted_dim_of(const SpmdProgram& program, const Step& step) {
  const IterationSpace space = unsplit_call(program.source, step.need.user).space;
  return space.loops[digested_loop(space)];
}

}  // namespace mtf
