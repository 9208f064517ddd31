// One run: addresses are filled in, steps are done, variables take their new values.

#include "runtime/execute/executor.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "ir/support/match.h"
#include "runtime/execute/async/async_runner.h"
#include "runtime/execute/count.h"
#include "runtime/execute/executor_program.h"
#include "runtime/execute/files/read_ahead.h"
#include "runtime/execute/finite/finite_watch.h"
#include "runtime/kernels/cpu.h"

namespace mtf {

Executable::Executable(std::unique_ptr<PreparedProgram> program) : program_(std::move(program)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

struct Executor::State {
  State(Communicator& ranks, ExecutorOptions given) : communicator(ranks), options(given) {
    reports.seed = options.seed;
    reports.nan_is_error = options.nan_is_error;
    reports.cpu.isa = host_isa();
    reports.cpu.threads = options.threads > 0 ? options.threads : communicator.cores().threads;
    reports.cpu.least_share =
        options.least_share > 0 ? options.least_share : reports.cpu.least_share;
    reports.print = std::move(given.print);
    reports.metric = std::move(given.metric);
    for (const std::int64_t rank : communicator.local_ranks()) {
      hosts.emplace_back(reports, rank);
    }
    arenas.resize(hosts.size());
    staging.pool = &pool;
    chains.work_in(pool, reports.cpu.threads);
    if (options.check_finite) {
      watch = std::make_unique<FiniteWatch>(communicator, hosts);
    }
    chains.watch = watch.get();
    chains.timed = options.timed != nullptr;
  }

  Communicator& communicator;
  ExecutorOptions options;
  BufferPool pool;
  Reports reports;
  std::vector<RankHost> hosts;  // one per local rank, and so are the next two
  std::vector<Buffer> arenas;   // grown to the largest program
  Staging staging;
  ChainScratch chains;
  AsyncRunner async{communicator, pool, options};
  std::unique_ptr<FiniteWatch> watch;  // null: nobody looks
  std::vector<const void*> ins;        // of the step in progress
  std::vector<void*> outs;
  std::vector<void*> addresses;      // of the operands of the call in progress
  std::vector<const void*> indices;  // rank by rank
  std::vector<Traffic> before;       // it began
  std::size_t step_number = 0;
  std::optional<TimeSpan> elsewhere = {};  // the end of what is in progress, if another step has it
  std::span<const RankTensor* const> inputs;  // of the run in progress
  std::span<RankTensor> outputs;
  ReadAhead* ahead = nullptr;  // of it; null: nothing was read
  const PreparedProgram* last = nullptr;

  // ---- before the steps ----

  void grow_arenas(std::int64_t bytes) {
    for (Buffer& arena : arenas) {
      if (arena.bytes() < bytes) {
        arena = Buffer();
        arena = pool.take(bytes);
      }
    }
  }

  // Those that may be parts of files have theirs from the step that would make them.
  std::vector<RankTensor> make_outputs(const PreparedProgram& prepared) {
    const SpmdProgram& program = *prepared.program;
    std::vector<RankTensor> made;
    for (const SpmdId id : program.outputs) {
      const SpmdValue& value = program.at(id);
      const bool is_later = prepared.in_files[made.size()];
      RankTensor& output = made.emplace_back(RankTensor{
          .type = value.type, .layout = value.layout, .local = value.local, .parts = {}});
      output.parts.resize(hosts.size());
      if (!is_later) {
        make_parts(pool, communicator, program.mesh, output);
      }
    }
    return made;
  }

  // ---- steps ----

  // Does a part of the step in progress: that of one local rank, or of all of them at once.
  template <typename F>
  void timed(std::optional<std::size_t> rank, F&& part) {
    timed_as({.step = step_number}, rank, part);
  }

  template <typename F>
  void timed_as(StepTime what, std::optional<std::size_t> rank, F&& part) {
    if (!options.timed) {
      return part();
    }
    const std::int64_t begin = nanoseconds_now();
    part();
    const std::optional<TimeSpan> other = std::exchange(elsewhere, std::nullopt);
    what.time = {.begin = begin, .end = other ? other->begin : nanoseconds_now()};
    for (what.rank = rank.value_or(0); what.rank < (rank ? *rank + 1 : hosts.size()); ++what.rank) {
      options.timed(what);
    }
  }

  // Whether an output has its parts already. Where it has none they are made.
  bool is_in_file(PreparedProgram& prepared, const KernelStep& step) {
    RankTensor& output = outputs[step.in_file->output];
    const bool is_there =
        take_from_file(*prepared.program, *step.call, *step.in_file, inputs, communicator, output);
    if (!is_there) {
      make_parts(pool, communicator, prepared.program->mesh, output);
    }
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      prepared.data[rank][at(step.call->result)] = output.parts[rank].data();
    }
    return is_there;
  }

  void kernel(PreparedProgram& prepared, KernelStep& step) {
    reports.call = step.call;
    if (step.in_file && is_in_file(prepared, step)) {
      return timed(std::nullopt, [] {});
    }
    if (ahead != nullptr && ahead->has(step_number)) {
      return timed(std::nullopt, [&] { ahead->give(step_number, prepared); });
    }
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      timed(rank, [&] { elsewhere = step.run(prepared, rank, addresses, chains); });
    }
    if (step.call->op().primitive == Primitive::kCheckFinite && options.watched) {
      tell_watched(*prepared.program, *step.call, step.ranks.front().operand(0), options.watched);
    }
    reports.call = nullptr;
  }

