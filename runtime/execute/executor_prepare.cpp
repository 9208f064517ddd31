// Everything about a program that does not change from run to run, worked out once.

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "lowering/memory/arena.h"
#include "lowering/reshard/halo.h"
#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

TensorView view_of(const SpmdProgram& program, SpmdId id, std::int64_t rank) {
  if (!id.valid()) {
    return {};
  }
  const SpmdValue& value = program.at(id);
  Slice slice = slice_of(value.type.shape, value.layout, program.mesh, rank);
  return {.data = nullptr,
          .shape = shape_of(value.type.shape, slice),
          .offset = std::move(slice.offset),
          .dtype = value.type.dtype};
}

// The view of an operand with a dim for each loop that a dim is made of; one that is read through
// windows stays.
TensorView by_loops(const TensorView& view, std::size_t operand, const IterationSpace& space,
                    std::span<const LoopShare> shares) {
  TensorView parts{.data = view.data, .shape = {}, .offset = {}, .dtype = view.dtype};
  std::vector<Dim> dims;
  const DimMap& map = space.operands[operand];
  const std::vector<WindowDim> windows = windows_of(space, operand);
  for (std::size_t d = 0; d < map.size(); ++d) {
    if (std::ranges::find(windows, d, &WindowDim::dim) != windows.end()) {
      dims.push_back(view.shape[d]);
      parts.offset.push_back(view.offset[d]);
      continue;
    }
    for (const std::size_t loop : map[d]) {
      dims.push_back({space.loops[loop].name, shares[loop].extent});
      parts.offset.push_back(shares[loop].offset);
    }
  }
  parts.shape = Shape(std::move(dims));
  return parts;
}

}  // namespace

LoopShare share_on(const Mesh& mesh, const LocalCall& call, std::size_t loop, std::int64_t rank) {
  const Axes& axes = call.split->loops[loop];
  const Interval part = mesh.part_of(call.split->space->loops[loop].size, axes, rank);
  return {.parts = mesh.size_of(axes),
          .index = mesh.index_along(rank, axes),
          .offset = part.begin,
          .extent = part.extent};
}

namespace {

KernelStep kernel_step(const SpmdProgram& program, const LocalCall& call,
                       const PrepareContext& context) {
  KernelStep step{.call = &call, .ranks = {}, .in_file = file_output(program, call)};
  const double work = flops_of(program, call);
  for (std::size_t i = 0; i < context.hosts.size(); ++i) {
    const std::int64_t rank = context.communicator.local_ranks()[i];
    CallSlices here{.in = {}, .out = view_of(program, call.result, rank), .shares = {}};
    for (std::size_t l = 0; l < call.split->loops.size(); ++l) {
      LoopShare& share = here.shares.emplace_back(share_on(program.mesh, call, l, rank));
      if (!is_busy(program, call, rank)) {
        share.offset = 0;
        share.extent = 0;
      }
    }
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
      const TensorView view = view_of(program, call.operands[o], rank);
      here.in.push_back(call.by_loops ? by_loops(view, o, call.split->space, here.shares) : view);
    }
    step.ranks.emplace_back(std::move(here),
                            KernelCall{.call = call.split->call,
                                       .space = call.split->space,
                                       .in = {},
                                       .out = {},
                                       .shares = {},
                                       .ordinal = draw_place(program.source, call.origin),
                                       .part = call.part,
                                       .exact = context.exact,
                                       .host = context.hosts[i]},
                            work);
  }
  return step;
}

// What all ranks of a group must agree on before they do a step.
std::uint64_t hash_of(const SpmdProgram& program, const Step& step, std::size_t number) {
  const std::string what = std::to_string(number) + to_string(step.kind).data() +
                           to_string(program.at(step.from).type) +
                           to_string(program.mesh, step.axes);
  return std::hash<std::string>{}(what);
}

MoveStep move_step(const SpmdProgram& program, const Step& step, std::size_t number,
                   const PrepareContext& context) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  ExchangeSpec spec{.kind = step.kind,
                    .type = from.type,
                    .from = from.layout,
                    .to = to.layout,
                    .axes = step.axes,
                    .combine = step.combine,
                    .exact = context.exact,
                    .isa = context.hosts.front().cpu().isa,
                    .result = to.type.shape,
                    .reads = {}};
  if (step.kind == StepKind::kHaloExchange || !to.layout->reach.empty()) {
    spec.reads = reads_of(program, step);
  }
  if (step.kind == StepKind::kExclusiveScan || step.kind == StepKind::kSortExchange) {
    const IterationSpace space = unsplit_call(program.source, step.need.user).space;
    spec.scanned = space.loops[digested_loop(space)].size;
    spec.from_end = space.digest->from_end;
    spec.entry = space.digest->width;
  }
  std::vector<SpmdId> indices;
  if (step.kind == StepKind::kServe) {
    const LocalCall& call = step.calls.front();
    indices.assign(call.operands.begin() + 1, call.operands.end());
    spec.space = call.split->space;
    for (const SpmdId id : indices) {
      spec.indices.push_back({.type = program.at(id).type, .layout = program.at(id).layout});
    }
  }
  return {.kind = step.kind,
          .exchange = Exchange(context.communicator, program.mesh, spec),
          .from = step.from,
          .to = step.to,
          .indices = std::move(indices),
          .hash = hash_of(program, step, number)};
}

