// The thread that reads ahead: it runs what it is given, one after the other, with one thread for
// each rank, and does not talk to other processes.

#pragma once

#include <functional>
#include <memory>

#include "runtime/execute/executor.h"

namespace mtf {

class AheadThread {
 public:
  AheadThread(const Communicator& ranks, const ExecutorOptions& options);
  ~AheadThread();
  AheadThread(const AheadThread&) = delete;
  AheadThread& operator=(const AheadThread&) = delete;
  AheadThread(AheadThread&&) = delete;
  AheadThread& operator=(AheadThread&&) = delete;

  [[nodiscard]] Executor& executor();
  void post(std::function<void()> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mtf
