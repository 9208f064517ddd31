// A map is walked from one end of the operand to the next: between two of them indices follow at
// one distance, which is a run.

#include "ir/index_map.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace mtf {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// How many steps from `at` stay within [low, high), which `at` is in; at most `most`.
std::int64_t steps_within(std::int64_t at, std::int64_t step, std::int64_t low, std::int64_t high,
                          std::int64_t most) {
  if (step == 0) {
    return most;
  }
  const std::int64_t room = step > 0 ? (high - 1 - at) / step : (at - low) / -step;
  return std::min(most, room + 1);
}

// The first of `count` terms at + i * step, and how many from there, that lie in [low, high).
struct Stretch {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
Stretch stretch_within(std::int64_t at, std::int64_t step, std::int64_t count, std::int64_t low,
                       std::int64_t high) {
  if (count <= 0 || low >= high) {
    return {};
  }
  std::int64_t first = 0;
  if (step > 0 && at < low) {
    first = (low - at + step - 1) / step;
  } else if (step < 0 && at >= high) {
    first = (at - high) / -step + 1;
  }
  if (first >= count) {
    return {};
  }
  const std::int64_t start = at + first * step;
  if (start < low || start >= high) {
    return {};
  }
  return {.first = first, .count = steps_within(start, step, low, high, count - first)};
}

// A number outside: one stretch, of every index that falls on an element.
std::vector<IndexRun> plain_runs(const IndexMap& map, std::int64_t size, Interval to) {
  const std::int64_t step = map.gap / std::gcd(map.gap, map.stride);
  std::int64_t first = to.begin;
  const std::int64_t end = to.end();
  while (first < end && first < to.begin + step &&
         (first * map.stride + map.offset) % map.gap != 0) {
    ++first;
  }
  if (first >= std::min(end, to.begin + step)) {
    return {};
  }
  const std::int64_t count = (end - first + step - 1) / step;
  const std::int64_t from = (first * map.stride + map.offset) / map.gap;
  const std::int64_t from_step = step * map.stride / map.gap;
  const Stretch inside = stretch_within(from, from_step, count, 0, size);
  if (inside.count == 0) {
    return {};
  }
  return {{.to = first + inside.first * step,
           .from = from + inside.first * from_step,
           .count = inside.count,
           .to_step = step,
           .from_step = from_step}};
}

// The index that the map leads to, the step to where the next one leads, and how many indices go
// on so, if not as far as the dim reaches.
struct Folded {
  std::int64_t at = 0;
  std::int64_t step = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// An index outside, which leads to the nearest one until the map comes back.
Folded at_edge(const IndexMap& map, std::int64_t size, std::int64_t index) {
  const bool is_before = index < 0;
  Folded folded{.at = is_before ? 0 : size - 1, .step = 0};
  if (is_before && map.stride > 0) {
    folded.most = (-index + map.stride - 1) / map.stride;
  } else if (!is_before && map.stride < 0) {
    folded.most = (index - size) / -map.stride + 1;
  }
  return folded;
}

Folded folded(const IndexMap& map, std::int64_t size, std::int64_t index) {
  if (map.border == Border::kEdge) {
    return index < 0 || index >= size ? at_edge(map, size, index)
                                      : Folded{.at = index, .step = map.stride};
  }
  if (size == 1) {
    return {.at = 0, .step = 0};
  }
  if (map.border == Border::kWrap) {
    return {.at = index - floor_div(index, size) * size, .step = map.stride};
  }
  const std::int64_t period = 2 * (size - 1);
  const std::int64_t at = index - floor_div(index, period) * period;
  return at < size ? Folded{.at = at, .step = map.stride}
                   : Folded{.at = period - at, .step = -map.stride};
}

}  // namespace

std::vector<IndexRun> runs_of(const IndexMap& map, std::int64_t size, Interval to) {
  if (to.extent <= 0 || size <= 0) {
    return {};
  }
  if (map.border == Border::kValue) {
    return plain_runs(map, size, to);
  }
  std::vector<IndexRun> runs;
  const std::int64_t end = to.end();
  for (std::int64_t i = to.begin; i < end;) {
    const Folded at = folded(map, size, i * map.stride + map.offset);
    const std::int64_t count = steps_within(at.at, at.step, 0, size, std::min(at.most, end - i));
    runs.push_back({.to = i, .from = at.at, .count = count, .to_step = 1, .from_step = at.step});
    i += count;
  }
  return runs;
}

std::vector<IndexRun> runs_within(const std::vector<IndexRun>& runs, Interval from) {
  std::vector<IndexRun> inside;
  for (const IndexRun& run : runs) {
    const Stretch part = stretch_within(run.from, run.from_step, run.count, from.begin, from.end());
    if (part.count > 0) {
      inside.push_back({.to = run.to + part.first * run.to_step,
                        .from = run.from + part.first * run.from_step,
                        .count = part.count,
                        .to_step = run.to_step,
                        .from_step = run.from_step});
    }
  }
  return inside;
}

std::int64_t count_of(const std::vector<IndexRun>& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::int64_t{0},
                         [](std::int64_t sum, const IndexRun& run) { return sum + run.count; });
}

}  // namespace mtf