// `reader`: the step of the product that the gathered operand passes through.
StreamStep::Passing passing_gather(const SpmdProgram& program, std::size_t number,
                                   const LocalCall& reader, const PrepareContext& context) {
  const Step& step = program.steps[number];
  const SpmdValue& to = program.at(step.to);
  return {.from = step.from,
          .to = step.to,
          .step = number,
          .hash = hash_of(program, step, number),
          .exchange = PieceExchange(context.communicator, program.mesh,
                                    {.type = to.type,
                                     .from = program.at(step.from).layout,
                                     .to = to.layout,
                                     .axes = step.axes,
                                     .cut = to.cut},
                                    reader.stream)};
}

// The passing gathers stand right before the product.
StreamStep stream_step(const SpmdProgram& program, std::size_t number, Totals& totals,
                       const PrepareContext& context) {
  const LocalCall& call = program.steps[number].calls.front();
  std::vector<StreamStep::Passing> passing;
  for (std::size_t s = number; s-- > 0 && done_at(program, s) == number;) {
    const Step& gather = program.steps[s];
    passing.push_back(passing_gather(program, s, call, context));
    passing.back().slot = collective_slot(totals, gather.kind, gather.axes);
  }
  return {program, call, std::move(passing), context};
}

std::int64_t reached_arena(const SpmdProgram& program) {
  std::int64_t bytes = 0;
  for (const SpmdValue& value : program.values) {
    if (value.home == Home::kArena) {
      bytes = std::max(bytes, value.offset + rounded(value.held_bytes()));
    }
  }
  return bytes;
}

PreparedStep prepare_step(const SpmdProgram& program, std::size_t number, Totals& totals,
                          const PrepareContext& context) {
  const Step& step = program.steps[number];
  PreparedStep ready;
  if (done_at(program, number) != number) {
    ready.body = PassedStep{};
  } else if (const std::optional<LoopStep> loop = loop_step(step)) {
    ready.body = *loop;
  } else if (message_of(program, number).size() > 1) {
    ready.body =
        BucketStep(program, number, collective_slot(totals, step.kind, step.axes), context);
  } else if (step.kind != StepKind::kKernel) {
    MoveStep move = move_step(program, step, number, context);
    if (is_collective(step.kind)) {
      move.slot = collective_slot(totals, step.kind, step.axes);
    }
    ready.body = std::move(move);
  } else if (step.calls.size() > 1 || step.calls.front().op().tile != nullptr) {
    ready.body = ChainStep(program, step, context);
  } else if (step.calls.front().stream->parts > 1) {
    ready.body = stream_step(program, number, totals, context);
  } else {
    ready.body = kernel_step(program, step.calls.front(), context);
  }
  return ready;
}

// None where all that is made is looked at, step by step.
void prepare_async(PreparedProgram& prepared, Totals& totals, const PrepareContext& context) {
  if (context.watched) {
    return;
  }
  const SpmdProgram& program = *prepared.program;
  for (const AsyncReduce& reduce : async_reduces_of(program)) {
    const Step& step = program.steps[reduce.message.begin];
    prepared.steps[reduce.start].starts.push_back(prepared.async.size());
    if (reduce.finish < prepared.steps.size()) {
      prepared.steps[reduce.finish].finishes.push_back(prepared.async.size());
    }
    prepared.async.emplace_back(program, reduce, collective_slot(totals, step.kind, step.axes),
                                context);
    for (std::size_t s = reduce.message.begin; s < reduce.message.end; ++s) {
      prepared.steps[s].body = PassedStep{};
    }
  }
}

bool draws_from_stream(const OpCall& call) {
  return call.op->random && call.args.get<std::int64_t>("seed") == nullptr;
}

std::vector<double> flops_on_ranks(const SpmdProgram& program, const Step& step,
                                   const PrepareContext& context) {
  std::vector<double> flops;
  for (const std::int64_t rank : context.communicator.local_ranks()) {
    double& here = flops.emplace_back(0);
    for (const LocalCall& call : step.calls) {
      here += flops_on(program, call, rank);
    }
  }
  return flops;
}

// Memory holds steps up as well.
double work_of(const SpmdProgram& program, const Step& step) {
  constexpr double kByteWork = 10;  // flops that take as long as a byte
  std::int64_t bytes = step.bytes;
  const auto add = [&](SpmdId id) { bytes += id.valid() ? program.at(id).local.bytes() : 0; };
  for_read(step, add);
  for (const LocalCall& call : step.calls) {
    add(call.result);
  }
  add(step.to);
  return step.flops + kByteWork * static_cast<double>(bytes);
}

void note_call(const SpmdProgram& program, const LocalCall& call, PreparedStep& step,
               PreparedProgram& prepared) {
  const bool is_loop = std::holds_alternative<LoopStep>(step.body);
  step.flops += flops_of(program, call);
  step.effect = step.effect || (call.op().effect && !is_loop);
  step.draws = step.draws || draws_from_stream(call.split->call);
  prepared.draws = prepared.draws || step.draws;
  prepared.may_fail = prepared.may_fail || (call.op().tile == nullptr && !is_loop &&
                                            call.op().primitive != Primitive::kCarry);
}

}  // namespace

