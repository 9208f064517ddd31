// One team per process. A round has the members that it has tasks for, and nobody waits for others:
// it begins for each when its own number changes, and ends when none of them is left.

#include "runtime/kernels/thread_team.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mtf {
namespace {

using Task = std::function<void(int)>;

// Products often follow one another so soon that to sleep and to be woken would take longer.
template <typename T>
void wait_while(const std::atomic<T>& value, T old) {
  constexpr int kLooks = 300;
  for (int i = 0; i < kLooks; ++i) {
    if (value.load(std::memory_order_acquire) != old) {
      return;
    }
    __builtin_ia32_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

class Team {
 public:
  Team() = default;
  ~Team() {
    task_ = nullptr;
    begin_round(members_.size());
    for (Member& member : members_) {
      member.thread.join();
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  Team(Team&&) = delete;
  Team& operator=(Team&&) = delete;

  // False if the team is not free.
  bool run(int n, const Task& task) {
    if (!is_here() || busy_.exchange(true, std::memory_order_acquire)) {
      return false;
    }
    const bool complete = recruit(n);
    if (complete) {
      do_round(n, task);
    }
    const std::vector<std::exception_ptr> errors = std::exchange(errors_, {});
    busy_.store(false, std::memory_order_release);
    for (const std::exception_ptr& error : errors) {
      if (error) {
        std::rethrow_exception(error);
      }
    }
    return complete;
  }

  void place(std::vector<int> cores) { cores_ = std::move(cores); }

  // Whether the threads are those of this process: a fork takes none along.
  [[nodiscard]] bool is_here() const { return process_ == getpid(); }

 private:
  static constexpr std::size_t kLine = 64;  // bytes of a line of the caches, of which each has one

  struct alignas(kLine) Member {
    std::atomic<std::uint32_t> round = 0;
    std::thread thread = {};
  };

  // Who calls is member 0, and not in the list. False if the system has no more threads.
  bool recruit(int n) {
    while (static_cast<int>(members_.size()) + 1 < n) {
      const int number = static_cast<int>(members_.size()) + 1;
      Member& member = members_.emplace_back();
      try {
        member.thread = std::thread([this, &member, number] { serve(member, number); });
      } catch (const std::system_error&) {
        members_.pop_back();
        return false;
      }
      pin(member.thread, static_cast<std::size_t>(number));
    }
    return true;
  }

  // A core that is not to be had leaves the thread where the system puts it.
  void pin(std::thread& thread, std::size_t member) const {
    if (member < cores_.size()) {
      cpu_set_t core;
      CPU_ZERO(&core);
      CPU_SET(static_cast<std::size_t>(cores_[member]), &core);
      static_cast<void>(pthread_setaffinity_np(thread.native_handle(), sizeof(core), &core));
    }
  }

  void do_round(int n, const Task& task) {
    task_ = &task;
    errors_.assign(static_cast<std::size_t>(n), nullptr);
    left_.store(n - 1, std::memory_order_relaxed);
    begin_round(static_cast<std::size_t>(n - 1));
    do_task(0);
    for (int left = left_.load(std::memory_order_acquire); left != 0;
         left = left_.load(std::memory_order_acquire)) {
      wait_while(left_, left);
    }
  }

  void begin_round(std::size_t members) {
    for (std::size_t i = 0; i < members; ++i) {
      members_[i].round.fetch_add(1, std::memory_order_release);
      members_[i].round.notify_one();
    }
  }

  void do_task(int member) {
    try {
      (*task_)(member);
    } catch (...) {
      errors_[static_cast<std::size_t>(member)] = std::current_exception();
    }
  }

  void serve(const Member& member, int number) {
    for (std::uint32_t round = 0;; ++round) {
      wait_while(member.round, round);
      if (task_ == nullptr) {
        return;
      }
      do_task(number);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        left_.notify_one();
      }
    }
  }

  const pid_t process_ = getpid();
  std::atomic<bool> busy_ = false;
  std::deque<Member> members_;  // which stay where they are
  std::vector<int> cores_;      // per member
  // Written between rounds only.
  const Task* task_ = nullptr;
  std::vector<std::exception_ptr> errors_;
  std::atomic<int> left_ = 0;
};

// Joined at exit, unless the process is a fork of the one that the threads are in.
struct Holder {
  Holder() : team(std::make_unique<Team>()) {}
  ~Holder() {
    if (!team->is_here()) {
      static_cast<void>(team.release());
    }
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  Holder(Holder&&) = delete;
  Holder& operator=(Holder&&) = delete;

  std::unique_ptr<Team> team;
};

Team& team() {
  static const Holder holder;
  return *holder.team;
}

}  // namespace

void place_team(std::vector<int> cores) {
  team().place(std::move(cores));
}

void run_on_team(int n, const Task& task) {
  if (n > 1 && team().run(n, task)) {
    return;
  }
  for (int i = 0; i < n; ++i) {
    task(i);
  }
}

void run_in_parts(int n, std::int64_t count, const std::function<void(Interval)>& task) {
  const auto parts = static_cast<int>(std::min<std::int64_t>(n, count));
  run_on_team(parts, [&](int i) { task(nth_part(count, i, parts)); });
}

}  // namespace mtf
