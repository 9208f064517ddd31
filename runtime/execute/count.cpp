// The arithmetic of counting, and the relations between messages and plan.

#include "runtime/execute/count.h"

#include <algorithm>

#include "lowering/layout/holders.h"
#include "lowering/partition/digest.h"
#include "lowering/price/totals.h"
#include "lowering/reshard/reshard.h"

namespace mtf {

std::int64_t received_elements(StepKind kind, std::int64_t handed, std::int64_t ranks) {
  const std::int64_t has = kind == StepKind::kReduceScatter ? handed / ranks : handed;
  return volume_of(kind, handed, has, ranks).received;
}

namespace {

// What is received is what messages brought.
bool is_told_by_messages(StepKind kind) {
  return kind == StepKind::kAllGather || kind == StepKind::kAllToAll ||
         kind == StepKind::kReduceScatter || kind == StepKind::kHaloExchange ||
         kind == StepKind::kExclusiveScan || kind == StepKind::kSortExchange;
}

}  // namespace

void count_collective(CollectiveTotal& total, const Traffic& moved, std::int64_t ranks,
                      std::int64_t width) {
  const std::int64_t handed = moved.handed / width;
  const std::int64_t received = is_told_by_messages(total.kind)
                                    ? moved.received / width
                                    : received_elements(total.kind, handed, ranks);
  total.calls += 1;
  total.elements += handed;
  total.received += received;
  total.bytes += received * width;
  total.sent_bytes += moved.sent;
  total.received_bytes += moved.received;
}

namespace {

// One collective of a plan, in bytes, and what a rank moved for it.
struct Compared {
  StepKind kind{};
  std::int64_t ranks = 1;
  std::int64_t handed = 0;    // planned
  std::int64_t received = 0;  // planned
  Traffic moved;

  [[nodiscard]] bool both(std::int64_t bytes) const {
    return moved.sent == bytes && moved.received == bytes;
  }
  // Whether one rank of the group deals with all the others and they with it alone.
  [[nodiscard]] bool is_star(std::int64_t centre, std::int64_t leaf) const {
    return (centre == (ranks - 1) * handed && leaf == 0) || (centre == 0 && leaf == handed);
  }

  // On slices that are all of one size.
  [[nodiscard]] bool holds() const {
    if (moved.handed != handed) {
      return false;
    }
    switch (kind) {
      case StepKind::kAllGather:
      case StepKind::kAllToAll:
      case StepKind::kReduceScatter:
        return both(received);
      case StepKind::kServe:  // others may have all of it, or nothing
        return moved.received <= received;
      case StepKind::kPermute:  // a slice may belong where it is
        return both(handed) || both(0);
      case StepKind::kBroadcast:
        return is_star(moved.sent, moved.received);
      case StepKind::kReduce:
        return is_star(moved.received, moved.sent);
      case StepKind::kAllReduce:  // at least the sums of others, at most all that they have
        return both(moved.received) && moved.received >= (ranks == 1 ? 0 : handed) &&
               moved.received <= (ranks - 1) * handed;
      default:
        return both(0);
    }
  }