std::unique_ptr<PreparedProgram> prepare_program(const SpmdProgram& program,
                                                 const PrepareContext& context) {
  auto prepared = std::make_unique<PreparedProgram>();
  prepared->program = &program;
  prepared->arena_bytes = reached_arena(program);
  prepared->may_fail = context.watched;
  prepared->in_files.assign(program.outputs.size(), false);
  Totals totals;
  for (std::size_t number = 0; number < program.steps.size(); ++number) {
    PreparedStep ready = prepare_step(program, number, totals, context);
    if (program.mesh.uneven) {
      ready.flops_on = flops_on_ranks(program, program.steps[number], context);
    }
    ready.work = work_of(program, program.steps[number]);
    for (const LocalCall& call : program.steps[number].calls) {
      note_call(program, call, ready, *prepared);
    }
    const auto* kernel = std::get_if<KernelStep>(&ready.body);
    if (kernel != nullptr && kernel->in_file) {
      prepared->in_files[kernel->in_file->output] = true;
    }
    prepared->steps.push_back(std::move(ready));
  }
  join_loops(program, *prepared);
  prepare_async(*prepared, totals, context);
  const std::vector<Readers> readers = readers_of(program);
  find_epilogues(*prepared, readers, context);
  find_result_runs(*prepared, readers, context);
  for (const std::int64_t rank : context.communicator.local_ranks()) {
    prepared->counted.push_back({.rank = rank,
                                 .totals = totals,
                                 .steps = std::vector<Traffic>(program.steps.size()),
                                 .times = std::vector<std::int64_t>(program.steps.size(), 0)});
  }
  prepared->data.assign(context.hosts.size(), std::vector<void*>(program.values.size()));
  return prepared;
}

void resolve(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
             std::span<const RankTensor> outputs, std::span<const Buffer> arenas) {
  const SpmdProgram& program = *prepared.program;
  for (std::size_t rank = 0; rank < arenas.size(); ++rank) {
    for (std::size_t v = 0; v < program.values.size(); ++v) {
      const SpmdValue& value = program.values[v];
      const auto which = static_cast<std::size_t>(value.offset);
      void*& data = prepared.data[rank][v];
      switch (value.home) {
        case Home::kNone:
          data = nullptr;
          break;
        case Home::kInput:
          data = inputs[which]->parts[rank].data();
          break;
        case Home::kOutput:
          data = outputs[which].parts[rank].data() + value.within;
          break;
        case Home::kArena:
          data = arenas[rank].data() + value.offset;
          break;
        case Home::kCopy:
          data = prepared.copies[which].parts[rank].data();
          break;
      }
    }
  }
}

bool PreparedProgram::shares_memory(std::size_t rank, std::span<const SpmdId> some,
                                    SpmdId other) const {
  const auto begin = [&](SpmdId id) { return static_cast<const std::byte*>(at(rank, id)); };
  const auto end = [&](SpmdId id) { return begin(id) + program->at(id).local.bytes(); };
  const std::less<> before;
  return std::ranges::any_of(some, [&](SpmdId id) {
    return before(begin(id), end(other)) && before(begin(other), end(id));
  });
}

void update_variables(const PreparedProgram& prepared, std::span<RankTensor* const> updated) {
  for (std::size_t i = 0; i < updated.size(); ++i) {
    updated[i]->version = new_version();
    for (std::size_t rank = 0; rank < prepared.data.size(); ++rank) {
      const Buffer& variable = updated[i]->parts[rank];
      const void* value = prepared.at(rank, prepared.program->updates[i].value);
      if (value != variable.data()) {
        std::memcpy(variable.data(), value, static_cast<std::size_t>(variable.bytes()));
      }
    }
  }
}

void count_memory(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
                  std::span<const RankTensor> outputs) {
  for (std::size_t rank = 0; rank < prepared.counted.size(); ++rank) {
    std::int64_t bytes = prepared.arena_bytes;
    for (const RankTensor* input : inputs) {
      bytes += rounded(input->parts[rank].bytes());
    }
    for (const RankTensor& output : outputs) {
      bytes += rounded(output.parts[rank].bytes());
    }
    for (const KeptCopy& copy : prepared.copies) {
      bytes += rounded(copy.parts[rank].bytes());
    }
    prepared.counted[rank].totals.peak_bytes = bytes;
  }
}

void count_moved(PreparedProgram& prepared, std::size_t step, std::size_t slot,
                 const Group& group) {
  const SpmdValue& from = prepared.program->at(prepared.program->steps[step].from);
  const auto width = static_cast<std::int64_t>(bytes_of(from.type.dtype));
  for (Counted& counted : prepared.counted) {
    CollectiveTotal& total = counted.totals.collectives[slot];
    count_collective(total, counted.steps[step], group.size, width);
    total.messages += prepared.program->steps[step].with_next ? 0 : 1;
  }
}

}  // namespace mtf
