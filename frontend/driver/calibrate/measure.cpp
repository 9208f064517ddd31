// Kernels are timed as the executor runs them: one-operation programs on a rank of their own.
// Collectives are timed on the communicator, all groups of a mesh at once.

#include "frontend/driver/calibrate/measure.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "frontend/driver/calibrate/figure.h"
#include "frontend/driver/calibrate/measure_program.h"
#include "frontend/driver/calibrate/placement.h"
#include "frontend/driver/calibrate/rank_clock.h"
#include "frontend/driver/progress.h"
#include "frontend/report/quantity.h"
#include "ir/builder.h"
#include "lowering/lower.h"
#include "lowering/price/conversions.h"
#include "runtime/execute/count.h"
#include "runtime/execute/executor.h"

namespace mtf {
namespace {

constexpr auto kOverhead = "overhead";
constexpr int kSecondThoughts = 3;  // rounds over what is doubtful
constexpr double kLongEnough = 60;  // seconds: beside others that never rest there would be no end
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
        executor_(*alone_, {.print = [](std::string_view) {}}),
        clock_(world) {}

  Measured run() {
    hardware_.ranks = ranks();
    figures_.push_back({kOverhead, [this] { overhead_ = overhead(); }});
    list_products();
    list_memory();
    list_operations();
    list_collectives();
    measure(those([](const Listed& /*figure*/) { return true; }), "figure");
    for (int round = 0;
         round < kSecondThoughts && !doubtful_.empty() && clock_.spent() < kLongEnough; ++round) {
      clock_.has_patience_again();
      measure(those([this](const Listed& figure) { return doubtful_.contains(figure.name); }),
              "once more, figure");
    }
    return {.hardware = finished(), .doubtful = {doubtful_.begin(), doubtful_.end()}};
  }

 private:
  // Measuring it puts it where it belongs; again in its place.
  struct Listed {
    std::string name;
    std::function<void()> measure;
  };

  // ---- what is measured, in turn ----

  void list_products() {
    for (std::int64_t side = kLeastSide; side <= kMostSide; side *= 2) {
      const std::size_t at = hardware_.products.size();
      hardware_.products.emplace_back(static_cast<double>(side), 0);
      figures_.push_back({"products at " + std::to_string(side), [this, side, at] {
                            hardware_.products[at].second = product_seconds(side);
                          }});
    }
  }

  void list_memory() {
    for (std::int64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 4) {
      const std::size_t at = hardware_.memory.size();
      hardware_.memory.emplace_back(static_cast<double>(bytes), 0);
      figures_.push_back({"memory of " + std::to_string(bytes) + " bytes", [this, bytes, at] {
                            hardware_.memory[at].second = memory_seconds(bytes);
                          }});
    }
  }

  void list_operations() {
    for (const OpDef* op : ops_) {
      figures_.push_back({std::string(op->name), [this, op] {
                            take(std::string(op->name), op->algebra == Algebra::kEinsum
                                                            ? dots_program(ops_)
                                                            : program_by_elements(*op));
                          }});
    }
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      if (const std::optional<Program> program = convolution_program(ops_, dtype)) {
        const std::string way(space_of(*program).way);
        figures_.push_back({way, [this, program, way] { take(way, program); }});
      }
    }
    for (const Conversion& of : kConversions) {
      list_cast(of.widening, of.dtype, wide_of(of.dtype));
      list_cast(of.rounding, wide_of(of.dtype), of.dtype);
    }
  }

  void list_cast(std::string_view name, DType from, DType to) {
    figures_.push_back({std::string(name), [this, name, from, to] {
                          take(std::string(name), cast_program(ops_, from, to));
                        }});
  }

  void list_collectives() {
    for (std::int64_t size = 2; size <= ranks(); size *= 2) {
      for (const StepKind kind : kCollectives) {
        if (ranks() % size == 0) {
          const std::size_t at = hardware_.collectives.size();
          hardware_.collectives.push_back(
              {.kind = std::string(to_string(kind)), .ranks = size, .seconds = {}});
          figures_.push_back({name_of(hardware_.collectives.back()), [this, kind, size, at] {
                                hardware_.collectives[at].seconds = collective_curve(kind, size);
                              }});
        }
      }
    }
  }

