#include "lowering/rounds/sort_rounds.h"

#include <algorithm>
#include <bit>

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

}  // namespace

std::vector<SortRound> sort_rounds(std::int64_t ranks, std::int64_t place) {
  std::vector<SortRound> rounds;
  for_each_round(ranks, [&](std::int64_t apart, std::int64_t bit, std::int64_t rest) {
    SortRound& round = rounds.emplace_back();
    if ((place & bit) == rest && place + apart < ranks) {
      round = {.partner = place + apart, .keeps_low = true};
    } else if (place >= apart && ((place - apart) & bit) == rest) {
      round = {.partner = place - apart, .keeps_low = false};
    }
  });
  return rounds;
}

std::int64_t sort_messages(std::int64_t ranks, std::int64_t place) {
  const std::vector<SortRound> rounds = sort_rounds(ranks, place);
  return std::ranges::count_if(rounds,
                               [](const SortRound& round) { return round.partner.has_value(); });
}

std::int64_t most_sort_messages(std::int64_t ranks) {
  std::vector<std::int64_t> messages(static_cast<std::size_t>(ranks), 0);
  for_each_round(ranks, [&](std::int64_t apart, std::int64_t bit, std::int64_t rest) {
    for (std::int64_t place = 0; place + apart < ranks; ++place) {
      if ((place & bit) == rest) {
        ++messages[static_cast<std::size_t>(place)];
        ++messages[static_cast<std::size_t>(place + apart)];
      }
    }
  });
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

std::int64_t sort_received(const Mesh& mesh, std::int64_t size, const Axes& axes,
                           std::int64_t rank) {
  const std::int64_t place = mesh.index_along(rank, axes);
  std::int64_t count = sort_messages(mesh.size_of(axes), place) * mesh.longest_part(size, axes);
  for (const SortedRun& run : settled_from(mesh, size, axes, rank)) {
    count += run.place == place ? 0 : run.count;
  }
  return count;
}

std::int64_t most_sort_received(const Mesh& mesh, std::int64_t size, const Axes& axes) {
  std::int64_t most = 0;
  for (const std::int64_t rank : mesh.group_of(0, axes)) {
    most = std::max(most, sort_received(mesh, size, axes, rank));
  }
  return most;
}

LoopDim sorted_dim_of(const SpmdProgram& program, const Step& step) {
  const IterationSpace space = unsplit_call(program.source, step.need.user).space;
  return space.loops[digested_loop(space)];
}

}  // namespace mtf
