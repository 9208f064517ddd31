// A rank's slice of the result reads a product of runs, one for each dim, so what it reads and what
// of that it has are products of counts.

#include "lowering/reshard/halo.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "lowering/unlike/lacking.h"

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

// Along one dim of the operand, of the rank at a place that has all that its block reads.
Counts counts_along(const Halo& halo, const MovedDim& read, const Coordinates& at) {
  const Interval wanted = read.to ? block_at(halo.result, halo.to, halo.mesh, at, *read.to)
                                  : Interval{.begin = 0, .extent = 1};
  const std::vector<IndexRun> runs = runs_of(read.map, halo.operand[read.dim].size, wanted);
  const Interval has = block_at(halo.operand, halo.from, halo.mesh, at, read.dim);
  return {.read = count_of(runs), .own = count_of(runs_within(runs, has))};
}

Laid operand_of(const Halo& halo) {
  return {.mesh = halo.mesh, .shape = halo.operand, .layout = halo.from};
}

Laid result_of(const Halo& halo) {
  return {.mesh = halo.mesh, .shape = halo.result, .layout = halo.to};
}

// What ranks read of a dim that is not the same on both sides, and what of it they have.
void add_counts(RankSum& sum, const Halo& halo, std::size_t d, Factors& read, Factors& own) {
  MovedDim moved = halo.reads[d];
  moved.dim = d;
  if (is_plain(halo, d)) {
    read.push_back(length_along(sum, result_of(halo), *moved.to));
    own.push_back(common_length(sum, operand_of(halo), d, result_of(halo), *moved.to));
    return;
  }
  const Axes wanted = moved.to ? halo.to.dims[*moved.to] : Axes();
  read.push_back(sum.count(
      wanted, [halo, moved](const Coordinates& at) { return counts_along(halo, moved, at).read; }));
  own.push_back(sum.count(
      axes_of_both(halo.from.dims[d], wanted),
      [halo, moved](const Coordinates& at) { return counts_along(halo, moved, at).own; }));
}

// Where only some ranks have the result, the others read nothing. `longest`: of a dim that is the
// same on both sides, all have the longest block.
void add_received(RankSum& sum, std::int64_t scale, const Halo& halo, bool longest) {
  Factors read;
  Factors own;
  for (std::size_t d = 0; d < halo.reads.size(); ++d) {
    if (!is_same(halo, d)) {
      add_counts(sum, halo, d, read, own);
    } else if (longest) {
      scale *= halo.mesh.longest_part(halo.operand[d].size, halo.from.dims[d]);
    } else {
      read.push_back(length_along(sum, operand_of(halo), d));
      own.push_back(read.back());
    }
  }
  add_holders(sum, result_of(halo), read);
  add_holders(sum, result_of(halo), own);
  sum.add(scale, std::move(read));
  sum.add(-scale, std::move(own));
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

void add_received(RankSum& sum, std::int64_t scale, const Halo& halo) {
  add_received(sum, scale, halo, /*longest=*/false);
}

// Dims that are the same on both sides are split over other axes than the rest, so that some rank
// has the longest block of each and most of the rest.
std::int64_t most_halo_received(const Halo& halo) {
  RankSum sum(halo.mesh);
  add_received(sum, 1, halo, /*longest=*/true);
  return sum.most(std::numeric_limits<std::size_t>::max())->amount;
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
    return reads_of(step.calls.front().split->space);
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