  // Where slices are of several sizes, the plan is that of the longest; messages are padded, but
  // for those of an all-to-all and of gathers that pass in pieces.
  [[nodiscard]] bool holds_at_most() const {
    const bool exact =
        kind == StepKind::kAllToAll || kind == StepKind::kAllGather || kind == StepKind::kServe;
    return exact ? moved.handed <= handed && moved.received <= received : holds();
  }
};

// Whether a rank does a step at all, where not all hold the tensor. Of a broadcast and a reduce,
// whose other ranks hold nothing, only the holders are known.
bool must_move(const SpmdProgram& program, const Step& step, std::int64_t rank) {
  const SpmdValue& held = program.at(step.kind == StepKind::kReduce ? step.to : step.from);
  return holds(held.layout, program.mesh, rank);
}

// Where each rank's part is known: those at an end of a dim receive less.
bool is_by_place(StepKind kind) {
  return kind == StepKind::kHaloExchange || kind == StepKind::kExclusiveScan ||
         kind == StepKind::kSortExchange;
}

bool is_as_planned(const SpmdProgram& program, const Step& step, std::int64_t rank,
                   const Traffic& moved) {
  const auto width = static_cast<std::int64_t>(bytes_of(program.at(step.from).type.dtype));
  const Volume volume = volume_on(program, step, rank);
  return moved.handed == volume.elements * width && moved.received == volume.received * width;
}

// Of a step that ends a message, with all steps of it.
std::string difference_of_step(const SpmdProgram& program, std::size_t last, std::int64_t rank,
                               const std::vector<Traffic>& steps) {
  const Step& step = program.steps[last];
  const SpmdValue& from = program.at(step.from);
  const auto width = static_cast<std::int64_t>(bytes_of(from.type.dtype));
  Compared compared{.kind = step.kind,
                    .ranks = program.mesh.size_of(step.axes),
                    .received = message_bytes(program, last),
                    .moved = {}};
  for (std::size_t s = message_of(program, last).begin; s <= last; ++s) {
    compared.handed += program.steps[s].elements * width;
    compared.moved = compared.moved + steps[s];
  }
  const Traffic& moved = compared.moved;
  const bool idle = moved.handed == 0 && compared.both(0) && !must_move(program, step, rank);
  const bool alike = program.mesh.uneven ? compared.holds_at_most() : compared.holds();
  if (is_by_place(step.kind) ? is_as_planned(program, step, rank, moved) : idle || alike) {
    return "";
  }
  return std::string(to_string(step.kind)) + " over " + to_string(program.mesh, step.axes) +
         " of `" + from.name + "`: rank " + std::to_string(rank) + " handed over " +
         std::to_string(moved.handed) + " bytes, sent " + std::to_string(moved.sent) +
         " and received " + std::to_string(moved.received) + "; planned are " +
         std::to_string(compared.handed) + " handed over and " + std::to_string(compared.received) +
         " received";
}

}  // namespace

namespace {

// What the plan says of a run that did its steps so often.
Totals planned_of(const SpmdProgram& program, const std::vector<std::int64_t>& times) {
  Totals planned = program.totals;
  if (planned.loops == 0) {
    return planned;
  }
  planned.flops = 0;
  for (CollectiveTotal& total : planned.collectives) {
    total.calls = 0;
    total.messages = 0;
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    planned.flops += static_cast<double>(times[i]) * step.flops;
    if (is_collective(step.kind)) {
      CollectiveTotal& total = planned.collectives[slot_of(planned, step.kind, step.axes)];
      total.calls += times[i];
      total.messages += step.with_next ? 0 : times[i];
    }
  }
  return planned;
}

// "" or the first collective in which a rank handed over or received otherwise.
std::string difference_of_steps(const SpmdProgram& program, const Counted& counted) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const bool is_sent = is_collective(step.kind) && !step.with_next;
    if (is_sent && (program.totals.loops == 0 || counted.times[i] > 0)) {
      std::string found = difference_of_step(program, i, counted.rank, counted.steps);
      if (!found.empty()) {
        return found;
      }
    }
  }
  return "";
}

// Whether only some ranks hold some of the values.
bool is_partly_held(const SpmdProgram& program) {
  return std::ranges::any_of(program.values,
                             [](const SpmdValue& value) { return !value.layout->where.empty(); });
}

}  // namespace

std::string difference_from_plan(const SpmdProgram& program, const Counted& counted) {
  const Totals planned = planned_of(program, counted.times);
  const bool is_uneven = program.mesh.uneven;
  const auto fits = [](auto plan, auto count, bool lower) {
    return lower ? count <= plan : count == plan;
  };
  const auto same = [](const CollectiveTotal& a, const CollectiveTotal& b) {
    return a.kind == b.kind && a.axes == b.axes && a.calls == b.calls && a.messages == b.messages;
  };
  if (!fits(planned.flops, counted.totals.flops, is_uneven)) {
    return "flops";
  }
  if (!std::ranges::is_permutation(planned.collectives, counted.totals.collectives, same)) {
    return "calls or messages of collectives";
  }
  if (!fits(planned.peak_bytes, counted.totals.peak_bytes, is_uneven || is_partly_held(program))) {
    return "peak of memory";
  }
  return difference_of_steps(program, counted);
}

void clear(Counted& counted) {
  counted.totals.flops = 0;
  counted.totals.peak_bytes = 0;
  for (CollectiveTotal& total : counted.totals.collectives) {
    total = {.kind = total.kind, .axes = std::move(total.axes)};
  }
  std::ranges::fill(counted.steps, Traffic());
  std::ranges::fill(counted.times, 0);
}

}  // namespace mtf
