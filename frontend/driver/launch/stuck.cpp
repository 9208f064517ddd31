#include "frontend/driver/launch/stuck.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/driver/launch.h"
#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr int kLooks = 100;  // ten seconds

// Of one process, as /proc has it.
struct Child {
  bool is_alive = true;
  int wait_status = 0;  // of one that has ended
};

Child child_of(const std::string& id) {
  std::string line;
  std::getline(std::ifstream("/proc/" + id + "/stat"), line);
  const std::size_t name = line.rfind(')');
  if (name == std::string::npos) {
    return {.is_alive = false};  // it went meanwhile
  }
  std::istringstream fields(line.substr(name + 1));
  std::string state;
  fields >> state;
  const std::string last = line.substr(line.find_last_of(' ') + 1);
  return {.is_alive = state != "Z" && state != "X",
          .wait_status = parse_number<int>(last).value_or(0)};
}

std::vector<Child> children_of(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<Child> children;
  for (std::string child; file >> child;) {
    children.push_back(child_of(child));
  }
  return children;
}

}  // namespace

StuckWatch::StuckWatch(pid_t mpirun) : mpirun_(mpirun), thread_([this] { watch(); }) {}

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

void StuckWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, kBetween, [this] { return is_over_; }) && !status_) {
    look();
  }
}

void StuckWatch::look() {
  int status = kDone;
  bool is_any_alive = false;
  const std::vector<Child> children = children_of(mpirun_);
  for (const Child& child : children) {
    is_any_alive = is_any_alive || child.is_alive;
    status = status == kDone ? exit_code_of(child.wait_status) : status;
  }
  has_begun_ = has_begun_ || !children.empty();
  looks_ = is_any_alive || !has_begun_ ? 0 : looks_ + 1;
  if (looks_ == kLooks) {
    // Of ranks whose status mpirun has, and nobody else, it is not known that they did well.
    status_ = children.empty() ? kProgramError : status;
    kill(mpirun_, SIGKILL);
  }
}

}  // namespace mtf