  void chain(const PreparedProgram& prepared, ChainStep& step) {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      if (const std::optional<TimeSpan> time = step.done_before(rank); !time) {
        timed(rank, [&] { step.run(prepared, rank, chains); });
      } else if (options.timed) {
        options.timed({.step = step_number, .rank = rank, .time = *time});
      }
    }
  }

  void move(PreparedProgram& prepared, const MoveStep& step) {
    ins.clear();
    outs.clear();
    indices.clear();
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      ins.push_back(prepared.at(rank, step.from));
      outs.push_back(prepared.at(rank, step.to));
      for (const SpmdId id : step.indices) {
        indices.push_back(prepared.at(rank, id));
      }
    }
    if (step.kind != StepKind::kSlice) {
      check_agreement(step.exchange.group(), step.kind, step.hash);
    }
    before.assign(communicator.traffic().begin(), communicator.traffic().end());
    timed(std::nullopt, [&] { step.exchange.run(communicator, staging, ins, outs, indices); });
    if (step.kind != StepKind::kSlice) {
      for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        if (step.exchange.takes_part(rank)) {
          prepared.counted[rank].steps[step_number] = communicator.traffic()[rank] - before[rank];
        }
      }
      count_moved(prepared, step_number, step.slot, step.exchange.group());
    }
  }

  void bucket(PreparedProgram& prepared, const BucketStep& step) {
    if (step.sends()) {
      check_agreement(step.group(), StepKind::kAllReduce, step.hash());
    }
    timed(std::nullopt, [&] { step.run(prepared, communicator, staging); });
  }

  // While the product works on its pieces, the next ones are on their way.
  void stream(PreparedProgram& prepared, StreamStep& step) {
    StepTime gather{.step = step.passing().front().step};  // which the time is taken for
    StepTime product{.step = step_number};
    for (const StreamStep::Passing& one : step.passing()) {
      check_agreement(one.exchange.group(), StepKind::kAllGather, one.hash);
    }
    const auto post = [&](std::int64_t time) { step.post(prepared, communicator, staging, time); };
    const auto land = [&](std::int64_t time) {
      communicator.await();
      step.land(time);
    };
    reports.call = &step.call();
    timed_as(gather, std::nullopt, [&] {
      post(0);
      land(0);
    });
    for (const StreamStep::Passing& one : step.passing().subspan(1)) {
      timed_as({.step = one.step}, std::nullopt, [] {});
    }
    gather.resumes = true;
    for (std::int64_t time = 0; time < step.parts(); ++time) {
      const bool is_last = time + 1 == step.parts();
      if (!is_last) {
        timed_as(gather, std::nullopt, [&] { post(time + 1); });
      }
      for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        timed_as(product, rank, [&] { step.multiply(prepared, rank, time); });
      }
      product.resumes = true;
      if (!is_last) {
        timed_as(gather, std::nullopt, [&] { land(time + 1); });
      }
    }
    reports.call = nullptr;
    for (const StreamStep::Passing& one : step.passing()) {
      for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        prepared.counted[rank].steps[one.step] = one.moved[rank];
      }
      count_moved(prepared, one.step, one.slot, one.exchange.group());
    }
  }

  // All ranks end the run here or none does, so what is in flight can be finished.
  void ask_before(PreparedProgram& prepared, const PreparedStep& step) {
    try {
      options.before_step(*prepared.program, step_number, step.work);
    } catch (...) {
      async.finish_all(prepared);
      throw;
    }
  }

  // False after an error.
  bool do_step(PreparedProgram& prepared, PreparedStep& step, DiagSink& diags) {
    step.count(step_number, prepared.counted);
    ++reports.moment;
    ask_before(prepared, step);
    const bool is_mark = std::holds_alternative<LoopStep>(step.body);
    const std::size_t number = step_number;
    if (is_mark && step.effect && !all_well(diags)) {
      return false;
    }
    async.before(prepared, number);
    match(
        step.body, [&](KernelStep& body) { kernel(prepared, body); },
        [&](ChainStep& body) { chain(prepared, body); },
        [&](const MoveStep& body) { move(prepared, body); },
        [&](const BucketStep& body) { bucket(prepared, body); },
        [&](StreamStep& body) { stream(prepared, body); }, [](const PassedStep&) {},
        [&](const LoopStep& body) { step_number = loop(prepared, body); });
    async.progress();
    if (watch != nullptr) {
      watch->done(prepared, number);
    }
    return is_mark || !step.effect || all_well(diags);
  }

  // The step behind which the run goes on. All ranks have the same bits, and so go the same way.
  std::size_t loop(PreparedProgram& prepared, const LoopStep& step) {
    if (step.what == Primitive::kAgain) {
      return step.other - 1;
    }
    if (step.what == Primitive::kWhile) {
      if (*static_cast<const std::uint8_t*>(prepared.at(0, step.to)) == 0) {
        return step.other;
      }
      reports.execution += step.draws ? 1 : 0;  // each trip draws numbers of its own
      if (ahead != nullptr) {
        ahead->arrive(step_number, prepared);
      }
      return step_number;
    }
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      timed(rank, [&] { hand_on(prepared, step, rank); });
    }
    return step_number;
  }

  void check_agreement(const Group& group, StepKind kind, std::uint64_t hash) {
    if (options.check_agreement) {
      mtf::check_agreement(communicator, group, kind, hash);
    }
  }

  // ---- after the steps ----

  // The first failure that a rank reported; alike on all ranks. Warnings are handed on as well.
  bool all_well(DiagSink& diags) {
    for (Diag& warning : reports.warnings) {
      diags.add(std::move(warning));
    }
    reports.warnings.clear();
    std::optional<Diag> failure;
    timed_as({.step = last->steps.size()}, std::nullopt,
             [&] { failure = agreed_failure(communicator, hosts); });
    if (failure) {
      diags.add(std::move(*failure));
      for (RankHost& host : hosts) {
        host.forget_failure();
      }
      return false;
    }
    return true;
  }
};

