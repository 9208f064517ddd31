// Kernels are timed as the executor runs them: one-operation programs on a rank of their own.
// Collectives are timed on the communicator, all groups of a mesh at once.

#include "frontend/driver/calibrate/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "frontend/driver/calibrate/figure.h"
#include "frontend/driver/calibrate/measure_program.h"
#include "frontend/driver/progress.h"
#include "frontend/report/quantity.h"
#include "ir/builder.h"
#include "lowering/lower.h"
#include "runtime/execute/count.h"
#include "runtime/execute/executor.h"

namespace mtf {
namespace {

constexpr int kRepeats = 5;
constexpr int kTaken = 1;                // the second fastest: others may be using the machine
constexpr double kRepeatSeconds = 4e-3;  // that one repeat should take
constexpr int kMostMeasurements = 6;
constexpr double kPatience = 15;  // seconds, after which no figure is measured more than twice
constexpr std::int64_t kMostRuns = 20'000;
constexpr std::int64_t kLeastSide = 8;  // of the matrices of a product
constexpr std::int64_t kMostSide = 2048;
constexpr std::int64_t kLeastBytes = 1 << 14;  // of memory
constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;
constexpr std::array kCollectives = {StepKind::kAllReduce, StepKind::kReduceScatter,
                                     StepKind::kAllGather, StepKind::kAllToAll, StepKind::kPermute};

class Measurer {
 public:
  Measurer(OpTable ops, Communicator* world)
      : ops_(ops),
        world_(world),
        alone_(simulated_communicator(1)),
        executor_(*alone_, {.print = [](std::string_view) {}}) {}

  Measured run() {
    Hardware hardware;
    hardware.ranks = ranks();
    overhead_ = overhead();
    doubt("overhead");
    hardware.overhead = std::max(overhead_, 1e-9);
    for (std::int64_t side = kLeastSide; side <= kMostSide; side *= 2) {
      const double seconds = product_seconds(side);
      const auto length = static_cast<double>(side);
      hardware.products.emplace_back(length, 2 * length * length * length / seconds);
      doubt("products at " + std::to_string(side));
    }
    for (const auto& [side, rate] : hardware.products) {
      hardware.flops = std::max(hardware.flops, rate);
    }
    for (std::int64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 4) {
      hardware.memory.emplace_back(static_cast<double>(bytes), memory_rate(bytes));
      doubt("memory of " + std::to_string(bytes) + " bytes");
    }
    for (const OpDef* op : ops_) {
      if (op->algebra == Algebra::kEinsum) {
        hardware.elements.emplace_back(op->name, dot_seconds(*op));
      } else if (const std::optional<double> seconds = element_seconds(*op)) {
        hardware.elements.emplace_back(op->name, *seconds);
      }
      doubt(std::string(op->name));
    }
    measure_collectives(hardware);
    for (const std::string& collective : implausible_collectives(hardware)) {
      if (std::ranges::find(doubtful_, collective) == doubtful_.end()) {
        doubtful_.push_back(collective);
      }
    }
    return {.hardware = std::move(hardware), .doubtful = std::move(doubtful_)};
  }

 private:
  // Of what was measured since it was asked before.
  void doubt(const std::string& figure) {
    if (!std::exchange(trusts_, true)) {
      doubtful_.push_back(figure);
    }
    progress_at(count_text(ranks(), "rank") + ", figure", ++figures_, all_figures());
  }

  [[nodiscard]] std::int64_t ranks() const { return world_ == nullptr ? 1 : world_->ranks(); }

  // How often `doubt` is asked in all.
  [[nodiscard]] std::int64_t all_figures() const {
    std::size_t count = 1 + ops_.size();
    for (std::int64_t side = kLeastSide; side <= kMostSide; side *= 2) {
      ++count;
    }
    for (std::int64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 4) {
      ++count;
    }
    for (std::int64_t size = 2; size <= ranks(); size *= 2) {
      count += ranks() % size == 0 ? kCollectives.size() : 0;
    }
    return static_cast<std::int64_t>(count);
  }

  // ---- clocks ----

  // The same on all ranks: the largest.
  double slowest(double seconds) {
    if (world_ == nullptr) {
      return seconds;
    }
    const Group& all = world_->group(line(world_->ranks()), {0});
    const std::array<const void*, 1> in = {&seconds};
    double most = seconds;
    const std::array<void*, 1> out = {&most};
    world_->all_reduce(all, {.combine = Combine::kMax, .dtype = DType::kF64}, 1, in, out);
    return most;
  }

  static Mesh line(std::int64_t ranks) {
    return {.name = "line", .axes = {{.name = "r", .size = ranks}}, .profile = "", .span = {}};
  }