  // What is measured again was doubtful: others may have used the machine for a while, which is
  // over now.
  void measure(const std::vector<const Listed*>& figures, const std::string& what) {
    doubtful_.clear();
    std::int64_t done = 0;
    for (const Listed* figure : figures) {
      figure->measure();
      if (!clock_.trusts_since()) {
        doubtful_.insert(figure->name);
      }
      progress_at(count_text(ranks(), "rank") + ", " + what, ++done,
                  static_cast<std::int64_t>(figures.size()));
    }
    constexpr double kOverheads = 2;  // no kernel is that much faster than two
    if (run_overhead_ > kOverheads * least_run_) {
      doubtful_.insert(kOverhead);
    }
    for (std::string& collective : implausible_collectives(hardware_)) {
      doubtful_.insert(std::move(collective));
    }
  }

  template <typename F>
  [[nodiscard]] std::vector<const Listed*> those(const F& wanted) const {
    std::vector<const Listed*> found;
    for (const Listed& figure : figures_) {
      if (wanted(figure)) {
        found.push_back(&figure);
      }
    }
    return found;
  }

  Hardware finished() {
    Hardware hardware = hardware_;
    hardware.overhead = std::max(overhead_, 1e-9);
    for (auto& [side, value] : hardware.products) {
      value = 2 * side * side * side / value;  // a multiply and an add are two
      hardware.flops = std::max(hardware.flops, value);
    }
    for (auto& [bytes, value] : hardware.memory) {
      value = bytes / without_overhead(value);
    }
    for (const auto& [name, timed] : elements_) {
      hardware.elements.emplace_back(name, without_overhead(timed.seconds) / timed.points);
    }
    hardware.link = {.latency = std::max(overhead_, 1e-7),
                     .bandwidth = hardware.memory.back().second};
    for (const MeasuredCollective& row : hardware.collectives) {
      if (row.kind == to_string(StepKind::kAllGather) && row.ranks == 2) {
        hardware.link = {.latency = row.seconds.front().second,
                         .bandwidth = row.seconds.back().first / row.seconds.back().second};
      }
    }
    hardware.near = hardware.link;
    return hardware;
  }

