#include "runtime/execute/stream_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "lowering/steps/stream.h"
#include "runtime/exchange/exchange.h"
#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

// What is at `box` in a slice that lies dense in memory; `bytes`: from its begin.
TensorView view_in(const SpmdValue& value, const Slice& box, const Slice& slice,
                   std::int64_t& bytes) {
  const std::vector<std::int64_t> strides = strides_of(shape_of(value.type.shape, slice));
  const std::vector<std::int64_t> corner = corner_in(box, slice);
  bytes = 0;
  for (std::size_t d = 0; d < corner.size(); ++d) {
    bytes += corner[d] * strides[d] * static_cast<std::int64_t>(bytes_of(value.type.dtype));
  }
  return {.data = nullptr,
          .shape = shape_of(value.type.shape, box),
          .offset = box.offset,
          .dtype = value.type.dtype,
          .strides = strides};
}

Slice slice_on(const SpmdProgram& program, SpmdId id, std::int64_t rank) {
  return slice_of(program.at(id).type.shape, program.at(id).layout, program.mesh, rank);
}

}  // namespace

StreamStep::StreamStep(const SpmdProgram& program, const LocalCall& call,
                       std::vector<Passing> passing, const PrepareContext& context)
    : call_(&call),
      dtype_(program.at(call.result).type.dtype),
      count_(program.at(call.result).local.shape.volume()),
      exact_(context.exact),
      passing_(std::move(passing)),
      sent_(context.hosts.size()),
      received_(context.hosts.size()) {
  for (std::size_t i = 0; i < context.hosts.size(); ++i) {
    std::vector<Part>& times = parts_.emplace_back(static_cast<std::size_t>(parts()));
    for (std::int64_t time = 0; time < parts(); ++time) {
      plan(times[static_cast<std::size_t>(time)], program, context, i, time);
    }
  }
  for (Passing& one : passing_) {
    one.slices.resize(context.hosts.size());
    one.windows.resize(context.hosts.size());
    one.moved.resize(context.hosts.size());
  }
}

// The part of a tensor's slice that a part of the loop needs.
Slice StreamStep::cut(Slice slice, const DimMap& map, std::int64_t part) const {
  if (const std::optional<std::size_t> dim = dim_of(map, call_->stream->loop)) {
    const Interval range = call_->stream->part_of(slice.extent[*dim], part);
    slice.offset[*dim] += range.begin;
    slice.extent[*dim] = range.extent;
  }
  return slice;
}

void StreamStep::plan_operand(Part& part, const SpmdProgram& program, std::size_t operand,
                              const Moment& now) const {
  const SpmdId id = call_->operands[operand];
  const SpmdValue& value = program.at(id);
  const auto passing = std::ranges::find(passing_, id, &Passing::to);
  Place& place = part.places.emplace_back(Place{.value = id, .bytes = 0});
  if (passing == passing_.end()) {
    const Slice whole = slice_on(program, id, now.rank);
    const Slice box = cut(whole, call_->split->space->operands[operand], now.part);
    part.in.push_back(view_in(value, box, whole, place.bytes));
    return;
  }
  const Slice& piece = passing->exchange.piece(now.index, now.time);
  if (passing->exchange.is_own(now.index, now.time)) {
    place.value = passing->from;
    part.in.push_back(
        view_in(value, piece, slice_on(program, passing->from, now.rank), place.bytes));
  } else {
    part.in.push_back(view_in(value, piece, piece, place.bytes));
    place.bytes = now.time % 2 * value.piece_bytes();
  }
}

LoopShare StreamStep::share_of(const Mesh& mesh, std::size_t loop, const Moment& now) const {
  LoopShare share = share_on(mesh, *call_, loop, now.rank);
  const Stream& stream = call_->stream;
  if (loop == stream.loop) {
    const Interval own = stream.part_of(share.extent, now.part);
    share = {.parts = share.parts * stream.parts,
             .index = share.index * stream.parts + now.part,
             .offset = share.offset + own.begin,
             .extent = own.extent};
  }
  return share;
}

