#include "lowering/price/totals.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/partition/digest.h"
#include "lowering/reshard/halo.h"
#include "lowering/reshard/reshard_moves.h"
#include "lowering/rounds/scan_rounds.h"
#include "lowering/rounds/sort_rounds.h"
#include "lowering/unlike/lacking.h"

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

// Adds what ranks receive in such a step, times `scale`. requires: the program outlives the sum.
void add_received(RankSum& sum, std::int64_t scale, const SpmdProgram& program, const Step& step) {
  const Mesh& mesh = program.mesh;
  const auto laid = [&program](SpmdId id) -> Laid {
    const SpmdValue& value = program.at(id);
    return {.mesh = program.mesh, .shape = value.type.shape, .layout = value.layout};
  };
  if (is_of_own_length(program, step)) {
    add_lacking(sum, scale, laid(step.from), laid(step.to));
    return;
  }
  if (step.kind == StepKind::kHaloExchange) {
    const std::vector<MovedDim> reads = reads_of(program, step);
    add_received(sum, scale, halo_of(program, step, reads));
    return;
  }
  Factors product = volume_in(sum, laid(step.from));
  if (step.kind == StepKind::kExclusiveScan) {
    const std::int64_t ranks = mesh.size_of(step.axes);
    const std::int64_t first = scan_place(program, step, 0);  // of the rank at 0: either end
    product.push_back(
        sum.count(step.axes, [&mesh, axes = step.axes, ranks, first](const Coordinates& at) {
          return scan_messages(ranks, std::abs(first - mesh.index_along(at, axes)));
        }));
  } else {
    const std::int64_t size = sorted_dim_of(program, step).size;
    const Shape& parts = program.at(step.from).type.shape;
    const std::int64_t longest = mesh.longest_part(size, step.axes);
    scale *= parts[parts.rank() - 1].size / std::max<std::int64_t>(longest, 1);
    product.erase(product.begin() + std::ssize(parts.dims()) - 1);  // the part, not split further
    product.push_back(sum.count(step.axes, [&mesh, axes = step.axes, size](const Coordinates& at) {
      return sort_received(mesh, size, axes, mesh.rank_at(at));
    }));
  }
  sum.add(scale, std::move(product));
}

// Steps that are alike.
struct UnlikeSteps {
  const Step* step = nullptr;
  std::int64_t count = 0;
};

class BusiestRank {
 public:
  explicit BusiestRank(const SpmdProgram& program) : program_(program) {}

  // The first that receives most. Without ranks that are unlike, or with too many that are: -1.
  [[nodiscard]] std::int64_t find() {
    for (const Step& step : program_.steps) {
      if (depends_on_rank(program_, step)) {
        add(step);
      }
    }
    if (unlike_.empty()) {
      return -1;
    }
    RankSum bytes(program_.mesh);
    for (const UnlikeSteps& steps : unlike_) {
      const SpmdValue& from = program_.at(steps.step->from);
      const auto width = static_cast<std::int64_t>(bytes_of(from.type.dtype));
      add_received(bytes, steps.count * width, program_, *steps.step);
    }
    constexpr std::size_t kMostPlaces = 1 << 16;
    const std::optional<RankSum::Most> most = bytes.most(kMostPlaces);
    return most ? most->rank : -1;
  }

 private:
  void add(const Step& step) {
    const auto known = std::ranges::find_if(
        unlike_, [&](const UnlikeSteps& steps) { return are_alike(*steps.step, step); });
    if (known != unlike_.end()) {
      ++known->count;
      return;
    }
    unlike_.push_back({.step = &step, .count = 1});
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

  const SpmdProgram& program_;
  std::vector<UnlikeSteps> unlike_;
};

}  // namespace

Volume volume_on(const SpmdProgram& program, const Step& step, std::int64_t rank) {
  if (!depends_on_rank(program, step)) {
    return {step.elements, step.received};
  }
  const SpmdValue& from = program.at(step.from);
  const Slice has = slice_of(from.type.shape, from.layout, program.mesh, rank);
  RankSum received(program.mesh);
  add_received(received, 1, program, step);
  return {// what is handed over of slices is padded, and as long everywhere
          is_of_own_length(program, step) ? step.elements : volume_of(has),
          received.at(program.mesh.place_of(rank))};
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
