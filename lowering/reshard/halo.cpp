// A rank's slice of the result reads a product of runs, one for each dim, so what it reads and what
// of that it has are products of counts.

#include "lowering/reshard/halo.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace mtf {
namespace {

bool is_plain(const Halo& halo, std::size_t d) {
  const MovedDim& read = halo.reads[d];
  return read.to && read.map == IndexMap{} && halo.operand[d].size == halo.result[*read.to].size &&
         std::ranges::find(halo.to.reach, *read.to, &Reach::dim) == halo.to.reach.end();
}

// Whether each rank reads just the block of the dim that it has.
bool is_same(const Halo& halo, std::size_t d) {
  return is_plain(halo, d) && halo.from.dims[d] == halo.to.dims[*halo.reads[d].to];
}

struct Counts {
  std::int64_t read = 1;
  std::int64_t own = 1;
};

// Of the dims that are not the same on both sides; of those, the longest block.
Counts counts_on(const Halo& halo, std::int64_t rank, bool longest) {
  const Slice from = slice_of(halo.operand, halo.from, halo.mesh, rank);
  const Slice to = slice_of(halo.result, halo.to, halo.mesh, rank);
  Counts counts;
  for (std::size_t d = 0; d < halo.reads.size(); ++d) {
    if (is_same(halo, d)) {
      const std::int64_t block =
          longest ? halo.mesh.longest_part(halo.operand[d].size, halo.from.dims[d])
                  : from.extent[d];
      counts.read *= block;
      counts.own *= block;
      continue;
    }
    const MovedDim& read = halo.reads[d];
    const std::vector<IndexRun> runs = runs_of(read.map, halo.operand[d].size, read.wanted_by(to));
    counts.read *= count_of(runs);
    counts.own *= count_of(runs_within(runs, from.along(d)));
  }
  return counts;
}

Axes in_order(const std::set<AxisId>& axes) {
  Axes list;
  std::ranges::copy(axes, std::back_inserter(list));
  return list;
}

}  // namespace

Axes halo_axes(const Halo& halo) {
  std::set<AxisId> axes;
  for (std::size_t d = 0; d < halo.reads.size(); ++d) {
    const Axes& has = halo.from.dims[d];
    const AxisId* first = has.begin();
    if (is_plain(halo, d)) {
      first = std::ranges::mismatch(has, halo.to.dims[*halo.reads[d].to]).in1;
    }
    axes.insert(first, has.end());
  }
  return in_order(axes);
}

std::int64_t halo_received(const Halo& halo, std::int64_t rank) {
  const Counts counts = counts_on(halo, rank, /*longest=*/false);
  return counts.read - counts.own;
}

// Where only some ranks have the result, the others receive nothing.
Axes unlike_axes(const Halo& halo) {
  std::set<AxisId> axes;
  for (std::size_t d = 0; d < halo.reads.size(); ++d) {
    if (!is_same(halo, d)) {
      axes.insert(halo.from.dims[d].begin(), halo.from.dims[d].end());
      if (const std::optional<std::size_t>& to = halo.reads[d].to) {
        axes.insert(halo.to.dims[*to].begin(), halo.to.dims[*to].end());
      }
    }
  }
  for (const Condition& condition : halo.to.where) {
    axes.insert(condition.axis);
    if (condition.same) {
      axes.insert(*condition.same);
    }
  }
  return in_order(axes);
}

// Dims that are the same on both sides are split over other axes than the rest, so that some rank
// has the longest block of each and most of the rest.
std::int64_t most_halo_received(const Halo& halo) {
  std::int64_t most = 0;
  for (const std::int64_t rank : halo.mesh.group_of(0, unlike_axes(halo))) {
    const Counts counts = counts_on(halo, rank, /*longest=*/true);
    most = std::max(most, counts.read - counts.own);
  }
  return most;
}

std::vector<MovedDim> reads_of_itself(const Shape& shape) {
  std::vector<MovedDim> reads;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    reads.push_back({.dim = d, .to = d});
  }
  return reads;
}

std::vector<MovedDim> reads_of(const SpmdProgram& program, const Step& step) {
  if (!step.calls.empty()) {
    return reads_of(step.calls.front().space);
  }
  return reads_of_itself(program.at(step.from).type.shape);
}

Axes halo_axes(const SpmdProgram& program, const Step& step) {
  const std::vector<MovedDim> reads = reads_of(program, step);
  return halo_axes(halo_of(program, step, reads));
}

Halo halo_of(const SpmdProgram& program, const Step& step, std::span<const MovedDim> reads) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  return {.mesh = program.mesh,
          .reads = reads,
          .operand = from.type.shape,
          .from = from.layout,
          .result = to.type.shape,
          .to = to.layout};
}

}  // namespace mtf
