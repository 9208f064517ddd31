// The device that runs units: lowers each once, executes it on the ranks at hand, and holds the
// tensors and variables that outlive it in the layout that the rules give them.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/driver/devices/holding_device.h"
#include "frontend/driver/devices/memory/memory_check.h"
#include "frontend/report/run/counts.h"
#include "frontend/report/run/timeline.h"
#include "ir/host_tensor.h"
#include "lowering/layout/targets.h"
#include "runtime/checkpoint/read.h"
#include "runtime/execute/executor.h"
#include "runtime/execute/files/read_ahead.h"
#include "runtime/ranks/communicator.h"
#include "runtime/ranks/interruption.h"

namespace mtf {

// How many steps each entry that trains has taken, by its name.
using StepsTaken = std::map<std::string, std::int64_t>;

// A run of an entry that minimizes something.
struct TrainedStep {
  std::string_view entry;
  std::int64_t number = 0;  // of this entry, from 0, also across a `restore`
  std::vector<std::pair<std::string, double>> losses;
  double seconds = 0;
  double flops = 0;  // of all local ranks
  const Program& program;
  const StepsTaken& before;
};

// metric(name, value)
struct NotedMetric {
  std::string_view entry;  // that trained last; may be empty
  std::int64_t step = 0;
  std::string_view name;
  double value = 0;
  const StepsTaken& before;
};

struct ExecuteOptions {
  OpTable ops;
  bool exact = true;
  bool nan_is_error = false;  // of a loss
  bool check_finite = false;  // everything that is computed
  std::uint64_t seed = 0;
  std::uint64_t max_memory = 0;  // MiB on this machine; 0: nine tenths of what is available
  bool count = false;
  bool check_plan = false;  // in tests: a run that does not do as planned is a bug
  std::function<void(std::string_view)> print;  // lines of the program, on the first rank
  std::function<void()> after_run;              // a unit has run without an error
  std::function<void(HostTensor)> observe;      // each value that the program looked at
  // Each value that a unit has given: of its program, and whole.
  std::function<void(const Unit&, ValueId, HostTensor)> observe_result = {};
  std::function<void(const SpmdProgram&)> lowered = {};  // each program, before its first run
  std::function<void(RankTensor&)> initialised = {};     // each variable, before anything reads it
  std::function<void(RankTensor&)> given = {};           // … and what a unit gives
  std::function<void(const TrainedStep&)> trained = {};  // on the first rank
  std::function<void(const NotedMetric&)> noted = {};    // on the first rank
  std::function<std::int64_t()> compared = {};           // bytes that others keep of these
  Timeline* timeline = nullptr;                          // takes the time of everything that runs
  Interruption* interruption = nullptr;                  // asked before each run
  bool ends_saved = false;       // an interrupted run goes on to where it saves
  std::string checkpoints = {};  // the folder that takes the place of others for them; "": none
  // The variables that the program has by its end, where a check has found them, by path.
  std::optional<std::map<std::string, TensorType>> variables = {};
  bool is_open = false;  // a session: there is no end yet, at which a check would have warned
};

// Whether the environment, as of tests, asks for `check_plan`.
[[nodiscard]] bool plans_are_to_be_checked();

class ExecuteDevice final : public HoldingDevice {
 public:
  // `world`: the ranks that this process was started among; null: the mesh is simulated here.
  ExecuteDevice(ExecuteOptions options, Communicator* world);
  ~ExecuteDevice() override;
  ExecuteDevice(const ExecuteDevice&) = delete;
  ExecuteDevice& operator=(const ExecuteDevice&) = delete;
  ExecuteDevice(ExecuteDevice&&) = delete;
  ExecuteDevice& operator=(ExecuteDevice&&) = delete;

  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override;
  void declare(Variable variable) override;
  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override;
  bool forget(const Unit& unit) override;
  std::optional<double> scalar(const TensorHandle& tensor) override;
  std::optional<HostTensor> value(const TensorHandle& tensor) override;
  std::optional<std::string> text(const TensorHandle& tensor, const NumberFormat& numbers) override;
  void print(std::string_view line) override;
  void metric(std::string_view name, double value, std::optional<std::int64_t> step) override;
  std::string of_first_rank(std::string mine) override;
  bool save(const SaveRequest& request, DiagSink& diags) override;
  bool restore(const RestoreRequest& request, DiagSink& diags) override;
  std::optional<std::string> note_of(const RestoreRequest& request, DiagSink& diags) override;
  void expect_save(bool expected) override { expects_save_ = options_.ends_saved && expected; }
  [[nodiscard]] bool wants_save() const override {
    return expects_save_ && options_.interruption != nullptr && options_.interruption->is_waiting();
  }

