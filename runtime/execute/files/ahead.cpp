#include "runtime/execute/files/ahead.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "ir/loops/loop.h"

namespace mtf {
namespace {

// The ranks of this process, which hear of no others.
class AloneHere final : public Communicator {
 public:
  explicit AloneHere(const Communicator& all)
      : Communicator(all.local_ranks().size()),
        ranks_(all.ranks()),
        local_(all.local_ranks().begin(), all.local_ranks().end()) {}

  [[nodiscard]] std::int64_t ranks() const override { return ranks_; }
  [[nodiscard]] std::span<const std::int64_t> local_ranks() const override { return local_; }
  [[nodiscard]] bool any(bool flag) override { return flag; }
  [[nodiscard]] std::vector<std::string> share(std::span<const std::string> local) override {
    return {local.begin(), local.end()};
  }
  void barrier() override {}
  void close(int /*status*/, std::string_view /*message*/) override {}

  [[nodiscard]] const Group& group(const Mesh& /*mesh*/, const Axes& /*axes*/) override {
    refuse();
  }
  void all_reduce(const Group& /*group*/, Combination /*how*/, std::int64_t /*count*/, Ins /*in*/,
                  Outs /*out*/) override {
    refuse();
  }
  void reduce_scatter(const Group& /*group*/, Combination /*how*/, std::int64_t /*count*/,
                      Ins /*in*/, Outs /*out*/) override {
    refuse();
  }
  void all_gather(const Group& /*group*/, std::int64_t /*bytes*/, Ins /*in*/,
                  Outs /*out*/) override {
    refuse();
  }
  void all_to_all(const Group& /*group*/, std::int64_t /*bytes*/, Ins /*in*/,
                  Outs /*out*/) override {
    refuse();
  }
  void permute(const Group& /*group*/, std::int64_t /*bytes*/,
               std::span<const std::vector<std::int64_t>> /*sources*/, Ins /*in*/,
               Outs /*out*/) override {
    refuse();
  }
  void broadcast(const Group& /*group*/, std::int64_t /*bytes*/,
                 std::span<const std::int64_t> /*holders*/, Ins /*in*/, Outs /*out*/) override {
    refuse();
  }
  void reduce(const Group& /*group*/, Combination /*how*/, std::int64_t /*count*/,
              std::span<const std::int64_t> /*holders*/, Ins /*in*/, Outs /*out*/) override {
    refuse();
  }
  void post(const Group& /*group*/, std::span<const Mail> /*mail*/) override { refuse(); }
  void await() override { refuse(); }
  [[nodiscard]] std::size_t begin(const Group& /*group*/, Combination /*how*/,
                                  std::int64_t /*count*/, Outs /*data*/) override {
    refuse();
  }
  [[nodiscard]] Landed land(std::size_t /*number*/) override { refuse(); }
  void lead_on() override {}

 private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("a program that is run ahead talks to other ranks");
  }

  std::int64_t ranks_;
  std::vector<std::int64_t> local_;
};

bool is_counter(const SpmdValue& value) {
  return value.type.shape.rank() == 0 && value.layout->where.empty() &&
         (value.type.dtype == DType::kI32 || value.type.dtype == DType::kI64);
}

bool only_computes(const LocalCall& call) {
  const OpDef& op = *call.call.op;
  return !is_of_loop(op) && op.primitive != Primitive::kCheckFinite && !op.effect && !op.random &&
         op.file == FileUse::kNone;
}

std::int64_t counter_in(const RankTensor& tensor) {
  const std::byte* data = tensor.parts.front().data();
  std::int32_t narrow = 0;
  std::int64_t wide = 0;
  std::memcpy(&narrow, data, sizeof(narrow));
  if (tensor.type.dtype == DType::kI64) {
    std::memcpy(&wide, data, sizeof(wide));
  }
  return tensor.type.dtype == DType::kI64 ? wide : narrow;
}

void set_number(const RankTensor& tensor, std::int64_t number) {
  const auto narrow = static_cast<std::int32_t>(number);  // wraps, as a tensor does
  for (const Buffer& part : tensor.parts) {
    if (tensor.type.dtype == DType::kI64) {
      std::memcpy(part.data(), &number, sizeof(number));
    } else {
      std::memcpy(part.data(), &narrow, sizeof(narrow));
    }
  }
}

}  // namespace

// ---- the thread ------------------------------------------------------------------------------

struct AheadThread::State {
  State(const Communicator& ranks, const ExecutorOptions& options)
      : communicator(std::make_unique<AloneHere>(ranks)),
        executor(*communicator, options),
        thread([this] { work_off(); }) {}