Executor::Executor(Communicator& communicator, ExecutorOptions options)
    : state_(std::make_unique<State>(communicator, std::move(options))) {}
Executor::~Executor() = default;

BufferPool& Executor::pool() {
  return state_->pool;
}
Communicator& Executor::communicator() {
  return state_->communicator;
}

Executable Executor::prepare(const SpmdProgram& program) {
  assert(program.mesh.ranks() == state_->communicator.ranks());
  return Executable(prepare_program(program, {.communicator = state_->communicator,
                                              .hosts = state_->hosts,
                                              .exact = state_->options.exact,
                                              .watched = state_->watch != nullptr}));
}

std::optional<std::vector<RankTensor>> Executor::run(const Executable& executable,
                                                     std::span<const RankTensor* const> inputs,
                                                     std::span<RankTensor* const> updated,
                                                     DiagSink& diags, ReadAhead* ahead) {
  PreparedProgram& prepared = executable.program();
  State& state = *state_;
  assert(inputs.size() == prepared.program->inputs.size());
  assert(std::ranges::equal(updated, prepared.program->updates, [&](auto* tensor, auto& update) {
    return tensor == inputs[update.input];
  }));
  state.reports.program = prepared.program;
  state.last = &prepared;
  state.grow_arenas(prepared.arena_bytes);
  std::vector<RankTensor> outputs = state.make_outputs(prepared);
  state.inputs = inputs;
  state.outputs = outputs;
  find_copies(prepared, inputs, state.pool);
  resolve(prepared, inputs, outputs, state.arenas);
  for (Counted& counted : prepared.counted) {
    clear(counted);
  }
  if (state.watch != nullptr) {
    state.watch->begin(prepared);
  }
  state.ahead = ahead;
  if (ahead != nullptr) {
    ahead->arrive(0, prepared);
  }
  bool is_well = true;
  std::size_t& step = state.step_number;
  for (step = 0; is_well && step < prepared.steps.size(); ++step) {
    is_well = state.do_step(prepared, prepared.steps[step], diags);
  }
  state.async.finish_all(prepared);
  const bool reads_files = is_well && check_files(inputs, outputs, state.hosts);
  if (!is_well || ((prepared.may_fail || reads_files) && !state.all_well(diags))) {
    return std::nullopt;
  }
  update_variables(prepared, updated);
  keep_copies(prepared, inputs);
  count_memory(prepared, inputs, outputs);
  state.reports.execution += prepared.draws ? 1 : 0;
  return outputs;
}

std::span<const Counted> Executor::counted() const {
  return state_->last == nullptr ? std::span<const Counted>{} : state_->last->counted;
}

RandomStream Executor::stream() const {
  return {.seed = state_->reports.seed, .draws = state_->reports.execution};
}
void Executor::set_stream(RandomStream stream) {
  state_->reports.seed = stream.seed;
  state_->reports.execution = stream.draws;
}

}  // namespace mtf
