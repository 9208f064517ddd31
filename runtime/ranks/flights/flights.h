// All-reduces that are on their way together. Each is led on, round by round, whenever somebody
// looks in: the rank between two steps, while it waits for one of them or for other messages, or a
// thread of their own.
//
// They begin in the order in which all ranks begin them. The oldest is always under way, and the
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

#include "runtime/ranks/communicator.h"
#include "runtime/ranks/flights/reduce_rounds.h"

namespace mtf {

class Flights {
 public:
  // `own_thread`: one leads them on, too. Then whatever a wire uses is used with the lock held.
  explicit Flights(bool own_thread) : own_thread_(own_thread) {}
  // As if it had been said so. requires: none was begun.
  void use_thread() { own_thread_ = true; }
  ~Flights() { stop(); }
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;
  Flights(Flights&&) = delete;
  Flights& operator=(Flights&&) = delete;

  // All that follows is called by one thread; but for `hold` and `stop`, with the lock held.
  [[nodiscard]] std::unique_lock<std::mutex> hold();
  [[nodiscard]] std::size_t begin(ReduceRounds rounds, std::unique_ptr<Wire> wire);
  [[nodiscard]] bool is_done(std::size_t number) const { return flights_.at(number).is_done; }
  // Whom it waits for, as far as it has begun.
  [[nodiscard]] std::vector<std::int64_t> missing(std::size_t number) const;
  // Once for each. Waits for it.
  [[nodiscard]] Landed land(std::size_t number);
  void lead_on();  // all of them, as far as it goes without waiting
  [[nodiscard]] bool has_any() const { return !flights_.empty(); }
  void stop();  // the thread, for good

 private:
  struct Going {
    ReduceRounds rounds;
    std::unique_ptr<Wire> wire;
    std::vector<std::byte> scratch = {};
    bool has_begun = false;
    bool is_done = false;
    std::int64_t begun = 0;  // when
    std::int64_t done = 0;
  };

  bool lead_on(Going& flight);
  [[nodiscard]] std::vector<std::byte> scratch_of(std::int64_t bytes);
  void begin_next();
  void run_thread();

  std::map<std::size_t, Going> flights_;        // in their order
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