  void work_off() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ends || !works.empty(); });
      if (works.empty()) {
        return;
      }
      const std::function<void()> work = std::move(works.front());
      works.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::unique_ptr<Communicator> communicator;
  Executor executor;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  bool ends = false;
  std::thread thread;  // the last one: it begins at once
};

AheadThread::AheadThread(const Communicator& ranks, const ExecutorOptions& options)
    : state_(std::make_unique<State>(
          ranks, ExecutorOptions{.exact = options.exact, .seed = options.seed, .threads = 1})) {}

AheadThread::~AheadThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_one();
  state_->thread.join();
}

Executor& AheadThread::executor() {
  return state_->executor;
}

void AheadThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->works.push_back(std::move(work));
  }
  state_->changed.notify_one();
}

// ---- a program -------------------------------------------------------------------------------

bool AheadProgram::is_one(const SpmdProgram& program) {
  bool has_counter = false;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const bool counts = is_counter(program.at(program.inputs[i]));
    has_counter = has_counter || counts;
    if (program.source.inputs[i].is_variable() && !counts) {
      return false;  // what it is next is not known
    }
  }
  return has_counter && program.updates.empty() &&
         std::ranges::all_of(program.steps, [](const Step& step) {
           return step.kind == StepKind::kKernel && std::ranges::all_of(step.calls, only_computes);
         });
}

AheadProgram::AheadProgram(AheadThread& thread, const SpmdProgram& program)
    : thread_(thread), program_(program) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (is_counter(program.at(program.inputs[i]))) {
      counters_.push_back({.input = i});
    }
  }
}

AheadProgram::~AheadProgram() {
  if (answer_.valid()) {
    answer_.wait();
  }
}

void AheadProgram::guess(Counter& counter, const RankTensor& now) {
  const std::int64_t number = counter_in(now);
  const auto bits = static_cast<std::uint64_t>(number);  // wraps, as tensors do
  const std::uint64_t step = counter.last ? bits - static_cast<std::uint64_t>(*counter.last) : 1;
  const auto next = static_cast<std::int64_t>(bits + step);
  counter.last = number;
  if (counter.guess.parts.empty()) {
    counter.guess = {.type = now.type, .layout = now.layout, .local = now.local, .parts = {}};
    for (const Buffer& part : now.parts) {
      counter.guess.parts.push_back(thread_.executor().pool().take(part.bytes()));
    }
  }
  set_number(counter.guess, next);
}

void AheadProgram::begin(std::span<const RankTensor* const> inputs, Owners owners) {
  assert(!answer_.valid());
  inputs_.assign(inputs.begin(), inputs.end());
  for (Counter& counter : counters_) {
    guess(counter, *inputs[counter.input]);
    inputs_[counter.input] = &counter.guess;
  }
  owners_ = std::move(owners);
  const auto task =
      std::make_shared<std::packaged_task<std::optional<AheadAnswer>()>>([this] { return run(); });
  answer_ = task->get_future();
  thread_.post([task] { (*task)(); });
}

// Whatever goes wrong, or is to be said, is left to the run that is asked for.
std::optional<AheadAnswer> AheadProgram::run() {
  const std::int64_t begin = nanoseconds_now();
  Executor& executor = thread_.executor();
  if (!executable_) {
    executable_ = executor.prepare(program_);
  }
  DiagSink diags;
  std::optional<std::vector<RankTensor>> outputs = executor.run(*executable_, inputs_, {}, diags);
  if (!outputs || !diags.diags().empty()) {
    return std::nullopt;
  }
  const std::span<const Counted> counted = executor.counted();
  return AheadAnswer{.outputs = *std::move(outputs),
                     .counted = {counted.begin(), counted.end()},
                     .work = {.begin = begin, .end = nanoseconds_now()}};
}

bool AheadProgram::is_asked_for(std::span<const RankTensor* const> inputs) const {
  std::vector<const RankTensor*> asked(inputs.begin(), inputs.end());
  for (const Counter& counter : counters_) {
    if (counter_in(counter.guess) != counter_in(*asked[counter.input])) {
      return false;
    }
    asked[counter.input] = &counter.guess;
  }
  return asked == inputs_;
}

std::optional<AheadAnswer> AheadProgram::take(std::span<const RankTensor* const> inputs) {
  if (!answer_.valid()) {
    return std::nullopt;
  }
  std::optional<AheadAnswer> answer;
  try {
    answer = answer_.get();
  } catch (const std::bad_alloc&) {
    answer.reset();  // the run that is asked for needs less
  }
  const bool is_it = answer && is_asked_for(inputs);
  owners_.clear();
  return is_it ? std::move(answer) : std::nullopt;
}

}  // namespace mtf