  double once(const std::function<void()>& work, std::int64_t runs) {
    if (world_ != nullptr) {
      world_->barrier();
    }
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < runs; ++i) {
      work();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return slowest(took.count()) / static_cast<double>(runs);
  }

  // Of some repeats, after the first ones.
  double seconds_of(const std::function<void()>& work) {
    const double first = std::min(once(work, 1), once(work, 1));
    const auto runs = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(kRepeatSeconds / std::max(first, 1e-9)), 1, kMostRuns);
    const auto measure = [&] {
      std::array<double, kRepeats> times{};
      for (double& time : times) {
        time = once(work, runs);
        spent_ += time * static_cast<double>(runs);
      }
      std::ranges::nth_element(times, times.begin() + kTaken);
      return times[kTaken];
    };
    const Figure figure = agreed_figure(measure, spent_ < kPatience ? kMostMeasurements : 2);
    trusts_ = trusts_ && figure.is_trusted;
    return figure.value;
  }

  // ---- programs of one rank ----

  double seconds_of(const Program& program) {
    DiagSink diags;
    const std::optional<SpmdProgram> lowered = lower(program, one_rank(), ops_, diags);
    if (!lowered) {
      return 0;
    }
    const Executable executable = executor_.prepare(*lowered);
    std::vector<RankTensor> tensors;
    for (const SpmdId id : lowered->inputs) {
      const TensorType& type = lowered->at(id).type;
      const std::vector<std::byte> zeros(static_cast<std::size_t>(type.bytes()));
      tensors.push_back(
          scatter(executor_.pool(), *alone_, lowered->mesh, type, lowered->at(id).layout, zeros));
    }
    std::vector<const RankTensor*> inputs;
    inputs.reserve(tensors.size());
    for (const RankTensor& tensor : tensors) {
      inputs.push_back(&tensor);
    }
    bool works = true;
    const double seconds = seconds_of(
        [&] { works = works && executor_.run(executable, inputs, {}, diags).has_value(); });
    return works ? seconds : 0;
  }

  Program chain_of_products(int length) {
    Program program;
    DiagSink diags;
    Builder builder(program, ops_, diags);
    const TensorType scalar = {.dtype = DType::kF32, .shape = Shape({{.name = "n", .size = 2}})};
    ValueId value = builder.input(InputKind::kArgument, "a", scalar);
    const ValueId other = builder.input(InputKind::kArgument, "b", scalar);
    for (int i = 0; i < length; ++i) {
      OpArgs args;
      args.set("to", Shape());
      const ValueId dot = builder.emit(Algebra::kEinsum, {value, other}, std::move(args));
      OpArgs wide;
      wide.set("to", scalar.shape);
      value = builder.emit(Algebra::kBroadcast, {dot}, std::move(wide));
    }
    program.outputs = {value};
    return program;
  }

  // Of one more kernel in a program.
  double overhead() {
    constexpr int kMore = 16;
    const double few = seconds_of(chain_of_products(1));
    const double many = seconds_of(chain_of_products(1 + kMore));
    run_overhead_ = std::max(few, 0.0);
    return std::max((many - few) / (2 * kMore), 0.0);
  }

  double product_seconds(std::int64_t side) {
    Program program;
    DiagSink diags;
    Builder builder(program, ops_, diags);
    const auto matrix = [side](const char* rows, const char* cols) {
      return TensorType{
          .dtype = DType::kF32,
          .shape = Shape({{.name = rows, .size = side}, {.name = cols, .size = side}})};
    };
    const ValueId a = builder.input(InputKind::kArgument, "a", matrix("m", "k"));
    const ValueId b = builder.input(InputKind::kArgument, "b", matrix("k", "n"));
    OpArgs args;
    args.set("to", matrix("m", "n").shape);
    program.outputs = {builder.emit(Algebra::kEinsum, {a, b}, std::move(args))};
    return without_overhead(seconds_of(program));
  }

  // Of one term of sums of products element by element, as a gradient of a vector has them.
  double dot_seconds(const OpDef& einsum) {
    constexpr std::int64_t kSummed = 1024;
    constexpr std::int64_t kKept = 256;
    Program program;
    DiagSink diags;
    Builder builder(program, ops_, diags);
    const Dim kept = {.name = "n", .size = kKept};
    const TensorType type = {.dtype = DType::kF32,
                             .shape = Shape({{.name = "k", .size = kSummed}, kept})};
    const ValueId a = builder.input(InputKind::kArgument, "a", type);
    const ValueId b = builder.input(InputKind::kArgument, "b", type);
    OpArgs args;
    args.set("to", Shape({kept}));
    program.outputs = {builder.emit(einsum.name, {a, b}, std::move(args))};
    return seconds_of(program) / (kSummed * kKept);
  }

  [[nodiscard]] double without_overhead(double seconds) const {
    return std::max(seconds - run_overhead_, seconds / 8);
  }

