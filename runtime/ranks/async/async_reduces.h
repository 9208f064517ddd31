// Asynchronous all-reduces. Each goes on, round by round, whenever somebody calls `progress`: the
// rank between two steps, while it waits for one of them or for other messages, or a thread of
// their own.
//
// They go in the order in which all ranks start them. The oldest is always under way, and the
// next ones as long as what they receive fits into little memory: so ranks never wait for each
// other in a circle, whoever is how far.

#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/ranks/async/reduce_rounds.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

class AsyncReduces {
 public:
  // `own_thread`: one has them go on, too. Then whatever a wire uses is used with the lock held.
  explicit AsyncReduces(bool own_thread) : own_thread_(own_thread) {}
  // As if it had been said so. requires: none was started.
  void use_thread() { own_thread_ = true; }
  ~AsyncReduces() { stop(); }
  AsyncReduces(const AsyncReduces&) = delete;
  AsyncReduces& operator=(const AsyncReduces&) = delete;
  AsyncReduces(AsyncReduces&&) = delete;
  AsyncReduces& operator=(AsyncReduces&&) = delete;

  // All that follows is called by one thread; but for `hold` and `stop`, with the lock held.
  [[nodiscard]] std::unique_lock<std::mutex> hold();
  [[nodiscard]] std::size_t start(ReduceRounds rounds, std::unique_ptr<Wire> wire);
  [[nodiscard]] bool is_done(std::size_t number) const { return pending_.at(number).is_done; }
  // Whom it waits for, as far as it has come.
  [[nodiscard]] std::vector<std::int64_t> missing(std::size_t number) const;
  // Once for each. requires: is_done(number)
  [[nodiscard]] FinishedReduce finish(std::size_t number);
  void progress();  // of all of them, without waiting
  void stop();      // the thread, for good

 private:
  struct Pending {
    ReduceRounds rounds;
    std::unique_ptr<Wire> wire;
    std::vector<std::byte> scratch = {};
    bool has_started = false;
    bool is_done = false;
    std::int64_t started = 0;  // when
    std::int64_t done = 0;
  };

  bool progress(Pending& reduce);
  [[nodiscard]] std::vector<std::byte> scratch_of(std::int64_t bytes);
  void start_next();
  void run_thread();

  std::map<std::size_t, Pending> pending_;      // in their order
  std::size_t next_ = 0;                        // number
  std::int64_t scratch_ = 0;                    // bytes of those under way
  std::vector<std::vector<std::byte>> unused_;  // what was scratch memory
  std::mutex mutex_;
  bool own_thread_;
  std::thread thread_;
  std::condition_variable something_to_do_;
  std::atomic<bool> is_wanted_ = false;  // the lock, by others than the thread
  bool ends_ = false;
};

}  // namespace mtf
