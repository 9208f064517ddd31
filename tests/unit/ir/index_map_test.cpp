// Runs of an index map against the map itself, index by index.

#include "ir/index_map.h"

#include <algorithm>
#include <map>
#include <optional>

#include <catch2/catch.hpp>

namespace mtf::tests {
namespace {

// The operand's index that an index reads; none: the border's value.
std::optional<std::int64_t> read_by(const IndexMap& map, std::int64_t size, std::int64_t index) {
  std::int64_t at = index * map.stride + map.offset;
  switch (map.border) {
    case Border::kValue:
      if (at % map.gap != 0 || at < 0 || at / map.gap >= size) {
        return std::nullopt;
      }
      return at / map.gap;
    case Border::kEdge:
      return std::clamp(at, std::int64_t{0}, size - 1);
    case Border::kWrap:
      return (at % size + size) % size;
    case Border::kReflect:
      while (at < 0 || at >= size) {
        at = size == 1 ? 0 : at < 0 ? -at : 2 * (size - 1) - at;
      }
      return at;
  }
  return std::nullopt;
}

using Reads = std::map<std::int64_t, std::int64_t>;

Reads reads_of_runs(const std::vector<IndexRun>& runs) {
  Reads reads;
  for (const IndexRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      CHECK(reads.emplace(run.to + i * run.to_step, run.from + i * run.from_step).second);
    }
  }
  return reads;
}

void check(const IndexMap& map, std::int64_t size, Interval to) {
  INFO("stride " << map.stride << ", offset " << map.offset << ", gap " << map.gap << ", border "
                 << static_cast<int>(map.border) << ", size " << size << ", from " << to.begin
                 << " on " << to.extent);
  const std::vector<IndexRun> runs = runs_of(map, size, to);
  for (const Interval part : {Interval{0, size}, {0, size / 2}, {size / 2, size}, {1, 2}}) {
    Reads wanted;
    for (std::int64_t i = to.begin; i < to.begin + to.extent; ++i) {
      const std::optional<std::int64_t> from = read_by(map, size, i);
      if (from && *from >= part.begin && *from < part.begin + part.extent) {
        wanted[i] = *from;
      }
    }
    const std::vector<IndexRun> inside = runs_within(runs, part);
    CHECK(reads_of_runs(inside) == wanted);
    CHECK(count_of(inside) == std::ssize(wanted));
  }
}

TEST_CASE("runs of an index map are what it reads") {
  for (const Border border : {Border::kValue, Border::kEdge, Border::kWrap, Border::kReflect}) {
    for (const std::int64_t stride : {1, -1, 2, 3, -2}) {
      for (const std::int64_t gap : {1, 2, 3}) {
        for (const std::int64_t offset : {-11, -5, -1, 0, 1, 4, 13}) {
          for (const std::int64_t size : {1, 2, 5, 8}) {
            if (gap == 1 || border == Border::kValue) {
              const IndexMap map{.stride = stride, .offset = offset, .gap = gap, .border = border};
              check(map, size, {0, 9});
              check(map, size, {3, 4});
              check(map, size, {2, 0});
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mtf::tests