  // Half of the bytes are read, half written.
  double memory_rate(std::int64_t bytes) {
    Program program;
    DiagSink diags;
    Builder builder(program, ops_, diags);
    const ValueId x =
        builder.input(InputKind::kArgument, "x",
                      {.dtype = DType::kF32, .shape = Shape({{.name = "n", .size = bytes / 8}})});
    program.outputs = {builder.emit("abs", {x})};
    return static_cast<double>(bytes) / without_overhead(seconds_of(program));
  }

  // ---- operations, one element ----

  // nullopt: its time is that of its memory, or it is not made from plain tensors.
  std::optional<double> element_seconds(const OpDef& op) {
    const bool runs = op.tile != nullptr || op.kernel != nullptr;
    if (!runs || op.effect || op.file != FileUse::kNone || op.algebra == Algebra::kEinsum) {
      return std::nullopt;
    }
    const std::optional<Program> program = program_of(op, ops_);
    const double seconds = program ? seconds_of(*program) : 0;
    if (seconds == 0) {
      return std::nullopt;
    }
    double points = 1;
    for (const LoopDim& loop : op.space(call_of(*program, program->outputs.front())).loops) {
      points *= static_cast<double>(loop.size);
    }
    return without_overhead(seconds) / points;
  }

  // ---- collectives ----

  void measure_collectives(Hardware& hardware) {
    hardware.link = {.latency = std::max(overhead_, 1e-7),
                     .bandwidth = hardware.memory.back().second};
    const std::int64_t ranks = hardware.ranks;
    for (std::int64_t size = 2; size <= ranks; size *= 2) {
      if (ranks % size == 0) {
        measure_groups(size, hardware);
      }
    }
    for (const MeasuredCollective& row : hardware.collectives) {
      if (row.kind == to_string(StepKind::kAllGather) && row.ranks == 2) {
        hardware.link = {.latency = row.seconds.front().second,
                         .bandwidth = row.seconds.back().first / row.seconds.back().second};
      }
    }
    hardware.near = hardware.link;
  }

  void measure_groups(std::int64_t size, Hardware& hardware) {
    const Mesh mesh = {
        .name = "pairs",
        .axes = {{.name = "a", .size = hardware.ranks / size}, {.name = "b", .size = size}},
        .profile = "",
        .span = {}};
    const Group& group = world_->group(mesh, {1});
    for (const StepKind kind : kCollectives) {
      MeasuredCollective row = {.kind = std::string(to_string(kind)), .ranks = size, .seconds = {}};
      for (std::int64_t count = 64; count <= std::int64_t{1} << 22; count *= 8) {
        const double bytes = 4.0 * static_cast<double>(received_elements(kind, count, size));
        row.seconds.emplace_back(bytes, collective(kind, group, count));
      }
      doubt(row.kind + " of " + std::to_string(size));
      hardware.collectives.push_back(std::move(row));
    }
  }

  // `count` floats are handed over.
  double collective(StepKind kind, const Group& group, std::int64_t count) {
    const std::int64_t wide = kind == StepKind::kAllGather ? count * group.size : count;
    const std::vector<float> from(static_cast<std::size_t>(count), 0.5F);
    std::vector<float> to(static_cast<std::size_t>(wide));
    const std::array<const void*, 1> ins = {from.data()};
    const std::array<void*, 1> outs = {to.data()};
    std::vector<std::vector<std::int64_t>> sources(1);  // each from the next one
    for (std::int64_t i = 0; i < group.size; ++i) {
      sources.front().push_back((i + 1) % group.size);
    }
    return seconds_of([&] {
      switch (kind) {
        case StepKind::kAllReduce:
          world_->all_reduce(group, {}, count, ins, outs);
          break;
        case StepKind::kReduceScatter:
          world_->reduce_scatter(group, {}, count / group.size, ins, outs);
          break;
        case StepKind::kAllGather:
          world_->all_gather(group, 4 * count, ins, outs);
          break;
        case StepKind::kAllToAll:
          world_->all_to_all(group, 4 * count / group.size, ins, outs);
          break;
        default:
          world_->permute(group, 4 * count, sources, ins, outs);
      }
    });
  }

  OpTable ops_;
  Communicator* world_;
  std::unique_ptr<Communicator> alone_;
  Executor executor_;
  double spent_ = 0;          // seconds, on all ranks the same
  std::int64_t figures_ = 0;  // that are measured
  bool trusts_ = true;
  std::vector<std::string> doubtful_;
  double overhead_ = 0;      // of a kernel
  double run_overhead_ = 0;  // of a run with two kernels that do next to nothing
};

}  // namespace

Measured measure(OpTable ops, Communicator* world) {
  return Measurer(ops, world).run();
}

}  // namespace mtf