  // One per local rank.
  [[nodiscard]] std::span<const RankCounts> counts() const { return counts_; }
  [[nodiscard]] const Mesh& mesh() const { return layout_.mesh; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  // The ranks at hand; null as long as nothing was run on them.
  [[nodiscard]] Communicator* communicator() const { return communicator_; }
  // "step 36 (call 37 of `train_step`)", after a restore "step 36 (call 7 of `train_step`)": the
  // entry that ran last; empty if none has.
  [[nodiscard]] const std::string& last_step() const { return last_step_; }
  // The one that was broken off; empty if none was.
  [[nodiscard]] const std::string& running_step() const { return running_step_; }
  // The one that had run last when a checkpoint was written.
  [[nodiscard]] const std::string& saved_step() const { return saved_step_; }
  // Of programs, so far.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  void begin() override;
  void undo() override;
  bool switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) override;
  HeldState state() override;
  HeldTensor read(const TensorHandle& tensor) override;
  HeldTensor read_variable(const std::string& path) override;
  void take_over(const HeldState& state) override;
  TensorHandle hold(const HeldTensor& tensor) override;
  void hold_variable(const std::string& path, const HeldTensor& tensor) override;
  // Every param and state by its path. Collective.
  [[nodiscard]] std::map<std::string, HostTensor> variables();

 private:
  struct Compiled {
    Compiled(SpmdProgram lowered, std::string named);

    SpmdProgram program;
    std::string what;                   // as errors call it
    std::int64_t beside_variables = 0;  // bytes that a rank needs at the peak
    std::int64_t copies = 0;            // of these, working copies
    std::optional<Executable> executable;
    std::int64_t runs = 0;
    std::size_t timed = 0;             // in the timeline, if there is one
    bool reads_files = false;          // has been seen to, and so was looked into:
    std::unique_ptr<ReadAhead> ahead;  // null: nothing of it can be read ahead

    // Bytes that a rank holds between runs, from the first one on.
    [[nodiscard]] std::int64_t held() const { return runs > 0 ? copies : 0; }
  };
  struct Held final : DeviceTensor {
    Held(RankTensor held, std::int64_t& in_handles);
    ~Held() override;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;

    RankTensor tensor;

   private:
    std::int64_t& in_handles_;  // counted in
  };
  // What is restored, for variables that are still to come.
  struct Restored {
    RestoreRequest request;
    std::shared_ptr<const CheckpointFile> file;
  };
  // What variables were, those that existed; the old value of one that was updated since.
  struct Undo {
    std::vector<Variable> declared;
    HeldLayouts held;
    std::map<std::string, RankTensor> old;
    RandomStream stream;
    StepsTaken steps;
    std::vector<Restored> restored;
  };

