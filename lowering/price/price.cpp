#include "lowering/price/price.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "ir/kernel.h"
#include "lowering/loops/loops.h"
#include "lowering/price/conversions.h"
#include "lowering/reshard/reshard.h"

namespace mtf {
namespace {

// The sides of a product, of one rank: C[m, n] = A[m, k] · B[k, n], `batch` times over.
struct Sides {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;
};

// Results that are computed in tiles take whole ones.
std::int64_t tile_of(const IterationSpace& space, std::size_t loop) {
  std::int64_t tile = 1;
  for (const WindowDim& window : space.windows) {
    const std::vector<std::size_t>& loops = space.operands[window.operand][window.dim];
    tile = std::ranges::find(loops, loop) == loops.end() ? tile : std::max(tile, window.tile);
  }
  return tile;
}

// Of one part of a call, and of one rank.
double extent(const LocalCall& call, std::size_t loop, const Mesh& mesh) {
  const std::int64_t part =
      mesh.longest_part(call.split->space->loops[loop].size, call.split->loops[loop]);
  const std::int64_t tile = tile_of(*call.split->space, loop);
  const std::int64_t tiles = (part + tile - 1) / tile;
  const auto own = static_cast<double>(tiles * tile);
  return loop == call.stream->loop ? own / static_cast<double>(call.stream->parts) : own;
}

// Of a served loop, one index of each place.
double volume(const LocalCall& call, const Mesh& mesh) {
  double result = 1;
  for (std::size_t i = 0; i < call.split->space->loops.size(); ++i) {
    result *= call.split->space->loops[i].role == DimRole::kServed ? 1 : extent(call, i, mesh);
  }
  return result;
}

// Of a point of the loops of what is done in a way of its own; 0: it is not, or nobody has measured
// it.
double way_seconds(const LocalCall& call, const Hardware& hardware) {
  const std::string_view way = call.split->space->way;
  return way.empty() ? 0 : hardware.seconds_of_element(way);
}

// … of what is no product.
double element_seconds(const LocalCall& call, const Hardware& hardware) {
  const double of_way = way_seconds(call, hardware);
  return (of_way > 0 ? of_way : hardware.seconds_of_element(call.op().name)) +
         conversion_seconds(conversions_of(call.split->call), hardware);
}

bool is_product(const LocalCall& call) {
  return is_product_of_two(call.op(), call.operands.size());
}

// The places of a window are whole; where the result has them, they stand for elements of the left
// operand.
Sides sides_of(const LocalCall& call, const Mesh& mesh) {
  Sides sides;
  const IterationSpace& space = *call.split->space;
  for (std::size_t i = 0; i < space.loops.size(); ++i) {
    const bool left = runs_over(space.operands[0], i);
    const bool right = runs_over(space.operands[1], i);
    const bool kept = runs_over(space.result, i);
    double& side = !kept ? sides.k : left && right ? sides.batch : right ? sides.n : sides.m;
    side *= extent(call, i, mesh);
  }
  return sides;
}

// The matrix unit holds a tile of two of the sides; the longest one streams through it. A product
// of a vector is none of its work.
double in_tiles(const Sides& sides, double tile) {
  std::vector<double> lengths = {sides.m, sides.n, sides.k};
  std::ranges::sort(lengths);
  if (lengths[0] == 1) {
    return sides.batch * lengths[1] * lengths[2];
  }
  const auto rounded = [tile](double side) { return std::ceil(side / tile) * tile; };
  return sides.batch * rounded(lengths[0]) * rounded(lengths[1]) * lengths[2];
}

double product_rate(const Sides& sides, const Hardware& hardware) {
  const double shortest = std::min({sides.m, sides.n, sides.k});
  const double side = std::sqrt(shortest * std::cbrt(sides.m * sides.n * sides.k));
  return hardware.products.empty() ? hardware.flops : value_at(hardware.products, side);
}

// At which a call does the arithmetic that it is said to do. Where windows of one operand meet
// another one, as in a convolution, that of a product of these sides; else the best there is.
double arithmetic_rate(const LocalCall& call, const Mesh& mesh, const Hardware& hardware) {
  const bool multiplies_windows =
      call.operands.size() == 2 && !call.split->space->windows.empty() && call.op().flops;
  return multiplies_windows ? product_rate(sides_of(call, mesh), hardware) : hardware.flops;
}

double product_seconds(const LocalCall& call, const Mesh& mesh, const Hardware& hardware) {
  Sides sides = sides_of(call, mesh);
  sides.k *= static_cast<double>(call.operands.size()) / 2;  // products that are added up
  const double of_dot = hardware.seconds_of_element(call.op().name);
  if (sides.m == 1 && sides.n == 1 && of_dot > 0) {
    return sides.batch * sides.k * of_dot;
  }
  return 2 * in_tiles(sides, hardware.tile) / product_rate(sides, hardware);
}

double call_seconds(const LocalCall& call, const Mesh& mesh, const Hardware& hardware) {
  const double part = is_product(call) ? product_seconds(call, mesh, hardware)
                                       : volume(call, mesh) * element_seconds(call, hardware);
  return static_cast<double>(call.stream->parts) * part;
}

double memory_seconds(double bytes, const Hardware& hardware) {
  return bytes == 0 ? 0 : bytes / value_at(hardware.memory, bytes);
}

double kernel_seconds(const SpmdProgram& program, const Step& step, const Hardware& hardware) {
  double products = 0;
  double elements = 0;
  bool is_measured = false;
  double rate = hardware.flops;
  for (const LocalCall& call : step.calls) {
    (is_product(call) ? products : elements) += call_seconds(call, program.mesh, hardware);
    is_measured = is_measured || way_seconds(call, hardware) > 0;
    rate = std::min(rate, arithmetic_rate(call, program.mesh, hardware));
  }
  const double memory = memory_seconds(bytes_touched(program, step), hardware);
  const auto parts = static_cast<double>(step.calls.front().stream->parts);
  // What nobody has measured by elements, as most convolutions, goes at that rate at most; a way of
  // its own may do without some of the arithmetic.
  const double arithmetic = is_measured ? 0 : step.flops / rate;
  return parts * hardware.overhead + std::max({products, memory + elements, arithmetic});
}

double slice_seconds(const SpmdProgram& program, const Step& step, const Hardware& hardware) {
  const auto bytes = static_cast<double>(program.at(step.to).local.bytes());
  return hardware.overhead + memory_seconds(2 * bytes, hardware);
}

// Of the group of rank 0 along the axes, those of a lower number than the limit.
std::int64_t members_below(const Mesh& mesh, const Axes& axes, std::int64_t limit) {
  std::int64_t left = mesh.size_of(axes);  // that are at the limit's coordinates so far
  if (limit >= mesh.ranks()) {
    return left;
  }
  const std::vector<std::int64_t> at = mesh.coordinates(limit);
  std::int64_t below = 0;
  for (std::size_t a = 0; a < at.size(); ++a) {
    if (has(axes, static_cast<AxisId>(a))) {
      left /= mesh.axes[a].size;
      below += at[a] * left;
    } else if (at[a] > 0) {
      return below + left;
    }
  }
  return below;
}

// The link that a group's ring goes through. Where it leaves the machine, as many of its ranks as
// are on one share their parts of that machine's link.
Link link_of(const Mesh& mesh, const Axes& axes, const Hardware& hardware) {
  const std::int64_t here = members_below(mesh, axes, hardware.near_ranks);
  if (here == mesh.size_of(axes)) {
    return hardware.near;
  }
  Link link = hardware.link;
  link.bandwidth *= static_cast<double>(here);
  if (here > 1) {
    link.bandwidth = std::min(link.bandwidth, hardware.near.bandwidth);
  }
  return link;
}

// Measured among as many ranks, or among the most fewer ones; null if never.
const MeasuredCollective* measured(const Hardware& hardware, StepKind kind, std::int64_t ranks) {
  const MeasuredCollective* best = nullptr;
  for (const MeasuredCollective& row : hardware.collectives) {
    if (row.kind == to_string(kind) && row.ranks <= ranks &&
        (best == nullptr || row.ranks > best->ranks)) {
      best = &row;
    }
  }
  return best;
}

// Straight lines between the points, through the origin of the first, on along the last two.
double seconds_at(const Curve& curve, double bytes) {
  if (curve.size() == 1 || bytes <= curve.front().first) {
    return curve.front().second;
  }
  const auto above = std::ranges::upper_bound(curve, bytes, {}, &std::pair<double, double>::first);
  const auto right = above == curve.end() ? std::prev(curve.end()) : above;
  const auto left = std::prev(right);
  const double slope = (right->second - left->second) / (right->first - left->first);
  return std::max(left->second + slope * (bytes - left->first), curve.front().second);
}

// Of a call in parts, how often it goes over a tensor that is not cut.
std::int64_t passes(const LocalCall& call, const DimMap& map) {
  return runs_over(map, call.stream->loop) ? 1 : call.stream->parts;
}

// Of an operand; what only picks elements (a slice, a gather) reads no more than it returns.
std::int64_t bytes_read(const SpmdProgram& program, const LocalCall& call, std::size_t operand) {
  const std::int64_t whole = program.at(call.operands[operand]).local.bytes() *
                             passes(call, call.split->space->operands[operand]);
  const bool picks = call.op().flops == nullptr && call.result.valid();
  return picks ? std::min(whole, program.at(call.result).local.bytes()) : whole;
}

}  // namespace

double bytes_touched(const SpmdProgram& program, const Step& step) {
  if (hands_on_in_place(program, step)) {
    return 0;
  }
  struct Touched {
    std::int32_t value = 0;
    std::int64_t bytes = 0;
    bool made = false;  // by a call before
  };
  std::vector<Touched> touched;
  touched.reserve(4 * step.calls.size());
  const auto at = [&touched](SpmdId id) -> Touched& {
    const auto found = std::ranges::find(touched, id.index, &Touched::value);
    return found != touched.end() ? *found : touched.emplace_back(Touched{.value = id.index});
  };
  for (const LocalCall& call : step.calls) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      if (Touched& operand = at(call.operands[i]); !operand.made) {
        operand.bytes = std::max(operand.bytes, bytes_read(program, call, i));
      }
    }
    if (call.result.valid()) {
      const SpmdValue& result = program.at(call.result);
      Touched& made = at(call.result);
      made.made = true;
      made.bytes = result.home == Home::kNone
                       ? 0
                       : result.local.bytes() * passes(call, call.split->space->result);
    }
  }
  std::ranges::sort(touched, {}, &Touched::value);  // sums of large numbers depend on the order
  return std::accumulate(touched.begin(), touched.end(), 0.0, [](double sum, const Touched& part) {
    return sum + static_cast<double>(part.bytes);
  });
}

