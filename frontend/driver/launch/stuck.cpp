#include "frontend/driver/launch/stuck.h"

#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "frontend/driver/launch.h"
#include "runtime/ranks/mpi/processes.h"

namespace mtf {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr int kLooks = 100;      // ten seconds
constexpr int kLooksAtNew = 20;  // two

}  // namespace

StuckWatch::StuckWatch(pid_t mpirun, std::function<void()> came)
    : mpirun_(mpirun), came_(std::move(came)), thread_([this] { watch(); }) {}

StuckWatch::~StuckWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

std::optional<int> StuckWatch::status() {
  const std::scoped_lock lock(mutex_);
  return status_;
}

std::optional<std::int64_t> StuckWatch::first_gone() {
  const std::scoped_lock lock(mutex_);
  return seen_.first_gone();
}

void StuckWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, kBetween, [this] { return is_over_; }) && !status_) {
    look();
  }
}

void StuckWatch::look() {
  int status = kDone;
  bool is_any_alive = false;
  const std::vector<pid_t> children = children_of(mpirun_);
  for (const pid_t child : children) {
    const char state = state_of(child);
    is_any_alive = is_any_alive || (state != 'Z' && state != 'X');
    status = status == kDone ? exit_code_of(wait_status_of(child)) : status;
  }
  has_begun_ = has_begun_ || !children.empty();
  seen_.look(children);
  if (is_any_alive && seen_.looks_without_new() < kLooksAtNew) {
    came_();
  }
  const bool is_at_work = state_of(mpirun_) != 'S';  // or stopped, or waits for a core
  looks_ = is_any_alive || !has_begun_ || is_at_work ? 0 : looks_ + 1;
  if (looks_ == kLooks) {
    // Of ranks whose status mpirun has, and nobody else, it is not known that they did well.
    status_ = children.empty() ? kProgramError : status;
    kill(mpirun_, SIGKILL);
  }
}

}  // namespace mtf
