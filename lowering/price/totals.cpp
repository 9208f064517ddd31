#include "lowering/price/totals.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/partition/digest.h"
#include "lowering/reshard/halo.h"
#include "lowering/reshard/reshard_moves.h"
#include "lowering/rounds/scan_rounds.h"
#include "lowering/rounds/sort_rounds.h"

namespace mtf {
namespace {

// Whether a rank receives what it lacks and no more: messages of other kinds are padded.
bool is_of_own_length(const SpmdProgram& program, const Step& step) {
  return step.kind == StepKind::kAllToAll ||
         (step.kind == StepKind::kAllGather && program.at(step.to).pieces > 1);
}

bool depends_on_rank(const SpmdProgram& program, const Step& step) {
  return step.kind == StepKind::kHaloExchange || step.kind == StepKind::kExclusiveScan ||
         step.kind == StepKind::kSortExchange ||
         (program.mesh.uneven && is_of_own_length(program, step));
}

// Axes along which ranks may do unlike parts of such a step.
Axes unlike_along(const SpmdProgram& program, const Step& step) {
  if (program.mesh.uneven) {
    return used_axes(program.mesh, program.at(step.from).layout, program.at(step.to).layout);
  }
  if (step.kind == StepKind::kHaloExchange) {
    const std::vector<MovedDim> reads = reads_of(program, step);
    return unlike_axes(halo_of(program, step, reads));
  }
  return step.axes;
}

// Steps that are alike, and the bytes that each rank receives in one of them: of the ranks that
// differ along the axes.
struct UnlikeSteps {
  const Step* step = nullptr;
  std::int64_t count = 0;
  Axes axes;
  std::vector<std::int64_t> bytes;
};

class BusiestRank {
 public:
  explicit BusiestRank(const SpmdProgram& program) : program_(program) {}

  // The first that receives most. Without ranks that are unlike, or with too many of them to look
  // at each: -1.
  [[nodiscard]] std::int64_t find() {
    for (const Step& step : program_.steps) {
      if (depends_on_rank(program_, step)) {
        add(step);
      }
    }
    constexpr std::int64_t kMostRanks = 1 << 16;
    if (unlike_.empty() || program_.mesh.size_of(axes_) > kMostRanks) {
      return -1;
    }
    std::int64_t busiest = -1;
    std::int64_t most = -1;
    for (UnlikeSteps& steps : unlike_) {
      measure(steps);
    }
    for (const std::int64_t rank : program_.mesh.group_of(0, axes_)) {
      if (const std::int64_t bytes = received_by(rank); bytes > most) {
        most = bytes;
        busiest = rank;
      }
    }
    return busiest;
  }

 private:
  void add(const Step& step) {
    const auto known = std::ranges::find_if(
        unlike_, [&](const UnlikeSteps& steps) { return are_alike(*steps.step, step); });
    if (known != unlike_.end()) {
      ++known->count;
      return;
    }
    unlike_.push_back(
        {.step = &step, .count = 1, .axes = unlike_along(program_, step), .bytes = {}});
    for (const AxisId axis : unlike_.back().axes) {
      if (std::ranges::find(axes_, axis) == axes_.end()) {
        axes_.push_back(axis);
      }
    }
    std::ranges::sort(axes_);
  }

  [[nodiscard]] bool are_alike(const Step& a, const Step& b) const {
    const auto same = [this](SpmdId one, SpmdId other) {
      return program_.at(one).type == program_.at(other).type &&
             program_.at(one).layout == program_.at(other).layout &&
             (program_.at(one).pieces > 1) == (program_.at(other).pieces > 1);
    };
    return a.kind == b.kind && a.axes == b.axes && same(a.from, b.from) && same(a.to, b.to) &&
           (a.kind != StepKind::kHaloExchange || reads_of(program_, a) == reads_of(program_, b)) &&
           (a.kind != StepKind::kExclusiveScan ||  // from the same end
            scan_place(program_, a, 0) == scan_place(program_, b, 0));
  }

  void measure(UnlikeSteps& steps) const {
    const auto width =
        static_cast<std::int64_t>(bytes_of(program_.at(steps.step->from).type.dtype));
    for (const std::int64_t rank : program_.mesh.group_of(0, steps.axes)) {
      steps.bytes.push_back(volume_on(program_, *steps.step, rank).received * width);
    }
  }

  [[nodiscard]] std::int64_t received_by(std::int64_t rank) const {
    std::int64_t bytes = 0;
    for (const UnlikeSteps& steps : unlike_) {
      const std::int64_t place = program_.mesh.index_along(rank, steps.axes);
      bytes += steps.count * steps.bytes[static_cast<std::size_t>(place)];
    }
    return bytes;
  }

  const SpmdProgram& program_;
  std::vector<UnlikeSteps> unlike_;
  Axes axes_;
};

}  // namespace

Volume volume_on(const SpmdProgram& program, const Step& step, std::int64_t rank) {
  const SpmdValue& from = program.at(step.from);
  if (!depends_on_rank(program, step)) {
    return {step.elements, step.received};
  }
  const Slice has = slice_of(from.type.shape, from.layout, program.mesh, rank);
  const std::int64_t elements = volume_of(has);
  if (step.kind == StepKind::kExclusiveScan) {
    const std::int64_t ranks = program.mesh.size_of(step.axes);
    return {elements, elements * scan_messages(ranks, scan_place(program, step, rank))};
  }
  if (step.kind == StepKind::kSortExchange) {
    const std::int64_t size = sorted_dim_of(program, step).size;
    const std::int64_t longest = program.mesh.longest_part(size, step.axes);
    return {elements, elements / std::max<std::int64_t>(longest, 1) *
                          sort_received(program.mesh, size, step.axes, rank)};
  }
  if (is_of_own_length(program, step)) {
    const SpmdValue& to = program.at(step.to);
    const Slice wanted = slice_of(to.type.shape, to.layout, program.mesh, rank);
    // What is handed over is as long everywhere.
    return {step.elements, volume_of(wanted) - volume_of(intersection(wanted, has))};
  }
  const std::vector<MovedDim> reads = reads_of(program, step);
  return {elements, halo_received(halo_of(program, step, reads), rank)};
}

void add_up(SpmdProgram& program) {
  const std::int64_t busiest = BusiestRank(program).find();
  Totals& totals = program.totals;
  for (const Step& step : program.steps) {
    totals.flops += step.flops;
    totals.loops += loop_mark(step) == LoopMark::kWhile ? 1 : 0;
    if (!is_collective(step.kind)) {
      continue;
    }
    const auto width = static_cast<std::int64_t>(bytes_of(program.at(step.from).type.dtype));
    const Volume volume =
        busiest < 0 ? Volume{step.elements, step.received} : volume_on(program, step, busiest);
    CollectiveTotal& total = totals.collectives[collective_slot(totals, step.kind, step.axes)];
    ++total.calls;
    total.messages += step.with_next ? 0 : 1;
    total.elements += volume.elements;
    total.received += volume.received;
    total.bytes += volume.received * width;
  }
  std::ranges::sort(totals.collectives, {},
                    [](const CollectiveTotal& total) { return std::tie(total.kind, total.axes); });
  for (const Input& input : program.source.inputs) {
    if (input.kind == InputKind::kParam) {
      totals.parameters += program.source.at(input.value).type.shape.volume();
    }
  }
}

}  // namespace mtf