double collective_seconds(StepKind kind, std::int64_t bytes, const Mesh& mesh, const Axes& axes,
                          const Hardware& hardware) {
  const std::int64_t ranks = mesh.size_of(axes);
  if (ranks == 1) {
    return hardware.overhead;
  }
  if (const MeasuredCollective* row = measured(hardware, kind, ranks)) {
    return seconds_at(row->seconds, static_cast<double>(bytes));
  }
  const Link link = link_of(mesh, axes, hardware);
  return static_cast<double>(hops_of(kind, ranks)) * link.latency +
         static_cast<double>(bytes) / link.bandwidth;
}

namespace {

// Bytes per second anywhere along what was measured; infinite if that is one point.
double most_bandwidth_of(const Curve& curve) {
  double most = curve.size() > 1 ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t next = std::min(i + 1, curve.size() - 1);
    const double bytes = curve[next].first - (next > i ? curve[i].first : 0);
    const double seconds = curve[next].second - (next > i ? curve[i].second : 0);
    most = std::max({most, curve[i].first / curve[i].second,
                     seconds > 0 ? bytes / seconds : std::numeric_limits<double>::infinity()});
  }
  return most;
}

}  // namespace

double most_bandwidth(const Mesh& mesh, const Hardware& hardware) {
  double most = 0;
  for (const MeasuredCollective& row : hardware.collectives) {
    most = std::max(most, most_bandwidth_of(row.seconds));
  }
  Axes axes;
  const auto look = [&](const auto& self, std::size_t axis) -> void {
    if (axis == mesh.axes.size()) {
      most = std::max(most, axes.empty() ? 0 : link_of(mesh, axes, hardware).bandwidth);
      return;
    }
    self(self, axis + 1);
    if (mesh.axes[axis].size > 1) {
      axes.push_back(static_cast<AxisId>(axis));
      self(self, axis + 1);
      axes.pop_back();
    }
  };
  look(look, 0);
  return most;
}