  [[nodiscard]] std::int64_t ranks() const { return world_ == nullptr ? 1 : world_->ranks(); }

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
    const double seconds = clock_.seconds_of(
        [&] { works = works && executor_.run(executable, inputs, {}, diags).has_value(); });
    return works ? seconds : 0;
  }

  // Of one more kernel in a program.
  double overhead() {
    constexpr int kMore = 16;
    const double few = seconds_of(chain_of_small_kernels(ops_, 1));
    const double many = seconds_of(chain_of_small_kernels(ops_, 1 + kMore));
    run_overhead_ = std::max(few, 0.0);
    return std::max((many - few) / (2 * kMore), 0.0);
  }

  // What is as short as a run without it is taken from many of them in one run.
  double product_seconds(std::int64_t side) {
    constexpr std::int64_t kShort = 64;
    constexpr int kMore = 16;
    const double one = seconds_of(chain_of_products(ops_, side, 1));
    if (side == kLeastSide) {
      least_run_ = one;
    }
    if (side > kShort) {
      return without_overhead(one);
    }
    const double more = seconds_of(chain_of_products(ops_, side, 1 + kMore));
    return without(overhead_, std::max(more - one, one) / kMore);
  }

  [[nodiscard]] double without_overhead(double seconds) const {
    return without(run_overhead_, seconds);
  }

  // Half of the bytes are read, half written.
  double memory_seconds(std::int64_t bytes) {
    Program program;
    DiagSink diags;
    Builder builder(program, ops_, diags);
    const ValueId x =
        builder.input(InputKind::kArgument, "x",
                      {.dtype = DType::kF32, .shape = Shape({{.name = "n", .size = bytes / 8}})});
    program.outputs = {builder.emit("abs", {x})};
    return seconds_of(program);
  }

  // ---- operations, one element ----

  // nullopt: its time is that of its memory, or it is not made from plain tensors.
  std::optional<Program> program_by_elements(const OpDef& op) {
    const bool runs = op.tile != nullptr || op.kernel != nullptr;
    if (!runs || op.effect || op.file != FileUse::kNone || op.algebra == Algebra::kEinsum) {
      return std::nullopt;
    }
    return program_of(op, ops_);
  }

  // What one operation takes, where it runs.
  void take(const std::string& name, const std::optional<Program>& program) {
    const double seconds = program ? seconds_of(*program) : 0;
    if (seconds == 0) {
      return;
    }
    double points = 1;
    for (const LoopDim& loop : space_of(*program).loops) {
      points *= static_cast<double>(loop.size);
    }
    elements_[name] = {.seconds = seconds, .points = points};
  }

  static IterationSpace space_of(const Program& program) {
    const ValueId made = program.outputs.front();
    return program.at(made).op->space(call_of(program, made));
  }

  // ---- collectives ----

  Curve collective_curve(StepKind kind, std::int64_t size) {
    const Mesh mesh = {.name = "pairs",
                       .axes = {{.name = "a", .size = ranks() / size}, {.name = "b", .size = size}},
                       .profile = "",
                       .span = {}};
    const Group& group = world_->group(mesh, {1});
    Curve seconds;
    for (std::int64_t count = 64; count <= std::int64_t{1} << 22; count *= 8) {
      const double bytes = 4.0 * static_cast<double>(received_elements(kind, count, size));
      seconds.emplace_back(bytes, collective(kind, group, count));
    }
    return seconds;
  }

  // `count` floats are handed over, which the rank has just made: of those that nobody has changed
  // since the last time, the others would still have copies in their caches. The mean of the ways
  // in which ranks may lie on cores.
  double collective(StepKind kind, const Group& group, std::int64_t count) {
    const std::int64_t wide = kind == StepKind::kAllGather ? count * group.size : count;
    std::vector<float> from(static_cast<std::size_t>(count));
    std::vector<float> to(static_cast<std::size_t>(wide));
    const std::array<const void*, 1> ins = {from.data()};
    const std::array<void*, 1> outs = {to.data()};
    std::vector<std::vector<std::int64_t>> sources(1);  // each from the next one
    for (std::int64_t i = 0; i < group.size; ++i) {
      sources.front().push_back((i + 1) % group.size);
    }
    float made = 0;
    const auto make = [&] { std::ranges::fill(from, made += 0.5F); };
    const auto hand_over = [&] {
      make();
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
    };
    const Placement placement(ranks());
    double seconds = 0;
    for (std::size_t way = 0; way < placement.ways(); ++way) {
      placement.take(way, world_->local_ranks().front());
      seconds += clock_.seconds_beyond(make, hand_over) / static_cast<double>(placement.ways());
    }
    return seconds;
  }

  OpTable ops_;
  Communicator* world_;
  std::unique_ptr<Communicator> alone_;
  Executor executor_;
  RankClock clock_;
  // Of a run of an operation, and of its loops.
  struct Timed {
    double seconds = 0;
    double points = 1;
  };

  // As far as it is measured: of products their seconds, of memory those of a run.
  Hardware hardware_;
  std::map<std::string, Timed> elements_;
  std::vector<Listed> figures_;
  std::set<std::string> doubtful_;
  double overhead_ = 0;      // of a kernel
  double run_overhead_ = 0;  // of a run with two kernels that do next to nothing
  double least_run_ = 0;     // of one with the smallest product
};

}  // namespace

Measured measure(OpTable ops, Communicator* world) {
  return Measurer(ops, world).run();
}

}  // namespace mtf