  // Lowers and prepares; null after an error.
  std::unique_ptr<Compiled> compile(const Program& program, RunKind kind, const std::string& name,
                                    const HeldLayouts& held, DiagSink& diags,
                                    std::span<const TensorHandle> arguments = {});
  std::unique_ptr<Compiled> prepared(SpmdProgram program, RunKind kind, const std::string& name);
  // Whether what it takes from files has the same types on all ranks. Collective for the programs
  // that do.
  bool is_alike(const Program& program, DiagSink& diags);
  // Beside what else is held. `own`: bytes that the program holds already. Collective.
  bool fits_memory(const SpmdProgram& program, std::string_view what,
                   std::span<const RankTensor* const> inputs, DiagSink& diags,
                   std::int64_t own = 0);
  // Before each run. Collective only where more is held than when it was asked last.
  bool still_fits_memory(const Compiled& compiled, std::span<const RankTensor* const> inputs,
                         DiagSink& diags);
  // Of this machine.
  [[nodiscard]] std::optional<Diag> shortage(const SpmdProgram& program, MemoryNeed need) const;
  // As far as they are there, in their layouts.
  [[nodiscard]] std::vector<const RankTensor*> inputs_of(
      const SpmdProgram& program, std::span<const TensorHandle> arguments) const;
  // Of one rank: variables, working copies, and what there are handles of.
  [[nodiscard]] std::int64_t held_bytes() const;
  // The variables declared since, where they are wanted.
  bool initialise(const HeldLayouts& wanted, DiagSink& diags);
  std::optional<RankTensor> initial_value(const Variable& variable, const HeldLayouts& wanted,
                                          DiagSink& diags);
  // Where the path of a checkpoint is on this device.
  [[nodiscard]] std::string place_of(const std::string& path) const;
  // There, or where it says, if this device has written none.
  [[nodiscard]] std::string saved_place(const std::string& path) const;
  // What the file has, in the layout of the tensor; nullopt after an error.
  std::optional<RankTensor> read_from(const Restored& restored, const std::string& path,
                                      const TensorType& type, const ValueLayout& layout,
                                      DiagSink& diags);
  // Null: the variable begins as it was declared.
  [[nodiscard]] const Restored* restored_for(const std::string& path) const;
  // All that exist or are declared, without programs.
  [[nodiscard]] std::vector<Variable> known_variables() const;
  // Puts states that the file lacks back to what they began as, as if they were declared now.
  bool begin_again(const RestoreRequest& request, const CheckpointFile& file, DiagSink& diags);
  // What was restored and no variable has taken yet, by path: as the variable will have it or,
  // where nobody knows of one, as the file has it; nullopt after an error. Of what the program is
  // known to have no variable for there is nothing.
  std::optional<std::map<std::string, RankTensor>> untaken(DiagSink& diags);
  [[nodiscard]] std::set<std::string> untaken_paths() const;
  std::optional<Restored> opened(const RestoreRequest& request, DiagSink& diags);
  // Of a variable that is about to change.
  void keep_old(const std::string& path);
  // In memory of its own.
  RankTensor copy_of(const RankTensor& tensor);
  std::optional<std::vector<RankTensor>> run_in_layouts(Compiled& compiled, const Unit& unit,
                                                        std::span<const TensorHandle> arguments,
                                                        DiagSink& diags);
  void forget_compiled();
  // Before a program updates variables.
  void keep(const SpmdProgram& program);
  // A tensor moved to another layout, before a program that has it so.
  std::optional<RankTensor> moved(const RankTensor& tensor, const ValueLayout& to, DiagSink& diags);
  std::optional<std::vector<RankTensor>> execute(Compiled& compiled, std::string_view entry,
                                                 std::span<const RankTensor* const> inputs,
                                                 std::span<RankTensor* const> updated,
                                                 DiagSink& diags, ReadAhead* ahead = nullptr);
  // What has got ready, or gets ready, what a run with these inputs reads from files; null:
  // nothing.
  ReadAhead* read_ahead(Compiled& compiled, std::span<const RankTensor* const> inputs,
                        std::span<const TensorHandle> arguments);
  [[nodiscard]] HostTensor whole(const RankTensor& tensor);
  // What a program has done, as it was counted.
  void count(const SpmdProgram& program, std::string_view entry);
  void take_notes(const CheckpointFile& file);
  // The number of the step that a call of an entry would be now.
  [[nodiscard]] std::int64_t next_step(std::string_view entry, const Compiled& compiled) const;
  // An entry that minimizes something has run.
  void count_step(const SpmdProgram& program, double seconds);
  void note_loss(const std::string& name, double value);
  // Does some work between runs, and takes its time if anybody asks.
  template <typename F>
  auto timed(HostWork work, F&& f) {
    const std::int64_t begin = options_.timeline == nullptr ? 0 : nanoseconds_now();
    auto result = f();
    if (options_.timeline != nullptr) {
      options_.timeline->host(work, {.begin = begin, .end = nanoseconds_now()});
    }
    return result;
  }

  ExecuteOptions options_;
  Communicator* communicator_;
  bool first_rank_;
  Layout layout_;
  std::unique_ptr<Communicator> simulated_;
  std::unique_ptr<Executor> executor_;
  std::int64_t in_handles_ = 0;  // bytes of tensors that there are handles of, on one rank
  std::int64_t room_ = 0;  // bytes that these and a run may take unasked, with variables as now
  std::unique_ptr<AheadThread> ahead_;  // null as long as nothing was read ahead
  std::unordered_map<const Unit*, std::unique_ptr<Compiled>> compiled_;
  std::vector<Variable> declared_;  // not initialised yet
  std::map<std::string, RankTensor> variables_;
  HeldLayouts held_;                                         // of the variables
  std::map<std::string, std::unique_ptr<Compiled>> movers_;  // by type and layouts
  std::vector<Restored> restored_;                           // the last one wins
  std::map<std::string, Variable> known_;                    // ever declared
  std::vector<RankCounts> counts_;
  std::string last_step_;
  std::string running_step_;
  std::string saved_step_;
  bool last_trains_ = false;  // then no call that trains nothing is the last step
  StepsTaken steps_;
  std::string trains_;  // the entry that trained last
  // What `metric` in a function says.
  struct Noted {
    std::string name;
    double value = 0;
    std::optional<std::int64_t> step;
  };

  std::vector<std::pair<std::string, double>> losses_;  // of the run in progress
  std::vector<Noted> noted_;                            // likewise
  std::uint64_t runs_ = 0;
  bool expects_save_ = false;  // soon
  std::optional<Undo> undo_;
};

}  // namespace mtf