void StreamStep::plan(Part& part, const SpmdProgram& program, const PrepareContext& context,
                      std::size_t index, std::int64_t time) const {
  const Stream& stream = call_->stream;
  const std::int64_t rank = context.communicator.local_ranks()[index];
  const Moment now{
      .index = index, .rank = rank, .time = time, .part = stream.part_at(program.mesh, rank, time)};
  for (std::size_t i = 0; i < call_->operands.size(); ++i) {
    plan_operand(part, program, i, now);
  }
  for (std::size_t l = 0; l < call_->split->loops.size(); ++l) {
    part.shares.push_back(share_of(program.mesh, l, now));
  }
  const bool summed = call_->split->space->loops[stream.loop].role == DimRole::kReduced;
  part.out.value = stream.partials.empty()
                       ? call_->result
                       : sum_at(std::popcount(static_cast<std::uint64_t>(time / 2)));
  const Slice whole = slice_on(program, call_->result, rank);
  TensorView out =
      view_in(program.at(call_->result), cut(whole, call_->split->space->result, now.part), whole,
              part.out.bytes);
  part.call = std::make_unique<KernelCall>(
      KernelCall{.call = call_->split->call,
                 .space = call_->split->space,
                 .in = part.in,
                 .out = std::move(out),
                 .shares = part.shares,
                 .ordinal = draw_place(program.source, call_->origin),
                 .exact = context.exact,
                 .accumulate = summed && (stream.partials.empty() ? time > 0 : time % 2 == 1),
                 .host = context.hosts[index],
                 .notes = std::make_shared<KernelNotes>()});
}

// The sum at a depth of the stack of those that wait; the lowest becomes the result.
SpmdId StreamStep::sum_at(std::int64_t depth) const {
  return depth == 0 ? call_->result : call_->stream->partials[static_cast<std::size_t>(depth - 1)];
}

void StreamStep::post(const PreparedProgram& prepared, Communicator& communicator, Staging& staging,
                      std::int64_t time) {
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  for (const Passing& one : passing_) {
    sent_bytes += one.exchange.sent_bytes();
    received_bytes += one.exchange.received_bytes();
  }
  grow(staging, staging.sent, sent_.size(), sent_bytes);
  grow(staging, staging.received, sent_.size(), received_bytes);
  sent_bytes = 0;
  received_bytes = 0;
  for (Passing& one : passing_) {
    const std::int64_t window = time % 2 * prepared.program->at(one.to).piece_bytes();
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      one.slices[rank] = prepared.at(rank, one.from);
      one.windows[rank] = static_cast<std::byte*>(prepared.at(rank, one.to)) + window;
      sent_[rank] = staging.sent[rank].data() + sent_bytes;
      received_[rank] = staging.received[rank].data() + received_bytes;
    }
    before_.assign(communicator.traffic().begin(), communicator.traffic().end());
    one.exchange.post(communicator, time, one.slices, one.windows, sent_, received_);
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      Traffic& moved = one.moved[rank];
      moved = (time == 0 ? Traffic() : moved) + (communicator.traffic()[rank] - before_[rank]);
    }
    one.landing = received_;
    sent_bytes += one.exchange.sent_bytes();
    received_bytes += one.exchange.received_bytes();
  }
}

void StreamStep::land(std::int64_t time) {
  for (const Passing& one : passing_) {
    one.exchange.land(time, one.windows, one.landing);
  }
}

void StreamStep::multiply(const PreparedProgram& prepared, std::size_t rank, std::int64_t time) {
  const auto address = [&](const Place& place) {
    return static_cast<std::byte*>(prepared.at(rank, place.value)) + place.bytes;
  };
  Part& part = parts_[rank][static_cast<std::size_t>(time)];
  for (std::size_t i = 0; i < part.in.size(); ++i) {
    part.in[i].data = address(part.places[i]);
  }
  part.call->out.data = address(part.out);
  call_->op().kernel(*part.call);
  if (!call_->stream->partials.empty() && time % 2 == 1) {
    join(prepared, rank, time / 2);
  }
}

// Two parts are in one sum already; sums of as many parts become one, as in the tree.
void StreamStep::join(const PreparedProgram& prepared, std::size_t rank, std::int64_t pair) const {
  const auto number = static_cast<std::uint64_t>(pair);
  std::int64_t depth = std::popcount(number);
  for (int merges = std::countr_one(number); merges > 0; --merges, --depth) {
    const std::array<const void*, 2> sums{prepared.at(rank, sum_at(depth - 1)),
                                          prepared.at(rank, sum_at(depth))};
    combine_parts({.combine = Combine::kSum, .dtype = dtype_, .exact = exact_}, sums, count_,
                  prepared.at(rank, sum_at(depth - 1)));
  }
}

}  // namespace mtf
