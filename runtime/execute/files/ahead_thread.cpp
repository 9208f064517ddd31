#include "runtime/execute/files/ahead_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/ranks/communicator_group.h"

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

  // Only of a rank alone, as a slice of what it has is cut.
  [[nodiscard]] const Group& group(const Mesh& mesh, const Axes& axes) override {
    if (!axes.empty()) {
      refuse();
    }
    return groups_.find(mesh, axes, local_, [](Group& /*group*/) {});
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
  [[nodiscard]] std::size_t start(const Group& /*group*/, Combination /*how*/,
                                  std::int64_t /*count*/, Outs /*data*/) override {
    refuse();
  }
  [[nodiscard]] FinishedReduce finish(std::size_t /*number*/) override { refuse(); }
  void progress() override {}

 private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("a program that is run ahead talks to other ranks");
  }

  std::int64_t ranks_;
  std::vector<std::int64_t> local_;
  GroupTable groups_;
};

}  // namespace

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

}  // namespace mtf