namespace {

double move_seconds(const SpmdProgram& program, const Step& step, const Hardware& hardware) {
  const std::int64_t pieces = program.at(step.to).pieces;
  return static_cast<double>(pieces) *
         collective_seconds(step.kind, step.bytes / pieces, program.mesh, step.axes, hardware);
}

// What goes in one message is copied into it and out of it, and takes what one collective takes: of
// that each has the share that it has of what they would take apart.
void take_together(const SpmdProgram& program, StepRange message, const Hardware& hardware,
                   std::vector<double>& seconds) {
  double packed = 0;
  double apart = 0;
  for (std::size_t s = message.begin; s < message.end; ++s) {
    packed += static_cast<double>(program.at(program.steps[s].from).local.bytes());
    apart += seconds[s];
  }
  const std::size_t last = message.end - 1;
  const Step& step = program.steps[last];
  constexpr double kTouched = 4;  // read and written, twice
  const double together = memory_seconds(kTouched * packed, hardware) +
                          collective_seconds(step.kind, message_bytes(program, last), program.mesh,
                                             step.axes, hardware);
  for (std::size_t s = message.begin; s < message.end && apart > 0; ++s) {
    seconds[s] *= together / apart;
  }
}

// All pieces but the first may come while the product behind works on those before them.
void hide_behind(const SpmdProgram& program, std::size_t product, double overlap,
                 std::vector<double>& seconds) {
  std::size_t first = product;
  double gathers = 0;
  while (first > 0 && done_at(program, first - 1) == product) {
    gathers += seconds[--first];
  }
  const auto parts = static_cast<double>(program.steps[product].calls.front().stream->parts);
  const double hidden = overlap * std::min(gathers, seconds[product]) * (parts - 1) / parts;
  for (std::size_t s = first; s < product; ++s) {
    seconds[s] *= gathers > 0 ? 1 - hidden / gathers : 1;
  }
}

}  // namespace

Prices price(const SpmdProgram& program, const Hardware& hardware) {
  Prices prices;
  prices.steps.reserve(program.steps.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    prices.steps.push_back(step.kind == StepKind::kKernel  ? kernel_seconds(program, step, hardware)
                           : step.kind == StepKind::kSlice ? slice_seconds(program, step, hardware)
                                                           : move_seconds(program, step, hardware));
    if (step.kind == StepKind::kKernel && step.calls.front().stream->parts > 1) {
      hide_behind(program, s, hardware.overlap, prices.steps);
    }
    if (s > 0 && program.steps[s - 1].with_next && !step.with_next) {
      take_together(program, message_of(program, s), hardware, prices.steps);
    }
  }
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    (is_collective(program.steps[s].kind) ? prices.communication : prices.compute) +=
        prices.steps[s];
  }
  return prices;
}

}  // namespace mtf
